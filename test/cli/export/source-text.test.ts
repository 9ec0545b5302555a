import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  declarationText,
  jsonExpression,
  type Member,
  quotedText,
} from "../../../cli/export/source-text.js";
import { isObject } from "../../../provider/kernel/json.js";
import { temporaryFolder } from "../temporary-folder.js";

const key = fc.oneof(
  fc.stringMatching(/^[a-zA-Z][a-zA-Z0-9]{0,12}$/),
  fc.constantFrom("X-Key", "a.b", "with space", "class", "x_1"),
);

const value = fc.letrec((tie) => ({
  any: fc.oneof(
    { maxDepth: 4 },
    fc.string({ unit: fc.constantFrom(..."abc DEF\"'\\`${}äß\n\t"), maxLength: 90 }),
    fc.integer(),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("any"), { maxLength: 5 }),
    fc.array(fc.integer(), { maxLength: 40 }),
    fc.dictionary(key, tie("any"), { maxKeys: 5, noNullPrototype: true }),
  ),
})).any;

const membersOf = (object: object): readonly Member[] =>
  Object.entries(object).map(([name, of]) => [name, jsonExpression(of)]);

test("a formatter leaves what is written as it is", () => {
  const samples = fc.sample(fc.dictionary(key, value, { maxKeys: 6, noNullPrototype: true }), {
    numRuns: 150,
    seed: 11,
  });
  const source = samples.map((sample, place) =>
    declarationText(
      `export const v${place} = new Thing`,
      [quotedText(`thing-${place}`)],
      membersOf(sample),
    ),
  );
  const folder = temporaryFolder();
  mkdirSync(join(folder, "x"));
  const file = join(folder, "x", "index.ts");
  writeFileSync(file, `${source.join("\n\n")}\n`);
  const formatter = { indentStyle: "space", lineWidth: 80 };
  writeFileSync(join(folder, "x", "biome.json"), JSON.stringify({ root: true, formatter }));
  const biome = join(process.cwd(), "node_modules", "@biomejs", "biome", "bin", "biome");
  execFileSync(process.execPath, [biome, "format", "--write", "index.ts"], {
    cwd: join(folder, "x"),
    stdio: "pipe",
  });
  expect(readFileSync(file, "utf8")).toBe(`${source.join("\n\n")}\n`);
});

test("what is written means what was given", () => {
  fc.assert(
    fc.property(value, (given) => {
      if (!isObject(given)) return;
      const text = declarationText("return ", ['"x"'], membersOf(given)).replace(
        'return ("x", ',
        "return (",
      );
      const back: unknown = new Function(text.replace(/^return \(\s*"x",/, "return ("))();
      expect(back).toEqual(given);
    }),
    { numRuns: 200 },
  );
});

test("what cannot be seen is written as an escape", () => {
  const text = 'a\u202eb\u200b"\u2028\u0007\ud800';
  const quoted = quotedText(text);
  expect(quoted).toMatch(/^[\x20-\x7e]*$/);
  expect(new Function(`return ${quoted}`)()).toBe(text);
});
