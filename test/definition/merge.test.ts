import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hideSecrets } from "../../emulator/objects/secrets.js";
import type { Definition } from "../../provider/definition/define.js";
import { defaultIn, wireName } from "../../provider/definition/fields.js";
import { sameFieldsMeaning } from "../../provider/definition/meaning.js";
import { mergeFields } from "../../provider/definition/merge.js";
import { fieldsFromWire, fieldsToWire } from "../../provider/definition/wire.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { kinds } from "./support/every-field.js";
import { vendor } from "./support/own-forms.js";
import { anyValues } from "./support/values.js";
import { fieldsWithUnknown, frozen, secretPaths } from "./support/wire-values.js";

const merge = (
  { fields, rule }: Definition,
  sides: { live: JsonObject; desired: JsonObject; prior: JsonObject; keeps?: boolean },
) => mergeFields({ fields, rule, keeps: false, ...frozen(sides) });

/** Without the members that the rule of a kind makes exclude each other. */
const choices = ({ rule }: Definition): readonly string[] =>
  rule && "exactlyOne" in rule ? [rule.discriminator, ...Object.values(rule.exactlyOne)] : [];

describe.each(kinds)("$kind", (definition) => {
  const { fields, rule } = definition;
  const toWire = (values: JsonObject) => fieldsToWire(fields, values, vendor);
  const anyWire = anyValues(fields, rule).map(toWire);

  test("an object that is as the program wants it is written back whole, unknown members at every depth", () => {
    fc.assert(
      fc.property(anyWire, (wire) => {
        const live = fieldsWithUnknown(fields, wire);
        const result = merge(definition, { live, desired: wire, prior: wire });
        expect(result.body).toEqual(live);
        expect(result.hidden).toEqual([]);
      }),
    );
  });

  test("what the program wants wins over everything there, whatever it wanted before", () => {
    fc.assert(
      fc.property(anyWire, anyWire, anyWire, (there, desired, prior) => {
        const live = fieldsWithUnknown(fields, there);
        const { body } = merge(definition, { live, desired, prior });
        const [is, wanted] = [body, desired].map((wire) => fieldsFromWire(fields, wire, vendor));
        expect(sameFieldsMeaning(fields, is ?? {}, wanted ?? {})).toBe(true);
        expect(body["x-kept"]).toEqual(live["x-kept"]);
        // A second PUT of the same changes nothing.
        expect(merge(definition, { live: body, desired, prior: desired }).body).toEqual(body);
      }),
    );
  });

  test("what the program never declared stays, secrets that are shown included", () => {
    const parts = anyWire.chain((wire) =>
      fc.subarray(Object.keys(wire)).map((left) => ({ wire, left })),
    );
    fc.assert(
      fc.property(parts, ({ wire, left }) => {
        const declared = Object.fromEntries(
          Object.entries(wire).filter(
            ([name]) => !left.includes(name) || choices(definition).includes(name),
          ),
        );
        const live = fieldsWithUnknown(fields, wire);
        const { body, hidden, undeclared } = merge(definition, {
          live,
          desired: declared,
          prior: declared,
        });
        expect(body).toEqual(live);
        expect(hidden).toEqual([]);
        const names = Object.entries(fields)
          .filter(([name, field]) => {
            const onWire = wireName(name, field);
            // What is there by default goes without saying.
            const isUsual = wire[onWire] === undefined || wire[onWire] === defaultIn(field);
            return !isUsual && declared[onWire] === undefined;
          })
          .map(([name]) => name);
        expect(undeclared).toEqual(expect.arrayContaining([...names, '["x-kept"]']));
        for (const name of Object.keys(declared)) expect(undeclared).not.toContain(name);
      }),
    );
  });

  test("what the program declares no more is gone, and nothing else is", () => {
    const parts = anyWire
      .filter((wire) => Object.keys(wire).length > 1)
      .chain((wire) => fc.constantFrom(...Object.keys(wire)).map((gone) => ({ wire, gone })));
    fc.assert(
      fc.property(parts, ({ wire, gone }) => {
        const desired = Object.fromEntries(Object.entries(wire).filter(([name]) => name !== gone));
        const live = { ...wire, region: "eu" };
        const { body } = merge(definition, { live, desired, prior: wire });
        expect(body).toEqual({ ...desired, region: "eu" });
      }),
    );
  });

  test.each(["mask", "omit"] as const)(
    "where the service would %s secrets, each that is not the program's is reported, and no mask is written",
    (way) => {
      fc.assert(
        fc.property(anyValues(fields, rule), (values) => {
          const wire = toWire(values);
          const secrets = Object.entries(fields).filter(
            ([name, field]) =>
              secretPaths(field, values[name], name).length > 0 &&
              !choices(definition).includes(name) &&
              field.type !== "text",
          );
          const undeclared = secrets.map(([name, field]) => wireName(name, field));
          const desired = Object.fromEntries(
            Object.entries(wire).filter(([name]) => !undeclared.includes(name)),
          );
          const live = hideSecrets(fields, wire, way);
          const { body, hidden } = merge(definition, { live, desired, prior: desired });
          expect(JSON.stringify(body)).not.toContain("****");
          expect(body).toMatchObject(desired);
          if (way === "omit") return;
          const expected = secrets.flatMap(([name, field]) =>
            secretPaths(field, values[name], name),
          );
          expect([...hidden].sort()).toEqual(expected.sort());
          const kept = merge(definition, { live, desired, prior: desired, keeps: true });
          expect(kept.hidden).toEqual([]);
          for (const name of undeclared) expect(kept.body).not.toHaveProperty([name]);
        }),
      );
    },
  );

  test("a secret that the program declares is written as it is, however the service shows it", () => {
    fc.assert(
      fc.property(anyWire, fc.constantFrom("mask", "omit", "echo"), (wire, way) => {
        const live = hideSecrets(fields, fieldsWithUnknown(fields, wire), way);
        const { body, hidden } = merge(definition, { live, desired: wire, prior: wire });
        expect(body).toEqual(fieldsWithUnknown(fields, wire));
        if (way !== "omit") expect(hidden).toEqual([]);
      }),
    );
  });
});
