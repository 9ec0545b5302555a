import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { entryPoints } from "../../cli/generate/api-reference.js";
import { readPage } from "./pages.js";

const manifest = JSON.parse(readFileSync(join(__dirname, "../../package.json"), "utf8"));

test("every entry point has a page, but for the one that only states refer to", () => {
  const names = Object.keys(manifest.exports).map((path) => path.slice(2) || "index");
  expect(["package.json", "provider/v1", ...Object.keys(entryPoints)].sort()).toEqual(names.sort());
});

test("no page has an address of this machine or a name of a file of the sources", () => {
  for (const name of Object.keys(entryPoints))
    expect(readPage(`docs/api/${name}.md`)).not.toMatch(
      /\/(?:home|tmp|root)\/|node_modules|\.ts:\d/,
    );
});
