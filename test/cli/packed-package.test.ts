import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { projectFiles } from "../../cli/export/program-files.js";
import { packedPackage } from "../../cli/packed-package.js";
import { packageVersion } from "../../provider/kernel/package.js";
import { hubSettings } from "../rehearse/hub-environment.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const checkoutIn = (name: string): string => {
  const root = join(temporaryFolder(), name);
  mkdirSync(root);
  writeFileSync(join(root, "package-lock.json"), "{}");
  return root;
};

test("a checkout is packed into the project; what npm installed is requested from the registry", () => {
  expect(packedPackage()).toMatchObject({ dependency: expect.stringMatching(/^file:.*\.tgz$/) });
  expect(packedPackage(join(checkoutIn("a"), "none"))).toBeUndefined();
});

/** A package that npm installed into a project, which depends on it like this. */
const installedIn = (dependency: string): string => {
  const project = temporaryFolder();
  const dependencies = { "pulumi-conversation": dependency };
  writeFileSync(join(project, "package.json"), JSON.stringify({ dependencies }));
  writeFileSync(join(project, "p.tgz"), "");
  const root = join(project, "node_modules", "pulumi-conversation");
  mkdirSync(root, { recursive: true });
  return root;
};

test("a project that depends on a package file hands that file on", () => {
  const root = installedIn("file:p.tgz");
  const { pack, dependency } = packedPackage(root) ?? {};
  expect(pack?.[1]).toBe(join(root, "..", "..", "p.tgz"));
  expect(dependency).toBe(packedPackage()?.dependency);
  for (const other of ["^0.1.0", "file:gone.tgz", "file:../checkout"])
    expect(packedPackage(installedIn(other))).toBeUndefined();
});

test.each(["plain", "with space", "it's $HOME", 'a"b`c', "ü &; rm"])(
  "the command for a checkout in %j can be pasted as it is",
  (name) => {
    const root = checkoutIn(name);
    const packed = packedPackage(root);
    const words = execFileSync("sh", ["-c", `npm() { printf '%s\\n' "$@"; }; ${packed?.command}`]);
    expect(words.toString().trim().split("\n")).toEqual(packed?.pack);
  },
);

test.each([
  ["a checkout", { dependency: "file:x.tgz" }, "file:x.tgz"],
  ["the registry", undefined, `^${packageVersion()}`],
])("an exported project has the package from where it comes: %s", (_, packed, wanted) => {
  const names = { project: "shop", stack: "prod" };
  const files = projectFiles(names, hubSettings(), undefined, () => packed);
  const { dependencies } = JSON.parse(files.get("package.json") ?? "{}");
  expect(dependencies["pulumi-conversation"]).toBe(wanted);
});
