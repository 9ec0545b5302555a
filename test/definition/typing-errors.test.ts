import * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { extraViolations } from "../../provider/definition/extra.js";
import { fieldViolations, type Violation } from "../../provider/definition/violations.js";
import { fieldsIn } from "../../provider/definition/walk.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { nearestWord } from "../../provider/kernel/text.js";
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

/** Every property inside others, and the members that lead to it: `["applications", "botConfiguration"]`. */
const nested = resources.flatMap((definition) =>
  fieldsIn(definition.fields).flatMap(({ path }) => {
    const members = path.split(".");
    const name = members.at(-1) ?? "";
    // The items of a list and the values of a map have no name of their own.
    if (members.length < 2 || /[\]}]$/.test(name) || path.includes("{}")) return [];
    return [{ definition, path, name, holders: members.slice(0, -1) }];
  }),
);

/** An object that holds a member, below so many holders. */
const below = (holders: readonly string[], inner: JsonObject): JsonObject =>
  holders.reduceRight<JsonObject>((held, holder) => {
    const name = holder.replace("[]", "");
    return { [name]: name === holder ? held : [held] };
  }, inner);

test("a property that is given some levels too high is told where it belongs", () => {
  const misplaced = fc
    .constantFrom(...nested)
    .chain((property) =>
      fc.record({ property: fc.constant(property), depth: fc.nat(property.holders.length - 1) }),
    );
  fc.assert(
    fc.property(misplaced, ({ property: { definition, path, name, holders }, depth }) => {
      const at = holders.slice(0, depth);
      const isThere = fieldsIn(definition.fields).some(
        (field) => field.path === [...at, name].join("."),
      );
      fc.pre(!isThere);
      const given = [...at, name].join(".").replaceAll("[]", "[0]");
      const rules = fieldViolations(definition, below(at, { [name]: "x" }))
        .filter((found) => found.path === given)
        .map(({ rule }) => rule);
      expect(rules).toHaveLength(1);
      expect(rules[0]).toMatch(
        new RegExp(`^is not a property of ${definition.kind}( here)?: it belongs in `),
      );
      expect(rules[0]?.split(/ in | or /)).toContain(path);
      expect(rules[0]).not.toContain("extra");
    }),
    { numRuns: 300, seed: 17 },
  );
});

const outputs = [
  `for ${pulumi.output("x")}`,
  JSON.stringify({ channel: pulumi.output("x") }),
] as const;

test("an output inside a text is told wherever a value can stand, also as an id and below extra", () => {
  const places = nested.filter(({ path }) => !path.includes("[]"));
  const given = fc.record({ place: fc.constantFrom(...places), text: fc.constantFrom(...outputs) });
  fc.assert(
    fc.property(given, ({ place: { definition, holders, name, path }, text }) => {
      const wanted = text === outputs[0] ? "pulumi.interpolate" : "pulumi.jsonStringify";
      const told = (found: readonly Violation[], where: string) =>
        expect(found.find((each) => each.path === where)?.rule).toContain(wanted);
      told(fieldViolations(definition, below(holders, { [name]: text })), path);
      told(
        extraViolations(definition, { unknown: [{ [name]: text }] }),
        `extra.unknown[0].${name}`,
      );
    }),
    { numRuns: 200, seed: 17 },
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
