import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";
import { attributes, merge, role } from "./support/merging.js";

test("a member that leaves an object of `extra` goes, its siblings stay", () => {
  const live = { type: "t", a: { b: 1, c: 2, d: 3 } };
  const { body, undeclared } = merge(
    channel,
    live,
    { type: "t", a: { b: 1 } },
    { type: "t", a: { b: 1, c: 2 } },
  );
  expect(body).toEqual({ type: "t", a: { b: 1, d: 3 } });
  expect(undeclared).toEqual(["a.d"]);
});

test("a whole object that leaves `extra` goes, but for what was never the program's", () => {
  const prior = { type: "t", a: { b: 1, c: { e: 1 } }, list: [1], word: "x" };
  const desired = { type: "t" };
  expect(merge(channel, { ...prior }, desired, prior).body).toEqual(desired);
  const live = { ...prior, a: { b: 1, c: { e: 1, f: 2 } } };
  expect(merge(channel, live, desired, prior).body).toEqual({ type: "t", a: { c: { f: 2 } } });
});

test("a list of `extra` stays as the service tells it where that means the same, else is replaced", () => {
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

test("an entry point that is another one does not keep what was told of the last", () => {
  const at = (entryPoint: JsonObject) => ({ name: "a", chatConfigurations: { entryPoint } });
  const live = at({ id: 1007, name: "main" });
  expect(merge(account, live, at({ id: "1007" })).body).toEqual(at({ id: "1007", name: "main" }));
  expect(merge(account, live, at({ id: "1008" })).body).toEqual(at({ id: "1008" }));
});

test("the method that the program chose displaces the other, hidden secrets and all", () => {
  const live = { name: "a", type: "basic", basicAuth: { username: "u", password: "***" } };
  const desired = { name: "a", type: "oauth2", oauth2: { method: "POST" } };
  expect(merge(authentication, live, desired)).toEqual({
    body: desired,
    undeclared: [],
    hidden: [],
  });
});

test("odd JSON in place of what a field expects gives way to what the program wants", () => {
  const desired = { name: "app", roles: [role("custom_bot", { headers: attributes({ a: "1" }) })] };
  for (const roles of [
    null,
    5,
    "x",
    {},
    [null, 5, {}],
    [{ name: {} }],
    [{ name: "custom_bot", headers: 5 }],
  ]) {
    expect(merge(clientApplication, { name: "app", roles }, desired, desired).body).toEqual(
      desired,
    );
  }
});
