import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { changesOf } from "../../provider/definition/changes.js";
import {
  type ChangeValue,
  changeInside,
  changeMembers,
  valuesIn,
} from "../../provider/definition/fields.js";
import { sameMeaning } from "../../provider/definition/meaning.js";
import { fieldsFromWire } from "../../provider/definition/wire.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { unknownValue } from "../../provider/kernel/pulumi.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { roleOf } from "../support/forms.js";
import { everyField, kinds } from "./support/every-field.js";
import { mutationsOf } from "./support/mutations.js";
import { objectForm, vendor } from "./support/own-forms.js";
import { anyValue, anyValues } from "./support/values.js";

describe.each(kinds)("$kind", ({ fields, rule }) => {
  test("only secrets can differ between an object and a form of it", () => {
    const pairs = anyValues(fields, rule).chain((to) =>
      objectForm(fields, to).map((wire) => ({ to, from: fieldsFromWire(fields, wire, vendor) })),
    );
    fc.assert(
      fc.property(pairs, ({ from, to }) => {
        const shown = JSON.stringify(changesOf(fields, from, to));
        for (const change of changesOf(fields, from, to))
          expect(change.to ?? change.from).toContain("[secret]");
        expect(shown).not.toContain("another");
        expect(changesOf(fields, to, to)).toEqual([]);
      }),
    );
  });
});

test.each(everyField)("a change of $label is reported at its place, briefly", ({ name, field }) => {
  const changed = anyValue(field).chain((from) => {
    const others = mutationsOf(field, from);
    return others.length === 0
      ? fc.constant(undefined)
      : fc.constantFrom(...others).map((to) => ({ from, to }));
  });
  fc.assert(
    fc.property(changed, (pair) => {
      if (!pair) return;
      const { from, to } = pair;
      const changes = changesOf({ [name]: field }, { [name]: from }, { [name]: to });
      // What only lost a member does not declare it any more, and so changes nothing.
      if (!sameMeaning(field, from, to)) expect(changes.length).toBeGreaterThan(0);
      for (const change of changes) {
        expect(change.path.startsWith(name)).toBe(true);
        for (const text of [change.from, change.to])
          expect([...(text ?? "")].length).toBeLessThanOrEqual(60);
      }
    }),
  );
});

test("changes come in the order of the fields, with what is there and what comes", () => {
  const from = {
    type: "t",
    displayName: "Old",
    description: "by hand",
    restrictions: { inbound: { maxTextLength: 5, features: ["a", "b"] } },
  };
  const to = {
    restrictions: {
      inbound: { maxTextLength: 6, features: ["b", "a"] },
      outbound: { midChatAuth: true },
    },
    l10nProperties: { "en-US": { hi: "x".repeat(100) } },
    displayName: "New",
    type: "t",
  };
  expect(changesOf(channel.fields, from, to)).toEqual([
    { path: "displayName", from: '"Old"', to: '"New"' },
    { path: "restrictions.inbound.maxTextLength", from: "5", to: "6" },
    { path: "restrictions.outbound", to: '{"midChatAuth":true}' },
    { path: "l10nProperties", to: `{"en-US":{"hi":"${"x".repeat(43)}…` },
  ]);
});

test("items are named by their identity, entries by their key, secrets not at all", () => {
  const from = {
    roles: [
      roleOf("custom_bot", { headers: { "X-A": "canary-1", b: "canary-same", c: "canary-2" } }),
      roleOf("customer"),
    ],
  };
  const to = {
    roles: [
      roleOf("custom_agent", { headers: { a: "canary-3" } }),
      roleOf("custom_bot", {
        callback: "https://new.example.com",
        headers: { "X-A": "canary-4", b: "canary-same", d: "canary-5" },
      }),
    ],
  };
  const changes = changesOf(clientApplication.fields, from, to);
  expect(JSON.stringify(changes)).not.toContain("canary");
  expect(changes).toEqual([
    { path: "roles[custom_agent]", to: expect.stringContaining('{"name":"custom_agent"') },
    {
      path: "roles[custom_bot].callback",
      from: '"https://x.example.com/"',
      to: '"https://new.example.com"',
    },
    { path: 'roles[custom_bot].headers["X-A"]', from: "[secret]", to: "[secret]" },
    { path: "roles[custom_bot].headers.d", to: "[secret]" },
    { path: "roles[custom_bot].headers.c", from: "[secret]" },
    { path: "roles[customer]", from: expect.stringContaining('{"name":"customer"') },
  ]);
});

/** The same, some of it not known before the update. */
const partlyUnknown = (value: unknown, isKnown: () => boolean): unknown => {
  if (!isKnown()) return unknownValue;
  if (Array.isArray(value)) return value.map((item) => partlyUnknown(item, isKnown));
  if (!isObject(value)) return value;
  return mappedValues(value, isKnown);
};

const mappedValues = (values: JsonObject, isKnown: () => boolean): JsonObject =>
  Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, partlyUnknown(value, isKnown)]),
  );

test.each(kinds)("what is not known yet is no name and no text of $kind", ({ fields, rule }) => {
  const values = anyValues(fields, rule);
  const known = fc.infiniteStream(fc.integer({ min: 0, max: 9 }).map((digit) => digit > 2));
  fc.assert(
    fc.property(values, values, known, (from, whole, stream) => {
      const to = mappedValues(whole, () => stream.next().value);
      for (const { path, to: text = "" } of changesOf(fields, from, to))
        expect(`${path} ${text}`).not.toContain(unknownValue.slice(0, 8));
    }),
  );
});

test("a bot that is made in the same run is named by its place", () => {
  const bot = (participant: string) => ({
    applications: { botConfiguration: { bots: [{ application: "A", participant }] } },
  });
  expect(changesOf(orchestration.fields, bot("P"), bot(unknownValue))).toEqual([
    {
      path: "applications.botConfiguration.bots[0]",
      to: '{"application":"A","participant":"[unknown]"}',
    },
    {
      path: "applications.botConfiguration.bots[P]",
      from: '{"application":"A","participant":"P"}',
    },
  ]);
});

test("another order is reported if the order counts", () => {
  const bots = ["P", "Q"].map((participant) => ({ application: "A", participant }));
  const of = (list: unknown[]) => ({ applications: { botConfiguration: { bots: list } } });
  const changes = changesOf(orchestration.fields, of(bots), of([...bots].reverse()));
  expect(changes.map(({ path }) => path)).toEqual(["applications.botConfiguration.bots"]);
});

describe.each(kinds)("$kind", ({ fields, rule }) => {
  test("a change reaches every value that is collected, and nothing else becomes another one", () => {
    fc.assert(
      fc.property(anyValues(fields, rule), (values) => {
        const reached: unknown[] = [];
        const same: ChangeValue = (field, value) => {
          reached.push(value);
          return changeInside(field, value, same);
        };
        expect(changeMembers(fields, values, same)).toEqual(values);
        expect(reached).toEqual(valuesIn(fields, values).map(({ value }) => value));
      }),
    );
  });

  test("members that no field knows stay, and what becomes nothing goes", () => {
    fc.assert(
      fc.property(anyValues(fields, rule), (values) => {
        const more = { ...values, "not a field": { a: 1 }, __proto: [null] };
        const without: ChangeValue = (field, value) =>
          field.secret ? undefined : changeInside(field, value, without);
        const left = changeMembers(fields, more, without);
        expect(left).toMatchObject({ "not a field": { a: 1 }, __proto: [null] });
        const secrets = valuesIn(fields, left).filter(
          ({ field, value }) => field.secret && value !== undefined,
        );
        expect(secrets).toEqual([]);
      }),
    );
  });
});
