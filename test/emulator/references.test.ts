import { afterAll, beforeAll, expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { kindOf, type Running, running, start } from "./running.js";

const unknown = { id: "00000000-0000-4000-8000-000000000000" };

let service: Running;
let application: { id: string };
let participant: { id: string };
let channel: { id: string };
beforeAll(async () => {
  service = await start();
  application = { id: await service.make(kindOf("ClientApplication")) };
  participant = { id: await service.make(kindOf("Participant"), { application }) };
  channel = { id: await service.make(kindOf("Channel")) };
});
afterAll(() => service[Symbol.asyncDispose]());

const role = (authentication: object) => ({
  name: "customer",
  version: "v3",
  callback: "https://x.example.com",
  notificationEmail: "a@example.com",
  authentication,
});
const bots = (changes: object) => ({
  applications: { botConfiguration: { bots: [{ ...application, participant, ...changes }] } },
});

/** Every reference of the reference graph, given the id of the wrong object. */
const references: readonly (readonly [
  kind: string,
  key: string,
  changes: (wrong: { id: string }) => JsonObject,
])[] = [
  ["ClientApplication", "roles[0].authentication.id", (wrong) => ({ roles: [role(wrong)] })],
  ["Participant", "application.id", (wrong) => ({ application: wrong })],
  ["Orchestration", "applications.botConfiguration.bots[0].id", (wrong) => bots(wrong)],
  [
    "Orchestration",
    "applications.botConfiguration.bots[0].participant.id",
    (wrong) => bots({ participant: wrong }),
  ],
  [
    "Orchestration",
    "applications.botConfiguration.bots[0].onEscalation.agent.id",
    (wrong) => bots({ onEscalation: { agent: wrong } }),
  ],
  [
    "Orchestration",
    "applications.customerConfiguration.customer.id",
    (wrong) => ({
      applications: {
        agentConfiguration: { agents: [application] },
        customerConfiguration: { customer: wrong },
      },
    }),
  ],
  [
    "Orchestration",
    "applications.agentConfiguration.agents[1].id",
    (wrong) => ({ applications: { agentConfiguration: { agents: [application, wrong] } } }),
  ],
  ["Account", "channel.id", (wrong) => ({ channel: wrong })],
  [
    "Account",
    "chatConfigurations.orchestration.id",
    (wrong) => ({ chatConfigurations: { orchestration: wrong } }),
  ],
];

const post = async (kind: string, changes: JsonObject, at = service) =>
  at.call("POST", `/${kindOf(kind).collection}`, await at.body(kindOf(kind), changes));

test.each(references)("%s: an unknown %s is refused and named", async (kind, key, changes) => {
  const { status, json } = await post(kind, changes(unknown));
  expect({ status, code: json.code, details: json.details }).toMatchObject({
    status: 400,
    code: "400-152",
    details: [{ key }],
  });
});

test.each(references)(
  "%s: an object of another kind as %s is refused",
  async (kind, key, changes) => {
    const other = key === "channel.id" ? application : channel;
    expect((await post(kind, changes(other))).json).toMatchObject({
      code: "400-152",
      details: [{ key }],
    });
  },
);

test.each(references)(
  "%s: PUT refuses an unknown %s, too, and changes nothing",
  async (kind, _, changes) => {
    const path = `/${kindOf(kind).collection}/${await service.make(kindOf(kind))}`;
    const before = (await service.call("GET", path)).text;
    const body = await service.body(kindOf(kind), changes(unknown));
    expect((await service.call("PUT", path, body)).status).toBe(400);
    expect((await service.call("GET", path)).text).toBe(before);
  },
);

test("unknownReference accept takes any id", async () => {
  const own = await running({ switches: { unknownReference: "accept" } });
  expect((await post("Account", { channel: unknown }, own)).status).toBe(201);
});

test("the entry point is another product's object and is not looked up", async () => {
  const chatConfigurations = { entryPoint: { id: "4711" } };
  expect((await post("Account", { chatConfigurations })).status).toBe(201);
});

test("a reference is case sensitive and stands for itself only", async () => {
  const upper = { id: channel.id.toUpperCase() };
  const expected = upper.id === channel.id ? 201 : 400;
  expect((await post("Account", { channel: upper })).status).toBe(expected);
});
