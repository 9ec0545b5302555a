import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { managedFields, typedFields } from "../../provider/definition/changes.js";
import { wireName } from "../../provider/definition/fields.js";
import { sameFieldsMeaning } from "../../provider/definition/meaning.js";
import { fieldsFromWire, fieldsToWire } from "../../provider/definition/wire.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { participant } from "../../provider/resources/participant.js";
import { everyShape, kinds } from "./support/every-field.js";
import { vendor } from "./support/own-forms.js";
import { anyValues } from "./support/values.js";
import { frozen, written } from "./support/wire-values.js";

const odd = fc.oneof(
  fc.jsonValue({ maxDepth: 3 }),
  fc.constantFrom<unknown>(
    null,
    [null],
    [[]],
    { id: { toString: 1, valueOf: 2 } },
    [{ name: { toString: 1 }, value: { valueOf: 1 } }],
    JSON.parse('{"__proto__":1,"constructor":2,"name":"x"}'),
  ),
);

describe.each(kinds)("$kind", (definition) => {
  const { fields, rule } = definition;
  const oddWire = fc.record(
    Object.fromEntries(Object.entries(fields).map(([name, of]) => [wireName(name, of), odd])),
    { requiredKeys: [] },
  );

  test("no odd JSON of the service breaks anything, and none is changed", () => {
    fc.assert(
      fc.property(oddWire, anyValues(fields, rule), (wire, prior) => {
        frozen(wire);
        const live = fieldsFromWire(fields, wire, vendor);
        typedFields(fields, live);
        const managed = managedFields(fields, live, frozen(prior));
        expect(managedFields(fields, live, managed)).toEqual(managed);
        const desired = frozen(fieldsToWire(fields, prior, vendor));
        const { body } = written(definition, wire, desired, wire);
        expect(sameFieldsMeaning(fields, fieldsFromWire(fields, body, vendor), prior)).toBe(true);
        written(definition, wire, desired);
      }),
    );
  });

  test("values come back from the wire as they went", () => {
    fc.assert(
      fc.property(anyValues(fields, rule), (values) => {
        const live = fieldsFromWire(fields, fieldsToWire(fields, values, vendor), vendor);
        expect(live).toEqual(values);
        expect(typedFields(fields, live)).toEqual(values);
      }),
    );
  });
});

test("scalars of another type are kept for comparing, and read as what a program gives", () => {
  const wire = {
    name: 5,
    active: "true",
    channel: { id: 7, name: "kiosk" },
    chatConfigurations: { timeout: "30", entryPoint: { id: 1007 }, orchestration: "bare" },
  };
  const live = fieldsFromWire(account.fields, wire, vendor);
  expect(live).toEqual({
    name: 5,
    active: "true",
    channel: 7,
    chatConfigurations: { timeout: "30", entryPoint: 1007, orchestration: "bare" },
  });
  expect(typedFields(account.fields, live)).toEqual({
    name: "5",
    active: true,
    channel: "7",
    chatConfigurations: { timeout: 30, entryPoint: "1007", orchestration: "bare" },
  });
});

test("boxes that are null or missing, and maps that travel as objects", () => {
  const read = (intents: unknown, options?: unknown) =>
    fieldsFromWire(participant.fields, { intents, options }, vendor);
  const intent = [{ value: "a", displayValue: "A" }];
  expect(read(null)).toEqual({});
  expect(read({ intent: null })).toEqual({});
  expect(read(intent)).toEqual({ intents: intent });
  expect(read({ intent }, { tier: "gold", level: null })).toEqual({
    intents: intent,
    options: { tier: "gold", level: "" },
  });
});

test("a number is another text's only where JSON would write it so", () => {
  const same = (live: unknown, name: string) =>
    sameFieldsMeaning(account.fields, { name: live }, { name });
  expect([same(1007, "1007"), same(1, "1.0"), same(1e21, "1e21")]).toEqual([true, true, true]);
  expect([same(7, "007"), same(0, ""), same(7, " 7"), same(7, "0x7"), same(NaN, "NaN")]).toEqual([
    false,
    false,
    false,
    false,
    false,
  ]);
});

test("a refresh shows an order that changed where it counts, and keeps the program's where not", () => {
  const intents = ["P", "Q"].map((value) => ({ value, displayValue: value }));
  const turned = [...intents].reverse();
  expect(managedFields(participant.fields, { intents: turned }, { intents })).toEqual({
    intents: turned,
  });
  const of = (features: string[]) => ({ restrictions: { inbound: { features } } });
  const prior = of(["richText", "attachments", "typing_events"]);
  expect(
    managedFields(channel.fields, of(["attachments", "typing_events", "richText"]), prior),
  ).toEqual(prior);
  const more = of(["delivery_receipts", "attachments", "typing_events"]);
  expect(managedFields(channel.fields, more, prior)).toEqual(
    of(["attachments", "typing_events", "delivery_receipts"]),
  );
});

test("a refresh keeps secrets by the role they belong to, whatever came before it", () => {
  const role = (name: string, more = {}) => ({ name, version: "v3", ...more });
  const prior = { roles: [role("custom_bot", { headers: { a: "secret-1" } }), role("customer")] };
  const live = {
    roles: [
      role("customer"),
      role("custom_agent"),
      role("custom_bot", { version: "v1", headers: { a: "***" } }),
    ],
  };
  expect(managedFields(clientApplication.fields, live, prior)).toEqual({
    roles: [
      role("custom_bot", { version: "v1", headers: { a: "secret-1" } }),
      role("customer"),
      role("custom_agent"),
    ],
  });
});

test("what holds secrets and is left out is taken for withheld, everything else for gone", () => {
  const prior = { name: "n", description: "d", oauth2: { method: "POST", headers: { a: "s" } } };
  const managed = (live: Record<string, unknown>) =>
    managedFields(authentication.fields, live, prior);
  expect(managed({ name: "n" })).toEqual({ name: "n", oauth2: prior.oauth2 });
  expect(managed({ name: "n", description: "d", oauth2: { headers: {} } })).toEqual({
    name: "n",
    description: "d",
    oauth2: { headers: {} },
  });
});

test("items without an identity are the same only where they mean the same", () => {
  const points = (...list: unknown[]) => ({ name: "n", points: list });
  const live = points({ x: 1, y: 7 }, { x: 2, y: 8 });
  const desired = points({ x: 2 }, { x: 3 });
  expect(written(everyShape, live, desired, desired).body).toEqual(
    points({ x: 2, y: 8 }, { x: 3 }),
  );
});
