import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { naturalKey } from "../../provider/definition/fields.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { changedAt } from "../support/json-places.js";
import { fieldCases, holds, samples } from "./field-cases.js";
import { kindOf, type Running, running, start } from "./running.js";

/** An object as the emulator keeps it. */
const stored = async (service: Running, kind: string, id: string): Promise<JsonObject> =>
  (await service.stored(kind)).find((each) => each.id === id) ?? {};

/** An object without what the service sets itself. */
const plain = ({ id, created, modified, ...rest }: JsonObject): JsonObject => rest;

/** An object of a service that answers in forms of its own, secrets echoed. */
const madeInOwnForms = async (kind: string, changes: JsonObject = {}, switches: object = {}) => {
  const service = await running({ switches: { forms: "own", secrets: "echo", ...switches } });
  const id = await service.make(kindOf(kind), changes);
  return { service, id, path: `/${kindOf(kind).collection}/${id}` };
};

test("optional lists and objects that are empty are left out, and only those", async () => {
  const { service, id } = await madeInOwnForms("Channel", {
    restrictions: { inbound: { features: [], attachmentPolicy: {} }, outbound: {} },
    extraList: [],
    extraObject: { empty: {}, full: 0 },
  });
  const channel = await service.given("Channel", id);
  expect(channel).not.toHaveProperty("restrictions");
  expect(channel).not.toHaveProperty("extraList");
  expect(channel.extraObject).toEqual({ full: 0 });
  const bot = await service.make(kindOf("Participant"), { intents: { intent: [] } });
  expect(await service.given("Participant", bot)).not.toHaveProperty("intents");
  const account = await service.make(kindOf("Account"), { chatConfigurations: {} });
  const { chatConfigurations } = await service.given("Account", account);
  expect(Object.values(chatConfigurations ?? {})).toEqual(Array(7).fill(null));
});

test("numbers are text, and numeric ids in a text are numbers", async () => {
  const chat = (entryPoint: string) => ({
    caseManagement: { sameCaseDuration: 1.5 },
    chatConfigurations: { timeout: 30, entryPoint: { id: entryPoint } },
  });
  const { service, id } = await madeInOwnForms("Account", chat("1007"));
  expect(await service.given("Account", id)).toMatchObject({
    caseManagement: { sameCaseDuration: "1.5" },
    chatConfigurations: { timeout: "30", entryPoint: { id: 1007 } },
  });
  for (const text of ["0", "-1"]) {
    const other = await service.make(kindOf("Account"), chat(text));
    const { chatConfigurations } = await service.given("Account", other);
    expect(chatConfigurations).toMatchObject({ entryPoint: { id: Number(text) } });
  }
  for (const text of ["main", "007", "1e3", " 1", "12345678901234567890", "1.5"]) {
    const other = await service.make(kindOf("Account"), chat(text));
    const { chatConfigurations } = await service.given("Account", other);
    expect(chatConfigurations).toMatchObject({ entryPoint: { id: text } });
  }
});

test.each([
  ["https://x.example.com", "https://x.example.com/"],
  ["https://x.example.com/", "https://x.example.com/"],
  ["https://x.example.com/a", "https://x.example.com/a/"],
  ["https://x.example.com/a?b=c/d#e", "https://x.example.com/a/?b=c/d#e"],
  ["https://x.example.com/a/?b", "https://x.example.com/a/?b"],
])("%s is given back as %s", async (tokenRequestUrl, expected) => {
  const { service, id } = await madeInOwnForms("Authentication", { oauth2: { tokenRequestUrl } });
  expect(await service.given("Authentication", id)).toMatchObject({
    oauth2: { tokenRequestUrl: expected },
  });
});

const role = {
  version: "v3",
  callback: "https://x.example.com",
  notificationEmail: "Ops@Example.com",
  headers: [
    { name: "X-B", value: "e\u0301\n" },
    { name: "X-A", value: "a" },
  ],
};

test("e-mail addresses are in lower case, text is NFC with CRLF, secrets are as they are", async () => {
  const { service, id } = await madeInOwnForms("ClientApplication", {
    description: "Cafe\u0301\nsecond\r\nthird",
    note: ["Cafe\u0301\n"],
    roles: [{ name: "customer", ...role }],
  });
  expect(await service.given("ClientApplication", id)).toMatchObject({
    description: "Café\r\nsecond\r\nthird",
    note: ["Café\r\n"],
    roles: [{ notificationEmail: "ops@example.com", headers: [{}, { value: "e\u0301\n" }] }],
  });
});

test("unordered lists, agents and entries are sorted, lists with an order are not", async () => {
  const { service, id } = await madeInOwnForms("Channel", {
    restrictions: { inbound: { features: ["typing_events", "attachments", "richText"] } },
    l10nProperties: [
      { language: "en-US", properties: [] },
      { language: "de-DE", properties: [] },
    ],
  });
  expect(await service.given("Channel", id)).toMatchObject({
    restrictions: { inbound: { features: ["attachments", "richText", "typing_events"] } },
    l10nProperties: [{ language: "de-DE" }, { language: "en-US" }],
  });
  const agents = [];
  for (let count = 0; count < 4; count += 1)
    agents.push({ id: await service.make(kindOf("ClientApplication")) });
  agents.sort((a, b) => (a.id < b.id ? 1 : -1));
  const flow = await service.make(kindOf("Orchestration"), {
    applications: { agentConfiguration: { agents } },
  });
  expect(await service.given("Orchestration", flow)).toMatchObject({
    applications: { agentConfiguration: { agents: [...agents].reverse() } },
  });
  const intent = ["b", "a"].map((value) => ({ value, displayValue: value }));
  const bot = await service.make(kindOf("Participant"), { intents: { intent } });
  expect(await service.given("Participant", bot)).toMatchObject({ intents: { intent } });
});

test("items of lists have an id more, unless they have one", async () => {
  const { service, id } = await madeInOwnForms("ClientApplication", {
    roles: [
      { name: "custom_bot", ...role },
      { name: "customer", ...role, id: "theirs" },
    ],
    extraList: [{ a: 1 }, { id: "theirs" }, "text"],
  });
  const headers = [
    { id: "item-1", name: "X-A" },
    { id: "item-2", name: "X-B" },
  ];
  expect(await service.given("ClientApplication", id)).toMatchObject({
    roles: [
      { id: "item-1", name: "custom_bot", headers },
      { id: "theirs", name: "customer", headers },
    ],
    extraList: [{ id: "item-1", a: 1 }, { id: "theirs" }, "text"],
  });
});

test("references have the name of their target as it is now, a channel its type", async () => {
  const { service, id } = await madeInOwnForms("Participant");
  const { application } = await stored(service, "Participant", id);
  const target = String((application as JsonObject).id);
  const path = `/clientapplications/${target}`;
  const before = await service.given("ClientApplication", target);
  expect((await service.given("Participant", id)).application).toEqual({
    id: target,
    name: before.name,
  });
  await service.call("PUT", path, { ...before, name: "Cafe\u0301" });
  expect((await service.given("Participant", id)).application).toEqual({
    id: target,
    name: "Caf\u00e9",
  });
  const channel = { id: await service.make(kindOf("Channel"), { type: "custom.web" }) };
  const account = await service.make(kindOf("Account"), { channel });
  expect((await service.given("Account", account)).channel).toEqual({
    ...channel,
    name: "custom.web",
  });
});

test("references in lists have names, a bare id has none", async () => {
  const { service, id } = await madeInOwnForms("Orchestration");
  const name = expect.stringMatching(/^orders-bot-\d+$/);
  const named = { id: expect.any(String), name };
  const { applications } = await service.given("Orchestration", id);
  expect(applications).toMatchObject({
    botConfiguration: {
      bots: [{ id: expect.any(String), participant: named, onEscalation: { agent: named } }],
    },
    customerConfiguration: { customer: named },
    agentConfiguration: { agents: [named] },
  });
});

test("a reference to what is not there has no name", async () => {
  const { service, id } = await madeInOwnForms(
    "Account",
    { channel: { id: "gone" } },
    { unknownReference: "accept" },
  );
  expect((await service.given("Account", id)).channel).toEqual({ id: "gone" });
});

test.each([
  [
    "mask",
    [
      { id: "item-1", name: "X-A", value: "********" },
      { id: "item-2", name: "X-B", value: "********" },
    ],
  ],
  [
    "omit",
    [
      { id: "item-1", name: "X-A" },
      { id: "item-2", name: "X-B" },
    ],
  ],
])("secrets stay hidden in the service's own forms: %s", async (secrets, headers) => {
  const { service, id } = await madeInOwnForms(
    "ClientApplication",
    { roles: [{ name: "customer", ...role }] },
    { secrets },
  );
  expect(await service.given("ClientApplication", id)).toMatchObject({ roles: [{ headers }] });
});

/** Bodies in the service's own forms, and what is kept of them. */
const accepted: readonly (readonly [string, JsonObject, JsonObject])[] = [
  [
    "Channel",
    { restrictions: { inbound: { maxTextLength: "500" } } },
    { restrictions: { inbound: { maxTextLength: 500 } } },
  ],
  [
    "Account",
    { chatConfigurations: { timeout: "1.5", entryPoint: { id: 1007 } } },
    { chatConfigurations: { timeout: 1.5, entryPoint: { id: "1007" } } },
  ],
  ["ClientApplication", { description: "a\r\nb" }, { description: "a\nb" }],
  [
    "Participant",
    { intents: { intent: [{ id: "item-1", value: "a", displayValue: "A" }] } },
    { intents: { intent: [{ value: "a", displayValue: "A" }] } },
  ],
  [
    "Participant",
    { options: [{ id: "item-1", name: "n", value: "v" }] },
    { options: [{ name: "n", value: "v" }] },
  ],
  [
    "Participant",
    { extraList: [{ id: "item-1", a: 1 }, { id: "theirs" }] },
    { extraList: [{ a: 1 }, { id: "theirs" }] },
  ],
];

test.each(accepted)("a %s may be written as %j", async (kind, sent, kept) => {
  const { service, id } = await madeInOwnForms(kind, sent);
  const object = await stored(service, kind, id);
  for (const [name, value] of Object.entries(kept)) expect(object[name]).toEqual(value);
});

test.each(accepted.slice(0, 2))(
  "in the forms given a %s may not be written as %j",
  async (kind, sent) => {
    const service = await running();
    const body = await service.body(kindOf(kind), sent);
    const { status, json } = await service.call("POST", `/${kindOf(kind).collection}`, body);
    expect({ status, code: json.code }).toEqual({ status: 400, code: "400-152" });
  },
);

test("null for an optional member takes it away, for a required one it is refused", async () => {
  for (const put of ["replace", "keep"]) {
    const { service, id, path } = await madeInOwnForms("Channel", {}, { put });
    const body = await service.given("Channel", id);
    const sent = { ...body, description: null, active: null };
    expect((await service.call("PUT", path, sent)).status).toBe(204);
    const { description, active } = await stored(service, "Channel", id);
    expect({ description, active }).toEqual({ description: undefined, active: true });
    expect((await service.call("PUT", path, { ...body, icon: null })).json.code).toBe("400-143");
    await service.control("PUT", "/switches", { forms: "given" });
    const refused = await service.call("PUT", path, {
      ...plain(await service.given("Channel", id)),
      description: null,
    });
    expect(refused).toMatchObject({ status: 400 });
  }
});

test("an expanded reference is kept as the id alone", async () => {
  const { service, path, id } = await madeInOwnForms("Participant");
  const body = await service.given("Participant", id);
  const before = await stored(service, "Participant", id);
  const application = { ...(body.application as object), name: "any other" };
  expect((await service.call("PUT", path, { ...body, application })).status).toBe(204);
  expect((await stored(service, "Participant", id)).application).toEqual(before.application);
});

test("a secret is kept as it is written", async () => {
  const basicAuth = { username: "u", password: "e\u0301\r\n" };
  const changes = { type: "basic", oauth2: undefined, basicAuth };
  const { service, id } = await madeInOwnForms("Authentication", changes);
  expect((await stored(service, "Authentication", id)).basicAuth).toEqual(basicAuth);
});

test("an id is kept that only looks like one of the service's for an item", async () => {
  const agents = [{ id: "item-1" }];
  const applications = { agentConfiguration: { agents } };
  const accept = { unknownReference: "accept" };
  const { service, id } = await madeInOwnForms("Orchestration", { applications }, accept);
  expect((await stored(service, "Orchestration", id)).applications).toEqual(applications);
});

const unheardOf = { list: [{ a: 1 }, { id: 5 }], none: [], text: "e\u0301\n" };
let serial = 0;

/** One service for every kind, and an object of each to refer to. */
let shared: Running;
const ids = new Map<string, string>();
beforeAll(async () => {
  shared = await start({ switches: { secrets: "echo" } });
  for (const definition of resources) ids.set(definition.kind, await shared.make(definition));
});
afterAll(() => shared[Symbol.asyncDispose]());

const turn = (switches: JsonObject) => shared.control("PUT", "/switches", switches);
beforeEach(() => turn({ forms: "own", unknownFields: "keep" }));

/** Complete bodies with members that nobody knows, and bodies with as little as is allowed. */
const bodiesOf = (definition: Definition): readonly JsonObject[] =>
  samples(definition, ids).flatMap((all) => {
    const { fields, rule } = definition;
    const variants = rule && "exactlyOne" in rule ? Object.values(rule.exactlyOne) : [];
    const required = Object.entries(fields)
      .filter(([name, field]) => field.required || variants.includes(name))
      .map(([name, field]) => field.wire ?? name);
    const least = Object.entries(all).filter(([name]) => required.includes(name));
    return [{ ...all, unheardOf }, Object.fromEntries(least)].map((body) => {
      serial += 1;
      return { ...body, [naturalKey(definition)]: `name-${serial}` };
    });
  });

const makeAll = async (definition: Definition): Promise<readonly string[]> => {
  const all: string[] = [];
  for (const body of bodiesOf(definition)) {
    const { json } = await shared.call("POST", `/${definition.collection}`, body);
    all.push(String(json.id));
  }
  return all;
};

/** The optional members that were never given and are not null, at every depth. */
const lacking = (fields: Fields, before: JsonObject, after: JsonObject, path = ""): string[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const wire = field.wire ?? name;
    if (before[wire] === undefined)
      return field.required || after[wire] === null ? [] : [path + wire];
    return lackingIn(field, before[wire], after[wire], path + wire);
  });

const lackingIn = (field: Field, before: unknown, after: unknown, path: string): string[] => {
  if (field.type === "object" && isObject(before) && isObject(after))
    return lacking(field.fields, before, after, `${path}.`);
  return field.type === "list" && Array.isArray(before) && Array.isArray(after)
    ? before.flatMap((item, place) => lackingIn(field.of, item, after[place], `${path}[]`))
    : [];
};

describe.each(resources.map((definition) => [definition.kind, definition] as const))(
  "%s",
  (kind, definition) => {
    test("given as it was, byte for byte, whatever the switch was meanwhile", async () => {
      await turn({ forms: "given" });
      for (const id of await makeAll(definition)) {
        const read = async () => (await shared.call("GET", `/${definition.collection}/${id}`)).text;
        const text = await read();
        expect(text).toBe(JSON.stringify(await stored(shared, kind, id)));
        await turn({ forms: "own" });
        expect(await read()).not.toBe(text);
        await turn({ forms: "given" });
        expect(await read()).toBe(text);
      }
    });

    test("every optional member that was not given is null, at every depth", async () => {
      for (const id of await makeAll(definition)) {
        const after = await shared.given(kind, id);
        expect(lacking(definition.fields, await stored(shared, kind, id), after)).toEqual([]);
      }
    });

    test.each(["keep", "refuse", "drop"] as const)(
      "with unknown members to %s, PUT takes what GET gave, and GET gives it again",
      async (unknownFields) => {
        for (const id of await makeAll(definition)) {
          const { unheardOf: unknown, ...known } = await shared.given(kind, id);
          const sent =
            unknownFields === "keep" && unknown ? { ...known, unheardOf: unknown } : known;
          await turn({ unknownFields });
          const reply = await shared.call("PUT", `/${definition.collection}/${id}`, sent);
          expect({ status: reply.status, text: reply.text }).toEqual({ status: 204, text: "" });
          expect(plain(await shared.given(kind, id))).toEqual(plain(sent));
          const kept = JSON.stringify(await stored(shared, kind, id));
          expect(kept).not.toMatch(/null|"item-\d+"|\\r/);
        }
      },
    );

    test("what is wrong in either form is refused", async () => {
      const bothWays = ['"5" for number', "5 for string"];
      for (const base of samples(definition, ids)) {
        const wrong = fieldCases(definition.fields, [], ids)
          .filter(({ code, value, place }) => code && value !== null && holds(base, place))
          .filter(({ label, key }) => !bothWays.includes(label) || key === "name");
        expect(wrong.length).toBeGreaterThan(15);
        const replies = await Promise.all(
          wrong.map(async ({ place, value, key, label }) => {
            const body = changedAt(base, place, value);
            const { status } = await shared.call("POST", `/${definition.collection}`, body);
            return { key, label, status };
          }),
        );
        expect(replies.filter(({ status }) => status !== 400)).toEqual([]);
      }
    });
  },
);

test("whatever is taken is given back in a form that is taken again, and comes back the same", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...resources),
      fc.jsonValue({ maxDepth: 3 }),
      fc.string({ unit: "grapheme", minLength: 1, maxLength: 30 }),
      async (definition, unknown, description) => {
        const [body] = bodiesOf(definition);
        const path = `/${definition.collection}`;
        const all = { ...body, unheardOf: unknown, description };
        const { status, json } = await shared.call("POST", path, all);
        expect(status).toBe(201);
        const before = await shared.given(definition.kind, String(json.id));
        expect((await shared.call("PUT", `${path}/${json.id}`, before)).status).toBe(204);
        const after = await shared.given(definition.kind, String(json.id));
        expect(plain(after)).toEqual(plain(before));
        await shared.call("DELETE", `${path}/${json.id}`);
      },
    ),
    { numRuns: 80 },
  );
});
