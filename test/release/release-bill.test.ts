import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { releaseBill } from "../../cli/release-bill.js";

let folder = "";

interface MadeManifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly [name: string]: unknown;
}

/** A package with a manifest and nothing else. */
const made = (name: string, manifest: MadeManifest = {}): string => {
  const place = join(folder, name);
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, "package.json"),
    JSON.stringify({ name, version: "1.2.3", ...manifest }),
  );
  return place;
};

/** The same, packed: what a dependency is without a registry. */
const archived = (name: string, manifest?: MadeManifest): string => {
  const pack = ["pack", "--json", "--pack-destination", folder];
  execFileSync("npm", pack, { cwd: made(name, manifest), stdio: "pipe" });
  return `file:${join(folder, `${name}-1.2.3.tgz`)}`;
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "conversation-bill-"));
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("the bill lists what the packed package installs, at every depth, and nothing else", async () => {
  const below = archived("below");
  const direct = archived("direct", { dependencies: { below } });
  const root = made("released", {
    dependencies: { direct },
    devDependencies: { tool: archived("tool") },
    peerDependencies: { host: archived("host") },
  });
  const { file, text, problems } = await releaseBill(root);
  expect(problems).toEqual([]);
  expect(file).toBe("released-1.2.3.cdx.json");
  const { metadata, components, dependencies } = JSON.parse(text);
  expect(metadata.component).toMatchObject({ name: "released", type: "library" });
  expect(components.map(({ name }: { name: string }) => name).sort()).toEqual(["below", "direct"]);
  expect(dependencies).toContainEqual({ ref: "direct@1.2.3", dependsOn: ["below@1.2.3"] });
});

test("a package that no installation gets, or that the bill does not know, stops the release", async () => {
  // npm takes a bundled package from the archive, whatever the manifest says of it.
  const inner = archived("inner");
  const root = made("bundling", { dependencies: { inner }, bundleDependencies: ["inner"] });
  const place = join(root, "node_modules", "inner");
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, "package.json"),
    JSON.stringify({ name: "inner", version: "1.0.0-patched" }),
  );
  const { problems } = await releaseBill(root);
  expect(problems).toEqual([
    "the bill of materials lacks inner@1.0.0-patched, which the package installs",
    "the bill of materials lists inner@1.2.3, which the package does not install",
  ]);
});
