import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import {
  type LinkingFiles,
  namedRepository,
  repositoryAddress,
  withRepository,
} from "../../cli/release-files.js";

const read = (path: string): string => readFileSync(join(__dirname, "..", "..", path), "utf8");

const own: LinkingFiles = {
  "package.json": read("package.json"),
  "README.md": read("README.md"),
  "SECURITY.md": read("SECURITY.md"),
  "CHANGELOG.md": read("CHANGELOG.md"),
};
const address = "https://git.example.com/acme/conversation";

test.each([
  "https://git.example.com/acme/conversation",
  "https://git.example.com/acme/conversation/",
  "https://git.example.com/acme/conversation.git",
  "git+https://git.example.com/acme/conversation.git",
])("%s is the address of a repository", (text) => {
  expect(repositoryAddress(text)).toBe(address);
});

test.each(["", "acme/conversation", "http://git.example.com/a/b", "https://git.example.com/a"])(
  "%j is none",
  (text) => {
    expect(() => repositoryAddress(text)).toThrow("https://host/owner/name");
  },
);

test("one address fills the fields of the package and every link", () => {
  const files = withRepository(own, address);
  expect(JSON.parse(files["package.json"])).toMatchObject({
    homepage: `${address}#readme`,
    repository: { type: "git", url: `git+${address}.git` },
    bugs: { url: `${address}/issues` },
  });
  expect(files["README.md"]).toContain(`git clone ${address} && cd`);
  expect(files["SECURITY.md"]).toContain(`[security advisories](${address}/security/`);
  expect(files["CHANGELOG.md"]).toContain(`[Unreleased]: ${address}/compare/v`);
  expect(files["CHANGELOG.md"]).toContain(`[0.1.0]: ${address}/releases/tag/v0.1.0\n`);
});

test("everything else stays, and the address can be written again or changed", () => {
  const files = withRepository(own, address);
  const { homepage, repository, bugs, ...rest } = JSON.parse(files["package.json"]);
  expect(JSON.parse(own["package.json"])).toMatchObject(rest);
  expect(namedRepository(files["package.json"])).toBe(address);
  expect(withRepository(files, address)).toEqual(files);
  const moved = withRepository(files, "https://code.example.org/acme/hub");
  expect(JSON.stringify(moved)).not.toContain(address);
  expect(withRepository(moved, address)).toEqual(files);
});
