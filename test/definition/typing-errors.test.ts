import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { fieldViolations } from "../../provider/definition/violations.js";
import { nearestWord } from "../../provider/kernel/nearest-word.js";
import { resources } from "../../provider/resources/index.js";

/** A text with one letter left out, put in, exchanged, or written large. */
const withTypo = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(text.length - 1), fc.constantFrom("x", "q", ""), fc.constantFrom(0, 1))
    .map(([at, letter, left]) => text.slice(0, at) + letter + text.slice(at + left))
    .filter((typed) => typed !== text);

const properties = resources.flatMap((definition) =>
  Object.keys(definition.fields)
    .filter((name) => name.length >= 4)
    .map((name) => ({ definition, name })),
);

test("a property that is one letter off is told with one that there is", () => {
  const typed = fc
    .constantFrom(...properties)
    .chain(({ definition, name }) => fc.tuple(fc.constant(definition), withTypo(name)));
  fc.assert(
    fc.property(typed, ([definition, name]) => {
      fc.pre(!Object.hasOwn(definition.fields, name));
      const found = fieldViolations(definition, { [name]: "x" }).find(({ path }) => path === name);
      const [, meant = ""] = /; did you mean (\w+)\?$/.exec(found?.rule ?? "") ?? [];
      expect(Object.keys(definition.fields)).toContain(meant);
    }),
  );
});

describe("the nearest word", () => {
  test.each([
    ["baseurl", ["baseUrl", "burst"], "baseUrl"],
    ["baseulr", ["baseUrl"], "baseUrl"],
    ["PLAN", ["plan", "share"], "plan"],
    ["clentId", ["clientId", "clientSecret"], "clientId"],
    ["flag", ["plan"], undefined],
    ["ab", ["cd"], undefined],
    ["", ["put"], undefined],
    ["x".repeat(100_000), ["plan"], undefined],
  ])("of %j among %j: %j", (text, words, expected) => {
    expect(nearestWord(text, words)).toBe(expected);
  });
});
