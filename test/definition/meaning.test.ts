import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { managedFields } from "../../provider/definition/changes.js";
import { sameFieldsMeaning, sameMeaning, sameValue } from "../../provider/definition/meaning.js";
import { fieldsFromWire, fromWire, toWire } from "../../provider/definition/wire.js";
import { everyField, everyShape, kinds } from "./support/every-field.js";
import { mutationsOf } from "./support/mutations.js";
import { formOf, objectForm, vendor } from "./support/own-forms.js";
import { anyValue, anyValues } from "./support/values.js";

const mutated = (field: Parameters<typeof anyValue>[0]) =>
  anyValue(field).chain((value) => {
    const others = mutationsOf(field, value);
    return others.length === 0
      ? fc.constant(undefined)
      : fc.constantFrom(...others).map((other) => ({ value, other }));
  });

describe.each(everyField)("$label", ({ field }) => {
  test("a value means itself, in a program and in the service", () => {
    fc.assert(
      fc.property(anyValue(field), (value) => {
        expect(sameValue(field, structuredClone(value), value)).toBe(true);
        const live = fromWire(field, toWire(field, value, vendor), vendor);
        expect(sameMeaning(field, live, value)).toBe(true);
      }),
    );
  });

  test("every form of the service's own means the same", () => {
    const forms = anyValue(field).chain((value) =>
      formOf(field, value).map((wire) => ({ value, wire })),
    );
    fc.assert(
      fc.property(forms, ({ value, wire }) => {
        expect(sameMeaning(field, fromWire(field, wire, vendor), value)).toBe(true);
      }),
    );
  });

  // What a service masks or leaves out cannot be told from what it was.
  if (field.secret) return;

  test("what means something else differs, for a program and in the service", () => {
    fc.assert(
      fc.property(mutated(field), (pair) => {
        fc.pre(pair !== undefined);
        const { value, other } = pair;
        expect(sameValue(field, other, value)).toBe(false);
        expect(sameValue(field, value, other)).toBe(false);
        const live = fromWire(field, toWire(field, other, vendor), vendor);
        expect(sameMeaning(field, live, value)).toBe(false);
      }),
      { numRuns: 100, maxSkipsPerRun: 1000 },
    );
  });
});

describe.each(kinds)("$kind", ({ fields, rule }) => {
  const pairs = anyValues(fields, rule).chain((prior) =>
    objectForm(fields, prior).map((wire) => ({ prior, wire })),
  );

  test("a refresh gives back what the program said, whatever form the service gives it", () => {
    fc.assert(
      fc.property(pairs, ({ prior, wire }) => {
        const live = fieldsFromWire(fields, wire, vendor);
        expect(sameFieldsMeaning(fields, live, prior)).toBe(true);
        expect(managedFields(fields, live, prior)).toEqual(prior);
      }),
    );
  });

  test("a refresh shows what differs, in the one member where it does", () => {
    for (const [name, field] of Object.entries(fields)) {
      const drifted = fc
        .tuple(pairs, anyValue(field))
        .filter(([{ prior }]) => prior[name] !== undefined)
        .chain(([{ prior, wire }]) => {
          const others = mutationsOf(field, prior[name]);
          return others.length === 0
            ? fc.constant(undefined)
            : fc.constantFrom(...others).map((other) => ({ prior, wire, other }));
        });
      fc.assert(
        fc.property(drifted, (drift) => {
          if (!drift) return;
          const { prior, wire, other } = drift;
          const live = {
            ...fieldsFromWire(fields, wire, vendor),
            [name]: fromWire(field, toWire(field, other, vendor), vendor),
          };
          expect(sameFieldsMeaning(fields, live, prior)).toBe(false);
          const managed = managedFields(fields, live, prior);
          expect(managed).not.toEqual(prior);
          expect({ ...managed, [name]: prior[name] }).toEqual(prior);
          // What is shown is what the service holds: a second refresh finds nothing new.
          expect(managedFields(fields, live, managed)).toEqual(managed);
        }),
        { numRuns: 20 },
      );
    }
  });
});

test.each<[string, string, string, boolean]>([
  ["site", "https://a.example.com", "https://a.example.com/", true],
  ["site", "https://a.example.com/", "https://a.example.com//", false],
  ["site", "https://a.example.com/x", "https://a.example.com/X", false],
  ["site", "https://a.example.com/a%2Fb", "https://a.example.com/a/b", false],
  ["site", "https://u:p@a.example.com/", "https://a.example.com/", false],
  ["site", "https://bücher.example/", "https://xn--bcher-kva.example", true],
  ["site", "no address", "no  address", false],
  ["mail", "Ann@Example.com", "ann@example.COM", true],
  ["mail", "ann@example.com", "anne@example.com", false],
  ["bytes", "QUI=", "QUI", false],
  ["settings", '{"a":1}', '{ "a": 1 }', false],
  ["name", "e\u0301", "\u00e9", true],
  ["name", "a\r\nb\rc", "a\nb\nc", true],
  ["name", "a b", "a  b", false],
])("%s: %j and %j", (name, a, b, expected) => {
  const field = everyShape.fields[name];
  if (!field) throw new Error(name);
  expect([sameMeaning(field, a, b), sameMeaning(field, b, a)]).toEqual([expected, expected]);
  // A program's own text counts letter by letter.
  expect(sameValue(field, a, b)).toBe(false);
});

test("what the service fills in is the same as nothing", () => {
  const { limit } = everyShape.fields;
  if (!limit) throw new Error("no limit");
  expect([sameMeaning(limit, 240, undefined), sameMeaning(limit, undefined, 240)]).toEqual([
    true,
    true,
  ]);
  expect(sameMeaning(limit, 241, undefined)).toBe(false);
});
