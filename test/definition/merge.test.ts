import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { hideSecrets } from "../../emulator/objects/secrets.js";
import type { Definition } from "../../provider/definition/define.js";
import { defaultIn, wireName } from "../../provider/definition/fields.js";
import { sameFields, sameFieldsMeaning } from "../../provider/definition/meaning.js";
import { fieldsFromWire, fieldsToWire } from "../../provider/definition/wire.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { roleOf } from "../support/forms.js";
import { kinds } from "./support/every-field.js";
import { vendor } from "./support/own-forms.js";
import { anyValues } from "./support/values.js";
import { fieldsWithUnknown, secretPaths, written } from "./support/wire-values.js";

/** Entries of a map as they travel. */
const attributes = (values: Record<string, unknown>) =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

test("an empty value that the service shows for an absent one is not written back", () => {
  const live = {
    ...{ name: "app", description: "", active: null },
    roles: [roleOf("customer", { headers: [], authentication: null })],
  };
  const { body, undeclared } = written(clientApplication, live, { name: "app" });
  expect(body).toEqual({ name: "app", roles: [roleOf("customer")] });
  expect(undeclared).toEqual(["roles"]);
});

test("what the service fills into an object goes with the object", () => {
  const outbound = { richMessageTypes: ["form"] };
  const filled = { ...outbound, maxTextLength: 10_000, systemMessages: false, midChatAuth: false };
  const prior = { type: "t", restrictions: { outbound } };
  const live = { type: "t", restrictions: { outbound: filled } };
  expect(written(channel, live, { type: "t" }, prior).body).toEqual({ type: "t" });
  const byHand = { outbound: { ...filled, features: ["richText"] } };
  expect(
    written(channel, { type: "t", restrictions: byHand }, { type: "t" }, prior).body.restrictions,
  ).toEqual({ outbound: { ...filled, features: ["richText"], richMessageTypes: undefined } });
});

test("hand-set headers stay where they are shown, and are reported where they are hidden", () => {
  const app = (...roles: JsonObject[]) => ({ name: "app", description: "d", roles });
  const headers = (value?: string | null) => [{ name: "X-Key", value }];
  const desired = app(roleOf("custom_bot"), roleOf("acme_bot"));
  const shown = app(roleOf("acme_bot", { headers: headers("clear") }), roleOf("custom_bot"));
  expect(written(clientApplication, shown, desired, desired)).toEqual({
    body: app(roleOf("custom_bot"), roleOf("acme_bot", { headers: headers("clear") })),
    undeclared: ["roles[platform_bot].headers"],
    hidden: [],
  });
  for (const value of ["********", "", null, undefined]) {
    const live = app(roleOf("custom_bot", { headers: headers(value) }), roleOf("acme_bot"));
    const result = written(clientApplication, live, desired, desired, true);
    expect(result.hidden).toEqual(['roles[custom_bot].headers["X-Key"]']);
    expect(result.body).toEqual(desired);
  }
});

test("what is left of a member with hidden parts is written", () => {
  const live = {
    name: "a",
    attributes: [
      { name: "open", value: "shown" },
      { name: "key", value: "••••" },
    ],
  };
  const result = written(account, live, { name: "a" });
  expect(result).toEqual({
    body: { name: "a", attributes: [{ name: "open", value: "shown" }] },
    undeclared: ["attributes"],
    hidden: ["attributes.key"],
  });
  expect(written(account, live, { name: "a" }, {}, true)).toEqual({
    body: { name: "a" },
    undeclared: ["attributes"],
    hidden: [],
  });
});

test.each(["••••••", "XXXXXXXX", "----", "ab***yz", "[SECRET]", "string", "(not shown)"])(
  "%j in place of a secret is never written back",
  (shown) => {
    const { body, hidden } = written(
      account,
      { name: "a", attributes: attributes({ k: shown }) },
      { name: "a" },
    );
    expect(body).toEqual({ name: "a" });
    expect(hidden).toEqual(["attributes.k"]);
  },
);

test.each(["xx", "a*b", "secretary", "a.b-c"])("%j can be a secret", (shown) => {
  const live = { name: "a", attributes: attributes({ k: shown }) };
  expect(written(account, live, { name: "a" })).toMatchObject({ body: live, hidden: [] });
});

test("a required secret that is not shown is hidden, and what held it cannot stand", () => {
  const live = { name: "a", type: "basic", basicAuth: { username: "u" } };
  const result = written(authentication, live, { name: "a" });
  expect(result).toEqual({
    body: { name: "a", type: "basic" },
    undeclared: ["type", "basicAuth"],
    hidden: ["basicAuth.password"],
  });
});

/** Without the members that the rule of a kind makes exclude each other. */
const choices = ({ rule }: Definition): readonly string[] =>
  rule && "exactlyOne" in rule ? [rule.discriminator, ...Object.values(rule.exactlyOne)] : [];

describe.each(kinds)("$kind", (definition) => {
  const { fields, rule } = definition;
  const toWire = (values: JsonObject) => fieldsToWire(fields, values, vendor);
  const anyWire = anyValues(fields, rule).map(toWire);

  test("an object that is as the program wants it is written back whole, without unknown members at any depth", () => {
    fc.assert(
      fc.property(anyWire, (wire) => {
        const result = written(definition, fieldsWithUnknown(fields, wire), wire, wire);
        expect(result).toEqual({ body: wire, hidden: [], undeclared: [] });
      }),
    );
  });

  test("what the program wants wins over everything there, whatever it wanted before", () => {
    fc.assert(
      fc.property(anyWire, anyWire, anyWire, (there, desired, prior) => {
        const live = fieldsWithUnknown(fields, there);
        const { body } = written(definition, live, desired, prior);
        const [is, wanted] = [body, desired].map((wire) => fieldsFromWire(fields, wire, vendor));
        expect(sameFieldsMeaning(fields, is ?? {}, wanted ?? {})).toBe(true);
        expect(JSON.stringify(body)).not.toContain("x-kept");
        // A second PUT of the same changes nothing.
        expect(written(definition, body, desired, desired).body).toEqual(body);
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
        const { body, hidden, undeclared } = written(definition, live, declared, declared);
        const [is, was] = [body, wire].map((each) => fieldsFromWire(fields, each, vendor));
        expect(sameFields(fields, was ?? {}, is ?? {})).toBe(true);
        expect({ hidden, isUnknown: "x-kept" in body }).toEqual({ hidden: [], isUnknown: false });
        const names = Object.entries(fields)
          .filter(([name, field]) => {
            const onWire = wireName(name, field);
            // What is there by default goes without saying, as what is empty does.
            const isUsual = wire[onWire] === undefined || wire[onWire] === defaultIn(field);
            const isPlain = typeof wire[onWire] !== "object";
            return isPlain && !isUsual && declared[onWire] === undefined;
          })
          .map(([name]) => name);
        expect(undeclared).toEqual(expect.arrayContaining(names));
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
        expect(written(definition, wire, desired, wire).body).toEqual(desired);
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
          const { body, hidden } = written(definition, live, desired, desired);
          expect(JSON.stringify(body)).not.toContain("****");
          expect(body).toMatchObject(desired);
          if (way === "omit") return;
          const expected = secrets.flatMap(([name, field]) =>
            secretPaths(field, values[name], name),
          );
          expect([...hidden].sort()).toEqual(expected.sort());
          const kept = written(definition, live, desired, desired, true);
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
        const { body, hidden } = written(definition, live, wire, wire);
        expect(body).toEqual(wire);
        if (way !== "omit") expect(hidden).toEqual([]);
      }),
    );
  });
});
