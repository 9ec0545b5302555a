import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { managedFields } from "../../provider/definition/changes.js";
import { wireName } from "../../provider/definition/fields.js";
import { sameFieldsMeaning } from "../../provider/definition/meaning.js";
import { fieldsFromWire, fieldsToWire } from "../../provider/definition/wire.js";
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
      }),
    );
  });
});

test("boxes that are null or missing, and entries without a value", () => {
  const read = (intents: unknown, options?: unknown) =>
    fieldsFromWire(participant.fields, { intents, options }, vendor);
  const intent = [{ value: "a", displayValue: "A" }];
  expect(read(null)).toEqual({});
  expect(read({ intent: null })).toEqual({});
  expect(read(intent)).toEqual({ intents: intent });
  expect(read({ intent }, [{ name: "tier", value: "gold" }, { name: "level" }])).toEqual({
    intents: intent,
    options: { tier: "gold", level: "" },
  });
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
