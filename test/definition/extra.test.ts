import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Field } from "../../provider/definition/define.js";
import { extraViolations, managedExtra, mergeDeep } from "../../provider/definition/extra.js";
import { wireName } from "../../provider/definition/fields.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import {
  environmentSecretPaths,
  environmentSecretText,
  unknownValue,
  withEnvironmentSecrets,
} from "../../provider/kernel/stand-ins.js";
import { channel } from "../../provider/resources/channel.js";
import { kinds } from "./support/every-field.js";
import { frozen } from "./support/wire-values.js";

const found = (extra: unknown) =>
  extraViolations(channel, extra).map(({ path, rule }) => `${path} ${rule}`);

interface Leaf {
  readonly wire: readonly string[];
  readonly program: readonly string[];
  readonly field: Field;
}

const leavesOf = (fields: Readonly<Record<string, Field>>): Leaf[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const own = { wire: [wireName(name, field)], program: [name], field };
    if (field.type !== "object") return [own];
    return leavesOf(field.fields).map((leaf) => ({
      ...leaf,
      wire: [...own.wire, ...leaf.wire],
      program: [name, ...leaf.program],
    }));
  });

const nested = (names: readonly string[], value: unknown): unknown =>
  names.reduceRight<unknown>((inner, name) => ({ [name]: inner }), value);

describe.each(kinds)("$kind", (definition) => {
  test("every documented member is refused in `extra`, at every depth and whatever its value", () => {
    for (const { wire, program } of leavesOf(definition.fields)) {
      for (const value of [1, null, "x", { a: 1 }, [], unknownValue]) {
        const extra = mergeDeep({ unknown: 1 }, nested(wire, value) as JsonObject);
        expect(extraViolations(definition, extra)).toEqual([
          {
            path: expect.stringMatching(/^extra[.[]/),
            rule: `is a property of ${definition.kind} itself (${program.join(".")}); set it there`,
          },
        ]);
      }
    }
  });

  test("members beside the documented ones are allowed in every documented object", () => {
    for (const [name, field] of Object.entries(definition.fields)) {
      if (field.type !== "object") continue;
      const at = wireName(name, field);
      expect(extraViolations(definition, { [at]: { more: 1 } })).toEqual([]);
      expect(extraViolations(definition, { [at]: unknownValue })).toEqual([]);
      for (const value of [1, "x", [], null])
        expect(extraViolations(definition, { [at]: value })).toHaveLength(1);
    }
  });
});

test("the place of a documented member is named", () => {
  expect(found({ restrictions: { inbound: { maxTextLength: 5, burst: 1 } } })).toEqual([
    "extra.restrictions.inbound.maxTextLength is a property of Channel itself (restrictions.inbound.maxTextLength); set it there",
  ]);
});

test("`extra` must be an object, and may be unknown", () => {
  expect(found("x")).toEqual(["extra must be an object"]);
  expect(found([])).toEqual(["extra must be an object"]);
  for (const fine of [undefined, unknownValue, {}, { a: unknownValue, b: { id: 1 }, c: [null] }])
    expect(found(fine)).toEqual([]);
});

test("what the service sets, and names that lead to a prototype, are refused", () => {
  const extra = JSON.parse(
    '{"id":"1","created":"","modified":"","constructor":1,"prototype":1,"__proto__":1,"a":{"__proto__":{}},"b":[{"__proto__":1}],"restrictions":{"__proto__":1}}',
  );
  expect(found(extra)).toEqual([
    "extra.id is read-only",
    "extra.created is read-only",
    "extra.modified is read-only",
    "extra.constructor is not allowed as a name",
    "extra.prototype is not allowed as a name",
    "extra.__proto__ is not allowed as a name",
    "extra.a.__proto__ is not allowed as a name",
    "extra.b[0].__proto__ is not allowed as a name",
    "extra.restrictions.__proto__ is not allowed as a name",
  ]);
});

test("empty names and numbers that JSON lacks are refused by their places", () => {
  const inside = { "": 1, a: [{ "": {} }], n: Number.NaN, deep: { i: [Number.POSITIVE_INFINITY] } };
  expect(found({ ...inside, restrictions: { "": 1 } })).toEqual([
    'extra[""] is not allowed as a name',
    'extra.a[0][""] is not allowed as a name',
    "extra.n must be a finite number",
    "extra.deep.i[0] must be a finite number",
    'extra.restrictions[""] is not allowed as a name',
  ]);
});

test("objects are merged deeply, everything else is replaced, and no prototype is reached", () => {
  const first = frozen({ a: { b: 1, c: [1] }, d: 1, e: { f: 1 } });
  const second = frozen({ a: { c: [2], g: 3 }, d: { h: 1 }, e: null });
  expect(mergeDeep(first, second)).toEqual({
    a: { b: 1, c: [2], g: 3 },
    d: { h: 1 },
    e: null,
  });
  mergeDeep(
    {},
    JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}'),
  );
  expect(({} as JsonObject).polluted).toBeUndefined();
});

const json = fc.letrec<{ value: unknown; object: JsonObject }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.integer(),
    fc.string({ unit: fc.constantFrom(..."abé") }),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("object"),
  ),
  object: fc.dictionary(fc.constantFrom(..."abcd"), tie("value"), { maxKeys: 4 }),
}));

/** The same in a form of the service's own. */
const ownForm = (value: unknown): unknown => {
  if (typeof value === "string") return value.normalize("NFD");
  if (Array.isArray(value)) return value.map(ownForm);
  if (typeof value !== "object" || value === null) return value;
  const kept = Object.entries(value).filter(([, of]) => of !== null);
  return { ...Object.fromEntries(kept.map(([name, of]) => [name, ownForm(of)])), added: 7 };
};

test("what the service gives in its own form is what `extra` said", () => {
  fc.assert(
    fc.property(json.object, (prior) => {
      const live = frozen(ownForm(prior) as JsonObject);
      expect(managedExtra(live, frozen(prior), [])).toEqual(prior);
    }),
  );
});

test("what the service holds instead is shown, and nothing that `extra` did not name", () => {
  const prior = { a: { b: 1, c: [1, { d: 1 }], e: "x" }, f: 1, g: null };
  const live = { a: { b: 2, c: [1, { d: 2, id: 7 }], z: 1 }, f: "1", g: 5, h: 1 };
  expect(managedExtra(live, prior, [])).toEqual({ a: { b: 2, c: [1, { d: 2 }] }, f: 1, g: 5 });
});

test("secrets keep what the program gave, whether they are shown, masked or left out", () => {
  const prior = {
    apiKey: "s1",
    a: { b: "s2", c: 1 },
    keys: [{ name: "k", value: "s3" }],
    o: { p: "s4" },
  };
  const paths = ["apiKey", "a.b", "keys[0].value", "o.p"];
  for (const [b, value] of [
    ["***", "***"],
    [undefined, undefined],
    ["s2", "clear"],
  ]) {
    const live = {
      apiKey: b,
      a: { b, c: 2 },
      keys: [
        { name: "k", value },
        { name: "new", value: "clear" },
      ],
    };
    expect(managedExtra(live, prior, paths)).toEqual({
      apiKey: "s1",
      a: { b: "s2", c: 2 },
      keys: [{ name: "k", value: "s3" }, { name: "new" }],
      o: { p: "s4" },
    });
  }
  expect(managedExtra({}, prior, paths)).toEqual({ apiKey: "s1", o: { p: "s4" } });
});

test("a secret of the environment stays one when the service shows it, whatever members are called", () => {
  const hidden = environmentSecretText("KEY", "1");
  const name = fc.constantFrom("a", "b", "a.b", ".", "", "b.a.", "0", "a[0]");
  const { extra } = fc.letrec((tie) => ({
    value: fc.oneof(
      { depthSize: "small" },
      fc.constantFrom("shown", hidden, `Bearer ${hidden}`),
      fc.array(tie("value"), { maxLength: 3 }),
      tie("extra"),
    ),
    extra: fc.dictionary(name, tie("value"), { maxKeys: 3 }),
  }));
  const property = fc.property(extra, (given) => {
    const prior = given as JsonObject;
    const live = withEnvironmentSecrets(prior, () => "canary");
    const held = managedExtra(live, prior, environmentSecretPaths(prior));
    expect(JSON.stringify(held)).not.toContain("canary");
  });
  fc.assert(property, { numRuns: 2000, seed: 21 });
});
