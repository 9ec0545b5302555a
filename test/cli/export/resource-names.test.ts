import fc from "fast-check";
import ts from "typescript";
import { expect, test } from "vitest";
import { objectInputs } from "../../../cli/account/object-inputs.js";
import { resourceNames, wordsIn } from "../../../cli/export/program-plan.js";
import { resources } from "../../../provider/resources/index.js";

const settings = { platformName: "platform" };

const account = fc
  .array(
    fc.record({
      kind: fc.nat({ max: resources.length - 1 }),
      name: fc.oneof(
        fc.string({ unit: "binary", maxLength: 60 }),
        fc.string({ unit: "grapheme", maxLength: 20 }),
        fc.constantFrom(
          "orders",
          "Orders",
          "orders bot",
          "class",
          "await",
          "7",
          "Secrets",
          "",
          "__proto__",
          "NaN",
        ),
      ),
      day: fc.nat({ max: 3 }),
    }),
    { maxLength: 30 },
  )
  .map((list) =>
    list.flatMap(({ kind, name, day }, place) => {
      const definition = resources[kind];
      if (!definition) return [];
      const id = `${place}`.padStart(36, "0");
      const created = `2024-01-0${day + 1}T00:00:00.000Z`;
      return [objectInputs(definition, id, { id, name, type: name, created }, settings)];
    }),
  );

test("names are valid, one for each object, whatever the objects are called", () => {
  fc.assert(
    fc.property(account, (objects) => {
      const names = [...resourceNames(objects).entries()];
      const variables = names.map(([, { variable }]) => variable);
      expect(new Set(variables).size).toBe(objects.length);
      expect(
        new Set(names.map(([{ definition }, { logical }]) => `${definition.kind} ${logical}`)).size,
      ).toBe(objects.length);
      for (const [, { variable, logical }] of names) {
        // A module is strict code, where fewer words are names.
        expect(
          () => new Function(`"use strict"; async () => { const ${variable} = 1; }`),
        ).not.toThrow();
        for (const character of variable)
          expect(ts.isIdentifierPart(character.codePointAt(0) ?? 0, ts.ScriptTarget.Latest)).toBe(
            true,
          );
        expect(logical).toMatch(/^[^\s:/]{1,80}$/u);
      }
    }),
    { numRuns: Number(process.env.FUZZ_RUNS ?? 300) },
  );
});

test("names do not depend on the order in which the service lists", () => {
  fc.assert(
    fc.property(account, fc.nat(), (objects, turn) => {
      const at = objects.length === 0 ? 0 : turn % objects.length;
      const turned = [...objects.slice(at), ...objects.slice(0, at)].toReversed();
      const [one, other] = [resourceNames(objects), resourceNames(turned)];
      for (const object of objects) expect(other.get(object)).toEqual(one.get(object));
    }),
    { numRuns: 200 },
  );
});

test.each([
  ["orders-bot", ["orders", "bot"]],
  ["ordersBot", ["orders", "Bot"]],
  ["Größe & Maß", ["Große", "Maß"]],
  ["订单 机器人", ["订单", "机器人"]],
  ["عربة", []],
  ["  ", []],
])("the words of %j", (text, words) => {
  expect(wordsIn(text)).toEqual(words);
});
