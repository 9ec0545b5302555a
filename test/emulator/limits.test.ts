import { afterAll, beforeAll, expect, test } from "vitest";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { kindOf, type Running, start } from "./running.js";

let service: Running;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service[Symbol.asyncDispose]());

/** @param changes those of `chat` are made inside the account's settings for conversations */
const post = async (kind: string, { chat, ...changes }: JsonObject) => {
  const body = await service.body(kindOf(kind), changes);
  const { chatConfigurations } = body;
  const changed = isObject(chatConfigurations) && isObject(chat);
  return service.call("POST", `/${kindOf(kind).collection}`, {
    ...body,
    ...(changed ? { chatConfigurations: { ...chatConfigurations, ...chat } } : {}),
  });
};

const role = (name: string, changes: JsonObject = {}): JsonObject => ({
  name,
  version: "v3",
  callback: "https://bot.example.com/",
  notificationEmail: "ops@example.com",
  ...changes,
});
const chat = (changes: JsonObject): JsonObject => ({ chat: changes });
const inbound = (changes: JsonObject) => ({ restrictions: { inbound: changes } });

/** What `vendor-facts.test.ts` does not try: types, formats, repeats, and members missing inside. */
test.each<[string, JsonObject, number]>([
  ["Authentication", { active: "yes" }, 400],
  ["ClientApplication", { roles: [role("customer"), role("customer")] }, 400],
  ["ClientApplication", { roles: [role("customer", { version: "v1" })] }, 201],
  ["ClientApplication", { roles: [role("customer", { callback: "not an address" })] }, 400],
  ["ClientApplication", { roles: [role("customer", { callback: "ftp://x.example.com" })] }, 400],
  ["ClientApplication", { roles: [role("customer", { notificationEmail: "ops" })] }, 400],
  ["ClientApplication", { roles: [role("customer", { headers: [{ name: "X-A" }] })] }, 400],
  ["ClientApplication", { roles: [role("customer", { headers: [{ value: "a" }] })] }, 400],
  ["ClientApplication", { roles: [role("customer", { authentication: {} })] }, 400],
  ["Participant", { application: "8a7d1c02-3f55-4f0a-9d7e-2b6c9e1f4a21" }, 400],
  ["Participant", { intents: {} }, 400],
  ["Channel", { icon: "no base64!" }, 400],
  ["Channel", inbound({ maxTextLength: "140" }), 400],
  ["Channel", inbound({ features: "attachments" }), 400],
  ["Orchestration", { applications: {} }, 400],
  ["Orchestration", { applications: { customerConfiguration: null } }, 400],
  ["Orchestration", { applications: { botConfiguration: {} } }, 400],
  ["Account", { channel: {} }, 400],
  ["Account", chat({ timeout: "30" }), 400],
  ["Account", chat({ entryPoint: "1007" }), 400],
  ["Account", chat({}), 201],
])("%s with %j is answered with %d", async (kind, changes, status) => {
  const reply = await post(kind, changes);
  expect(reply.status).toBe(status);
  expect(reply.json.code ?? "").toMatch(status === 201 ? /^$/ : /^400-(143|138|196|358)$/);
});

const required = {
  Authentication: ["name", "type", "oauth2"],
  ClientApplication: ["name", "roles"],
  Participant: ["name", "type", "application"],
  Channel: ["type", "displayName", "icon"],
  Orchestration: ["name", "applications"],
  Account: ["name", "address", "channel", "chatConfigurations"],
};

test.each(
  Object.entries(required).flatMap(([kind, all]) => all.map((name) => [kind, name] as const)),
)("%s without %s is answered with 400-143 that names it", async (kind, name) => {
  const { status, json, headers } = await post(kind, { [name]: undefined });
  expect(status).toBe(400);
  expect(headers["content-type"]).toBe("application/json");
  const rule = "a required attribute is missing";
  expect(json).toEqual({
    code: "400-143",
    developerMessage: `${name}: ${rule}.`,
    details: [{ key: name, value: rule }],
  });
});

test.each(["basic", "oauth2"])(
  "null for the credentials of %s is a missing member",
  async (type) => {
    const changes = { type, oauth2: undefined, [type === "basic" ? "basicAuth" : "oauth2"]: null };
    expect(await post("Authentication", changes)).toMatchObject({
      status: 400,
      json: { code: "400-143", details: [{ value: "a required attribute is missing" }] },
    });
  },
);

test("credentials of the method that was not chosen are refused", async () => {
  const basicAuth = { username: "u", password: "p" };
  expect((await post("Authentication", { basicAuth })).json.code).toBe("400-420");
  const basic = { type: "basic", basicAuth, oauth2: undefined };
  expect((await post("Authentication", basic)).status).toBe(201);
  expect(
    (await post("Authentication", { ...basic, basicAuth: { username: "u" } })).json.details,
  ).toEqual([{ key: "basicAuth.password", value: "a required attribute is missing" }]);
});

test("everything that is wrong is listed, at most 30 of them", async () => {
  const { json } = await post("Participant", {
    name: 5,
    type: "nobody",
    options: Array.from({ length: 25 }, () => ({ name: "", value: 5 })),
  });
  expect(json.details).toHaveLength(30);
  expect(String(json.developerMessage).length).toBeLessThanOrEqual(255);
});

test("active is true where it is left out", async () => {
  const { json } = await post("Channel", { active: undefined });
  expect((await service.call("GET", `/channels/${json.id}`)).json.active).toBe(true);
});

test("id, created and modified of a body are the service's own affair", async () => {
  const own = {
    id: "mine",
    created: "2001-01-01T00:00:00.000Z",
    modified: "2001-01-01T00:00:00.000Z",
  };
  const { json } = await post("Channel", own);
  const { json: read } = await service.call("GET", `/channels/${json.id}`);
  for (const [name, value] of Object.entries(own)) expect(read[name]).not.toBe(value);
});

test("the vendor's own word stands for platform", async () => {
  await service.control("PUT", "/switches", { platformName: "acme" });
  expect((await post("Participant", { type: "platform_bot" })).json.code).toBe("400-196");
  expect((await post("Participant", { type: "acme_bot" })).status).toBe(201);
  await service.control("PUT", "/switches", { platformName: "platform" });
});
