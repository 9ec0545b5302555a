import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { z } from "zod";

const root = join(__dirname, "..", "..");
const read = (...path: string[]): string => readFileSync(join(root, ...path), "utf8");

const page = read("SECURITY.md").replaceAll(/\s+/g, " ");
const names = z.record(z.string(), z.string());
const { packages } = z
  .object({
    packages: z.record(
      z.string(),
      z.object({
        integrity: z.string().optional(),
        dev: z.boolean().optional(),
        hasInstallScript: z.boolean().optional(),
        dependencies: names.optional(),
      }),
    ),
  })
  .parse(JSON.parse(read("package-lock.json")));
const { dependencies } = z.object({ dependencies: names }).parse(JSON.parse(read("package.json")));

const numbers = "No One Two Three Four Five Six Seven Eight Nine Ten".split(" ");
const nameOf = (path: string): string => path.split("node_modules/").at(-1) ?? "";

/** Every package that an installation for users holds, beside the peers. */
const runtime = (): ReadonlySet<string> => {
  const found = new Set<string>();
  const visit = (name: string): void => {
    if (found.has(name)) return;
    found.add(name);
    for (const below of Object.keys(packages[`node_modules/${name}`]?.dependencies ?? {}))
      visit(below);
  };
  for (const name of Object.keys(dependencies)) visit(name);
  return found;
};

test("the page counts the runtime dependencies, and those below them, as the lock file does", () => {
  const direct = Object.keys(dependencies).length;
  const below = runtime().size - direct;
  expect(page).toContain(
    `The ${numbers[direct]?.toLowerCase()} runtime dependencies, and the ${numbers[below]?.toLowerCase()} package${below === 1 ? "" : "s"} that they depend on`,
  );
});

test("it names every package that runs an install script, all of them for development", () => {
  const scripts = Object.entries(packages).filter(([, { hasInstallScript }]) => hasInstallScript);
  expect(page).toContain(`${numbers[scripts.length]} packages run an install script`);
  for (const [path, { dev }] of scripts) {
    expect(page).toContain(`\`${nameOf(path)}\``);
    expect(dev).toBe(true);
  }
});

test("it says which packages the lock file does not pin by a hash", () => {
  const open = Object.entries(packages).filter(([path, { integrity }]) => path && !integrity);
  expect(open.map(([path]) => nameOf(path)).every((name) => name.startsWith("@biomejs/cli-"))).toBe(
    true,
  );
  expect(page).toContain(`except for ${open.length} of Biome's builds for other platforms`);
});
