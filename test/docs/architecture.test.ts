import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { architecturePicture, partImports } from "../../cli/generate/pictures.js";
import { readPage } from "./pages.js";

type Imports = ReadonlyMap<string, ReadonlySet<string>>;

/** The arrows of a block of Mermaid. */
const drawn = (picture: string): Imports => {
  const arrows = [...picture.matchAll(/\["([^"]+)"\] --> \w+\["([^"]+)"\]/g)];
  const from = Map.groupBy(arrows, ([, name = ""]) => name);
  return new Map([...from].map(([name, all]) => [name, new Set(all.map(([, , to = ""]) => to))]));
};

/** All that is reached from a part, itself left out. */
const reached = (imports: Imports, from: string): readonly string[] => {
  const seen = new Set<string>();
  const visit = (part: string): void => {
    for (const next of imports.get(part) ?? [])
      if (!seen.has(next)) {
        seen.add(next);
        visit(next);
      }
  };
  visit(from);
  return [...seen].filter((part) => part !== from).toSorted();
};

const part = fc.constantFrom("a", "b", "c", "d/e", "f");
const anyImports = fc
  .array(fc.tuple(part, part), { maxLength: 20 })
  .map((pairs) => pairs.filter(([from, to]) => from !== to))
  .map((pairs) => {
    const from = Map.groupBy(pairs, ([name]) => name);
    return new Map([...from].map(([name, all]) => [name, new Set(all.map(([, to]) => to))]));
  });

test("the picture leaves out what follows from others, and nothing else", () => {
  fc.assert(
    fc.property(anyImports, (imports) => {
      const picture = drawn(architecturePicture(imports));
      for (const from of imports.keys())
        expect(reached(picture, from)).toEqual(reached(imports, from));
      for (const [from, targets] of picture)
        for (const to of targets) {
          const without = new Map(picture).set(from, new Set([...targets].filter((t) => t !== to)));
          expect(reached(without, from)).not.toContain(to);
        }
    }),
    { seed: 13, numRuns: 300 },
  );
});

test("the picture of the page is that of the sources, with every part that the page names", () => {
  const root = join(__dirname, "..", "..");
  const imports = partImports(root);
  const page = readPage("docs/architecture.md");
  expect(page).toContain(architecturePicture(imports));
  expect(drawn(page).get("provider/lifecycle")).toContain("provider/service");
  expect(drawn(page).get("examples")).toContain("sdk");
  const prose = page.replace(architecturePicture(imports), "");
  const untold = [...imports.keys()].filter((name) => !prose.includes(name));
  expect(untold).toEqual([]);
});
