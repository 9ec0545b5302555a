import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { kindOf } from "./running.js";
import { given, madeInOwnForms, stored } from "./stored-and-given.js";

test("optional lists and objects that are empty are left out, and only those", async () => {
  const { service, id } = await madeInOwnForms("Channel", {
    restrictions: { inbound: { features: [], attachmentPolicy: {} }, outbound: {} },
    extraList: [],
    extraObject: { empty: {}, full: 0 },
  });
  const channel = await given(service, "Channel", id);
  expect(channel).not.toHaveProperty("restrictions");
  expect(channel).not.toHaveProperty("extraList");
  expect(channel.extraObject).toEqual({ full: 0 });
  const bot = await service.make(kindOf("Participant"), { intents: { intent: [] } });
  expect(await given(service, "Participant", bot)).not.toHaveProperty("intents");
  const account = await service.make(kindOf("Account"), { chatConfigurations: {} });
  const { chatConfigurations } = await given(service, "Account", account);
  expect(Object.values(chatConfigurations ?? {})).toEqual(Array(7).fill(null));
});

test("numbers are text, and numeric ids in a text are numbers", async () => {
  const chat = (entryPoint: string) => ({
    caseManagement: { sameCaseDuration: 1.5 },
    chatConfigurations: { timeout: 30, entryPoint: { id: entryPoint } },
  });
  const { service, id } = await madeInOwnForms("Account", chat("1007"));
  expect(await given(service, "Account", id)).toMatchObject({
    caseManagement: { sameCaseDuration: "1.5" },
    chatConfigurations: { timeout: "30", entryPoint: { id: 1007 } },
  });
  for (const text of ["0", "-1"]) {
    const other = await service.make(kindOf("Account"), chat(text));
    const { chatConfigurations } = await given(service, "Account", other);
    expect(chatConfigurations).toMatchObject({ entryPoint: { id: Number(text) } });
  }
  for (const text of ["main", "007", "1e3", " 1", "12345678901234567890", "1.5"]) {
    const other = await service.make(kindOf("Account"), chat(text));
    const { chatConfigurations } = await given(service, "Account", other);
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
  expect(await given(service, "Authentication", id)).toMatchObject({
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
  expect(await given(service, "ClientApplication", id)).toMatchObject({
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
  expect(await given(service, "Channel", id)).toMatchObject({
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
  expect(await given(service, "Orchestration", flow)).toMatchObject({
    applications: { agentConfiguration: { agents: [...agents].reverse() } },
  });
  const intent = ["b", "a"].map((value) => ({ value, displayValue: value }));
  const bot = await service.make(kindOf("Participant"), { intents: { intent } });
  expect(await given(service, "Participant", bot)).toMatchObject({ intents: { intent } });
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
  expect(await given(service, "ClientApplication", id)).toMatchObject({
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
  const before = await given(service, "ClientApplication", target);
  expect((await given(service, "Participant", id)).application).toEqual({
    id: target,
    name: before.name,
  });
  await service.call("PUT", path, { ...before, name: "Cafe\u0301" });
  expect((await given(service, "Participant", id)).application).toEqual({
    id: target,
    name: "Caf\u00e9",
  });
  const channel = { id: await service.make(kindOf("Channel"), { type: "custom.web" }) };
  const account = await service.make(kindOf("Account"), { channel });
  expect((await given(service, "Account", account)).channel).toEqual({
    ...channel,
    name: "custom.web",
  });
});

test("references in lists have names, a bare id has none", async () => {
  const { service, id } = await madeInOwnForms("Orchestration");
  const name = expect.stringMatching(/^orders-bot-\d+$/);
  const named = { id: expect.any(String), name };
  const { applications } = await given(service, "Orchestration", id);
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
  expect((await given(service, "Account", id)).channel).toEqual({ id: "gone" });
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
  expect(await given(service, "ClientApplication", id)).toMatchObject({ roles: [{ headers }] });
});
