import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";
import { readPage } from "./pages.js";

const entry = z.object({
  integrity: z.string().optional(),
  /** A folder of this repository. */
  link: z.boolean().optional(),
  dev: z.boolean().optional(),
  hasInstallScript: z.boolean().optional(),
});
const { packages } = z
  .object({ packages: z.record(z.string(), entry) })
  .parse(JSON.parse(readFileSync(join(__dirname, "../../package-lock.json"), "utf8")));

const nameOf = (path: string): string => path.split("node_modules/").at(-1) ?? "";

test("the page names every package that runs an install script, all of them for development", () => {
  const scripts = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(scripts.length).toBeGreaterThan(0);
  for (const [path, { dev }] of scripts) {
    expect(readPage("SECURITY.md")).toContain(`\`${nameOf(path)}\``);
    expect(dev).toBe(true);
  }
});

test("the lock file pins every package by its hash, except for builds of Biome", () => {
  const open = Object.entries(packages).filter(
    ([path, { integrity, link }]) => path.includes("node_modules/") && !integrity && !link,
  );
  const others = open.map(([path]) => nameOf(path)).filter((name) => !name.startsWith("@biomejs/"));
  expect(others).toEqual([]);
});
