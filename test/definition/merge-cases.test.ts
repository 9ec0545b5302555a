import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { written } from "./support/wire-values.js";

/** A role of a client application, complete. */
const role = (name: string, more: JsonObject = {}) => ({
  name,
  version: "v3",
  callback: `https://${name}.example.com`,
  notificationEmail: "a@b.example",
  ...more,
});

/** Entries of a map as they travel. */
const attributes = (values: Record<string, unknown>) =>
  Object.entries(values).map(([name, value]) => ({ name, value }));

test("an empty value that the service shows for an absent one is not written back", () => {
  const live = {
    ...{ name: "app", description: "", active: null },
    roles: [role("customer", { headers: [], authentication: null })],
  };
  const { body, undeclared } = written(clientApplication, live, { name: "app" });
  expect(body).toEqual({ name: "app", roles: [role("customer")] });
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
  const desired = app(role("custom_bot"), role("acme_bot"));
  const shown = app(role("acme_bot", { headers: headers("clear") }), role("custom_bot"));
  expect(written(clientApplication, shown, desired, desired)).toEqual({
    body: app(role("custom_bot"), role("acme_bot", { headers: headers("clear") })),
    undeclared: ["roles[platform_bot].headers"],
    hidden: [],
  });
  for (const value of ["********", "", null, undefined]) {
    const live = app(role("custom_bot", { headers: headers(value) }), role("acme_bot"));
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
