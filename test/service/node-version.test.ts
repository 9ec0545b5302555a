import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { assertNode, leastNode } from "../../provider/kernel/node-version.js";

test("the least version is the one that package.json asks for", () => {
  const file = join(__dirname, "..", "..", "package.json");
  expect(JSON.parse(readFileSync(file, "utf8")).engines).toEqual({ node: `>=${leastNode}` });
});

test.each(["20.20.2", "22.18.9", "9.99.0"])("Node %s is refused", (version) => {
  expect(() => assertNode(version)).toThrow(
    expect.objectContaining({
      code: "SETTINGS_INVALID",
      message: `pulumi-conversation needs Node.js 22.19 or later; this program runs on Node.js ${version}. Install a newer version of Node.js (https://nodejs.org), then try again.`,
    }),
  );
});

test.each(["22.19.0", "23.0.0", "25.0.0-nightly"])("Node %s will do", (version) => {
  expect(assertNode(version)).toBeUndefined();
});

test("the check loads nothing that an old Node lacks", () => {
  const imports = (file: string): string[] => {
    const text = readFileSync(join(__dirname, "..", "..", "provider", "kernel", file), "utf8");
    return [...text.matchAll(/from "(.*?)"/g)].map(([, from = ""]) => from);
  };
  expect(imports("node-version.ts")).toEqual(["./errors.js"]);
  expect(imports("errors.ts")).toEqual(["./text.js"]);
  expect(imports("text.ts")).toEqual([]);
});
