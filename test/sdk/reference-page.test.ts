import { expect, test } from "vitest";
import { resourceReference } from "../../cli/generate/reference-docs.js";
import type { Field, Fields, NumberField } from "../../provider/definition/define.js";
import { resources } from "../../provider/resources/index.js";

const page = resourceReference(resources);

/** Rows of one kind, by property. */
const rowsOf = (kind: string): ReadonlyMap<string, readonly string[]> => {
  const [section = ""] = page.split(`\n## ${kind}\n`)[1]?.split("\n## ") ?? [];
  return new Map(
    section
      .split("\n")
      .filter((line) => line.startsWith("| `"))
      .map((line) => line.slice(2, -2).split(" | "))
      .map(([name = "", ...cells]) => [name.replaceAll("`", ""), cells]),
  );
};

const numbersIn = (fields: Fields, prefix: string): [string, NumberField][] =>
  Object.entries(fields).flatMap(([name, field]) => numbersOf(field, prefix + name));

const numbersOf = (field: Field, path: string): [string, NumberField][] => {
  if (field.type === "number") return [[path, field]];
  if (field.type === "object") return numbersIn(field.fields, `${path}.`);
  if (field.type === "list") return numbersOf(field.of, `${path}[]`);
  return [];
};

test("every limit of a number is listed", () => {
  const numbers = resources.flatMap(({ kind, fields }) =>
    numbersIn(fields, "").map(([path, field]) => ({ kind, path, field })),
  );
  expect(numbers.length).toBeGreaterThan(5);
  for (const { kind, path, field } of numbers) {
    const row = rowsOf(kind).get(path)?.join(" ") ?? "";
    if (field.integer) expect(row).toMatch(/whole number/i);
    for (const limit of [field.min, field.max]) {
      if (limit !== undefined) expect(row).toContain(limit.toLocaleString("en-GB"));
    }
  }
});

test("a name that may be left out is not required, and the row says what it is then", () => {
  for (const { kind, fields } of resources) {
    const row = rowsOf(kind).get("name");
    expect(row === undefined).toBe(fields.name === undefined);
    if (!row) continue;
    expect(row[1]?.trim()).toBe("");
    expect(row[2]).toContain("derived from the logical name");
  }
  expect(rowsOf("ClientApplication").get("roles[].name")?.[1]).toBe("yes");
});

test("what follows from another member is not required either", () => {
  expect(rowsOf("Authentication").get("type")?.[1]?.trim()).toBe("");
});

test("what every resource also accepts is listed once, and so is the ownership of a stack", () => {
  for (const argument of ["adopt", "extra", "eraseHidden", "profile"]) {
    expect(page.split(`\n| \`${argument}\` |`)).toHaveLength(2);
  }
  expect(page).toContain("--target '**conversation:Ownership::ownership'");
});
