import { expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { kindOf, type Running, running } from "./running.js";

const channel = kindOf("Channel");
const minimal = { type: "custom.minimal", displayName: "Minimal", icon: "QUJD" };

const made = async (options = {}) => {
  const service = await running(options);
  const id = await service.make(channel);
  return { service, path: `/channels/${id}` };
};

const read = async (service: Running, path: string) => (await service.call("GET", path)).json;

test.each(resources.map(({ kind }) => kind))(
  "PUT of a %s takes its own body back: 204, no body",
  async (kind) => {
    const service = await running({ switches: { secrets: "echo" } });
    const { collection } = kindOf(kind);
    const path = `/${collection}/${await service.make(kindOf(kind))}`;
    const before = await read(service, path);
    const { id: _, created: __, ...body } = before;
    service.emulator.advance(1000);
    const reply = await service.call("PUT", path, body);
    expect({ status: reply.status, text: reply.text }).toEqual({ status: 204, text: "" });
    const after = await read(service, path);
    expect(after).toEqual({ ...before, modified: after.modified });
    expect(Date.parse(String(after.modified)) - Date.parse(String(before.modified))).toBe(1000);
  },
);

test("PUT replaces: what it does not name goes, defaults come back", async () => {
  const { service, path } = await made();
  await service.call("PUT", path, minimal);
  const { id, created, modified, ...rest } = await read(service, path);
  expect(rest).toEqual({ ...minimal, active: true });
});

test("with put keep, what it does not name stays", async () => {
  const { service, path } = await made({ switches: { put: "keep" } });
  const before = await read(service, path);
  const changes = { type: before.type, displayName: "Other", icon: minimal.icon };
  expect((await service.call("PUT", path, changes)).status).toBe(204);
  expect(await read(service, path)).toEqual({ ...before, ...changes });
});

const oauth2 = {
  tokenRequestUrl: "https://x.example.com/token",
  method: "POST",
  headers: [{ name: "Accept", value: "application/json" }],
  payload: "a=b",
  accessTokenPath: "$.token",
};

test("with put keep, the variant that a new type contradicts goes, and nothing else", async () => {
  const service = await running({ switches: { put: "keep", secrets: "echo" } });
  const authentication = kindOf("Authentication");
  const basicAuth = { username: "u", password: "p" };
  const old = { type: "basic", basicAuth, oauth2: undefined, description: "stays" };
  const id = await service.make(authentication, old);
  const change = { name: "n", type: "oauth2", oauth2 };
  const path = `/authentications/${id}`;
  expect((await service.call("PUT", path, change)).status).toBe(204);
  const after = await read(service, path);
  expect(after).toMatchObject({ ...change, description: "stays" });
  expect(after).not.toHaveProperty("basicAuth");
});

test.each([
  ["replace", { displayName: undefined }],
  ["keep", { displayName: null }],
] as const)("with put %s a required member cannot go: %j", async (put, changes) => {
  const { service, path } = await made({ switches: { put } });
  const before = await read(service, path);
  const { status, json } = await service.call("PUT", path, { ...minimal, ...changes });
  expect({ status, code: json.code }).toEqual({ status: 400, code: "400-143" });
  expect(await read(service, path)).toEqual(before);
});

test.each([5, true, {}, "", "yesterday", "2024-13-01T00:00:00.000Z"])(
  "modified %j is no date-time, and refused",
  async (modified) => {
    const { service, path } = await made();
    const { status, json } = await service.call("PUT", path, { ...minimal, modified });
    expect({ status, details: json.details }).toMatchObject({
      status: 400,
      details: [{ key: "modified" }],
    });
  },
);

test.each(["2001-01-01T00:00:00.000Z", "2001-01-01T00:00:00Z", "2001-01-01T02:00:00+02:00"])(
  "a stale modified is ignored: %s",
  async (modified) => {
    const { service, path } = await made();
    expect((await service.call("PUT", path, { ...minimal, modified })).status).toBe(204);
  },
);

const unique = resources.flatMap(({ kind, fields }) =>
  Object.entries(fields).flatMap(([name, field]) =>
    field.type === "text" && field.unique ? [[kind, name] as const] : [],
  ),
);

test("authentications, client applications, participants and accounts have unique names, channels a unique type", () => {
  expect(unique).toEqual(
    expect.arrayContaining([
      ["Authentication", "name"],
      ["ClientApplication", "name"],
      ["Participant", "name"],
      ["Channel", "type"],
      ["Account", "name"],
    ]),
  );
  expect(unique.map(([kind]) => kind)).not.toContain("Orchestration");
});

test.each(unique)("two of %s cannot have the same %s, by POST or PUT", async (kind, name) => {
  const service = await running();
  const { collection } = kindOf(kind);
  const taken = { [name]: "taken" };
  const first = await service.make(kindOf(kind), taken);
  const second = await service.make(kindOf(kind));
  const body = await service.body(kindOf(kind), taken);
  const refused = {
    status: 400,
    json: { code: "400-138", details: [{ key: name }] },
  };
  expect(await service.call("POST", `/${collection}`, body)).toMatchObject(refused);
  expect(await service.call("PUT", `/${collection}/${second}`, body)).toMatchObject(refused);
  expect((await service.call("PUT", `/${collection}/${first}`, body)).status).toBe(204);
  const inCapitals = { ...body, [name]: "TAKEN" };
  expect((await service.call("POST", `/${collection}`, inCapitals)).status).toBe(201);
  await service.call("PUT", `/${collection}/${first}`, { ...body, [name]: "free again" });
  const third = await service.call("POST", `/${collection}`, body);
  expect(third.status).toBe(201);
  await service.call("DELETE", `/${collection}/${third.json.id}`);
  expect((await service.call("POST", `/${collection}`, body)).status).toBe(201);
});
