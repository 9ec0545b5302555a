import { describe, expect, test } from "vitest";
import type { Definition } from "../../provider/definition/define.js";
import { mergeFields } from "../../provider/definition/merge.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";
import { frozen } from "./support/wire-values.js";

/** A merge whose sides cannot be changed by it. */
const merge = (
  { fields, rule }: Definition,
  live: JsonObject,
  desired: JsonObject,
  prior: JsonObject = {},
  keeps = false,
) => mergeFields({ fields, rule, ...frozen({ live, desired, prior }), keeps });

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

test("a whole object that leaves `extra` goes, but for what was never the program's", () => {
  const prior = { type: "t", a: { b: 1, c: { e: 1 } }, list: [1], word: "x" };
  const desired = { type: "t" };
  expect(merge(channel, { ...prior }, desired, prior).body).toEqual(desired);
  const live = { ...prior, a: { b: 1, c: { e: 1, f: 2 } } };
  expect(merge(channel, live, desired, prior).body).toEqual({ type: "t", a: { c: { f: 2 } } });
});

test("a list of `extra` stays as the service gives it if that means the same, else is replaced", () => {
  const live = { type: "t", tags: [{ name: "a", id: 7 }, null] };
  const same = { type: "t", tags: [{ name: "a", note: null }, null] };
  const other = { type: "t", tags: [{ name: "b" }] };
  expect(merge(channel, live, same, same).body).toEqual(live);
  expect(merge(channel, live, other, same).body).toEqual(other);
});

test("names that objects inherit are members like any other, and none leads to a prototype", () => {
  const live = JSON.parse(
    '{"type":"t","constructor":1,"toString":{"a":1},"__proto__":{"polluted":true},"a":{"__proto__":{"polluted":true},"b":1}}',
  ) as JsonObject;
  const { body, undeclared } = merge(channel, live, { type: "t", a: { c: 2 } }, { type: "t" });
  expect(JSON.stringify(body)).not.toContain("polluted");
  expect(body).toEqual({ type: "t", constructor: 1, toString: { a: 1 }, a: { b: 1, c: 2 } });
  expect(undeclared).toEqual(["constructor", "toString", "a.b"]);
  expect(({} as JsonObject).polluted).toBeUndefined();
});

test("items keep their own unknown members when they move, come and go", () => {
  const live = {
    name: "p",
    intents: {
      intent: [
        { value: "a", displayValue: "A", color: "red" },
        { value: "b", displayValue: "B", color: "blue" },
        { value: "c", displayValue: "C", color: "green" },
      ],
      page: 1,
    },
  };
  const desired = {
    name: "p",
    intents: {
      intent: [
        { value: "c", displayValue: "C" },
        { value: "n", displayValue: "N" },
        { value: "a", displayValue: "new" },
      ],
    },
  };
  expect(merge(participant, live, desired, desired).body).toEqual({
    name: "p",
    intents: {
      intent: [
        { value: "c", displayValue: "C", color: "green" },
        { value: "n", displayValue: "N" },
        { value: "a", displayValue: "new", color: "red" },
      ],
      page: 1,
    },
  });
});

test("entries of maps keep their unknown members, inner maps too", () => {
  const live = {
    type: "t",
    l10nProperties: [
      { language: "en", checked: true, properties: [{ name: "hi", value: "Hi", by: "Ann" }] },
      { language: "de", checked: true, properties: [] },
    ],
  };
  const desired = {
    type: "t",
    l10nProperties: [
      {
        language: "en",
        properties: [
          { name: "hi", value: "Hello" },
          { name: "x", value: "X" },
        ],
      },
    ],
  };
  const { body, undeclared } = merge(channel, live, desired, desired);
  expect(body.l10nProperties).toEqual([
    {
      language: "en",
      checked: true,
      properties: [
        { name: "hi", value: "Hello", by: "Ann" },
        { name: "x", value: "X" },
      ],
    },
  ]);
  expect(undeclared).toEqual(["l10nProperties.en.checked", "l10nProperties.en.hi.by"]);
});

test("references that the service expands stay whole, until they point elsewhere", () => {
  const bot = (app: string, who: unknown, more = {}) => ({ id: app, participant: who, ...more });
  const applications = (bots: unknown[], agents: unknown[]) => ({
    name: "o",
    applications: { botConfiguration: { bots }, agentConfiguration: { agents } },
  });
  const live = applications(
    [
      bot("A", { id: "P", name: "first", type: "custom_bot" }, { rank: 1 }),
      bot("A", { id: 7, name: "second" }, { rank: 2 }),
    ],
    [{ id: "X", name: "agent" }, { id: "Y" }],
  );
  const desired = applications(
    [bot("B", { id: "7" }), bot("A", { id: "P" }), bot("A", { id: "Q" })],
    [{ id: "Z" }, { id: "X" }],
  );
  expect(merge(orchestration, live, desired, desired).body).toEqual(
    applications(
      [
        bot("B", { id: "7", name: "second" }, { rank: 2 }),
        bot("A", { id: "P", name: "first", type: "custom_bot" }, { rank: 1 }),
        bot("A", { id: "Q" }),
      ],
      [{ id: "Z" }, { id: "X", name: "agent" }],
    ),
  );
});

test("an entry point that is another one does not keep what was said of the last", () => {
  const at = (entryPoint: JsonObject) => ({ name: "a", chatConfigurations: { entryPoint } });
  const live = at({ id: 1007, name: "main" });
  expect(merge(account, live, at({ id: "1007" })).body).toEqual(at({ id: "1007", name: "main" }));
  expect(merge(account, live, at({ id: "1008" })).body).toEqual(at({ id: "1008" }));
});

test("hand-set headers stay where they are shown, and are reported where they are hidden", () => {
  const app = (...roles: JsonObject[]) => ({ name: "app", description: "d", roles });
  const headers = (value?: string | null) => [{ name: "X-Key", value, order: 1 }];
  const desired = app(role("custom_bot"), role("acme_bot"));
  const shown = app(role("acme_bot", { headers: headers("clear") }), role("custom_bot"));
  expect(merge(clientApplication, shown, desired, desired)).toEqual({
    body: app(role("custom_bot"), role("acme_bot", { headers: headers("clear") })),
    undeclared: ["roles[platform_bot].headers"],
    hidden: [],
  });
  for (const value of ["********", "", null, undefined]) {
    const live = app(role("custom_bot", { headers: headers(value) }), role("acme_bot"));
    const result = merge(clientApplication, live, desired, desired, true);
    expect(result.hidden).toEqual(['roles[custom_bot].headers["X-Key"]']);
    expect(result.body).toEqual(desired);
  }
});

test("what is left of a member with hidden parts is written", () => {
  const live = {
    name: "a",
    attributes: [
      { name: "open", value: "shown" },
      { name: "key", value: "••••", order: 1 },
    ],
  };
  const result = merge(account, live, { name: "a" });
  expect(result).toEqual({
    body: { name: "a", attributes: [{ name: "open", value: "shown" }] },
    undeclared: ["attributes"],
    hidden: ["attributes.key"],
  });
  expect(merge(account, live, { name: "a" }, {}, true)).toEqual({
    body: { name: "a" },
    undeclared: ["attributes"],
    hidden: [],
  });
});

test.each([
  "*",
  "••••••",
  "●●●",
  "xxx",
  "XXXXXXXX",
  "xxxx-xxxx-xxxx",
  "----",
  "...",
  "###",
  "ab***yz",
  "sk-••••",
  "[hidden]",
  "[SECRET]",
  "<redacted>",
  "REDACTED",
  "masked",
  "Hidden",
  "secret",
  "string",
  "(masked)",
  "[FILTERED]",
  "PROTECTED",
  "<encrypted>",
  "(sensitive)",
  "**REMOVED**",
  "ENCRYPTED",
  "(not shown)",
  "<value hidden>",
])("%j in place of a secret is never written back", (shown) => {
  const { body, hidden } = merge(
    account,
    { name: "a", attributes: attributes({ k: shown }) },
    { name: "a" },
  );
  expect(body).toEqual({ name: "a" });
  expect(hidden).toEqual(["attributes.k"]);
});

test.each([
  "x",
  "xx",
  "X",
  "a*b",
  "hidden door",
  "secretary",
  "strings attached",
  "s3cret",
  "0",
  "a.b-c",
  "**a",
])("%j can be a secret", (shown) => {
  const live = { name: "a", attributes: attributes({ k: shown }) };
  expect(merge(account, live, { name: "a" })).toMatchObject({ body: live, hidden: [] });
});

const token = (payload: unknown, headers: Record<string, unknown>) => ({
  name: "a",
  type: "oauth2",
  oauth2: { headers: attributes(headers), ...(payload === undefined ? {} : { payload }) },
});
const onlyPayload = (payload: string) => ({ name: "a", type: "oauth2", oauth2: { payload } });

test("a service that shows a known secret as it is hides nothing", () => {
  const live = token("known", { a: "hidden", b: "***", c: "" });
  const result = merge(authentication, live, onlyPayload("new"), onlyPayload("known"));
  expect(result.hidden).toEqual([]);
  expect(result.body).toEqual(token("new", { a: "hidden", b: "***", c: "" }));
  const json = token('{"b":2,"a":1}', { a: "hidden" });
  expect(
    merge(authentication, json, onlyPayload("new"), onlyPayload('{"a":1,"b":2}')).hidden,
  ).toEqual([]);
});

test("what a service shows in place of a known secret is a mask elsewhere, too", () => {
  const live = { ...token("TOP", { a: "TOP", b: "clear" }), unknown: "TOP" };
  const { body, hidden } = merge(authentication, live, onlyPayload("known"), onlyPayload("known"));
  expect(hidden).toEqual(["oauth2.headers.a", "unknown"]);
  expect(body).toEqual(token("known", { b: "clear" }));
});

test("secrets that are shown unlike each other are no mask", () => {
  const live = token("changed", { a: "also changed", b: "changed", c: "also changed" });
  const { hidden } = merge(authentication, live, token("p", { a: "1" }), token("p", { a: "1" }));
  expect(hidden).toEqual([]);
  const alike = token("changed", { a: "changed", b: "changed", c: "also changed" });
  expect(merge(authentication, alike, onlyPayload("p"), token("p", { a: "1" })).hidden).toEqual([]);
  const desired = { name: "a", type: "oauth2", oauth2: { payload: "p", method: "POST" } };
  expect(merge(authentication, alike, desired, desired).hidden).toEqual([
    "oauth2.headers.a",
    "oauth2.headers.b",
  ]);
});

test("a required secret that is not shown is hidden, and what held it cannot stand", () => {
  const live = { name: "a", type: "basic", basicAuth: { username: "u" } };
  const result = merge(authentication, live, { name: "a" });
  expect(result).toEqual({
    body: { name: "a", type: "basic" },
    undeclared: ["type", "basicAuth"],
    hidden: ["basicAuth.password"],
  });
});

test("what surely is a mask is not written back where no field knows it, either", () => {
  const live = {
    name: "a",
    vault: { key: "********", url: "x" },
    keys: ["****1234"],
    note: "a *** b",
  };
  const result = merge(account, live, { name: "a" });
  expect(result.hidden).toEqual(["vault.key", "keys[0]"]);
  expect(result.body).toEqual({ name: "a", vault: { url: "x" }, note: "a *** b" });
});

describe("items of a list in extra", () => {
  const live = {
    rules: [
      { a: 1, id: "r1", by: "person" },
      { a: 2, id: "r2" },
    ],
  };
  const prior = { rules: [{ a: 1 }, { a: 2 }] };

  test.each([
    ["one changes", [{ a: 1 }, { a: 3 }], [live.rules[0], { a: 3 }]],
    ["one goes", [{ a: 2 }], [live.rules[1]]],
    ["one comes first", [{ a: 0 }, { a: 1 }, { a: 2 }], [{ a: 0 }, ...live.rules]],
  ])("that did not change keep what the service has beside: %s", (_, rules, written) => {
    expect(merge(channel, live, { rules }, prior).body.rules).toEqual(written);
  });
});

test("a mask inside an expanded reference is not written back", () => {
  const role = { name: "customer", version: "v3", callback: "https://x.example.com/" };
  const expanded = { id: "a1", name: "auth", basicAuth: { username: "u", password: "••••••" } };
  const roles = [{ ...role, authentication: { id: "a1" } }];
  const live = { roles: [{ ...role, authentication: expanded }] };
  const { body, hidden } = merge(clientApplication, live, { roles }, { roles });
  expect(JSON.stringify(body)).not.toContain("•");
  expect(JSON.stringify(body)).toContain(`"username":"u"`);
  expect(hidden).toEqual([]);
});
