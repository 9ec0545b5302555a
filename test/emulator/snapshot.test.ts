import { expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { scopes } from "../support/specification.js";
import { kindOf, running } from "./running.js";

const filled = async () => {
  const service = await running();
  for (const definition of resources) await service.make(definition);
  await service.control("PUT", "/switches", { deliveryRetries: 7, secrets: "echo" });
  await service.control("POST", "/clients", {
    clientId: "robot",
    clientSecret: "robot's",
    scopes: [scopes.R],
  });
  return service;
};

test("a snapshot put into another emulator replaces what is there, and comes back the same", async () => {
  const [one, other] = [await filled(), await running()];
  const { text, json } = await one.control("GET", "/snapshot");
  await other.make(kindOf("Channel"));
  expect((await other.control("PUT", "/snapshot", json)).status).toBe(204);
  expect((await other.control("GET", "/snapshot")).text).toBe(text);
});

test("the credentials that an emulator gave out stay good, and those of the snapshot are good, too", async () => {
  const [one, other] = [await filled(), await running()];
  await other.control("PUT", "/snapshot", (await one.control("GET", "/snapshot")).json);
  for (const { emulator } of [one, other]) {
    const changes = { client_secret: emulator.clientSecret };
    const reply = await other.form(other.emulator.tokenUrl, other.credentials(changes));
    expect(reply.status).toBe(200);
  }
  const robot = { client_id: "robot", client_secret: "robot's" };
  expect((await other.form(other.emulator.tokenUrl, other.credentials(robot))).status).toBe(200);
});

const object = {
  id: "a",
  created: "2024-01-01T00:00:00.000Z",
  modified: "2024-01-01T00:00:00.000Z",
};

const whole = { ...object, type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC" };

test("clients and switches stay where a snapshot leaves them out", async () => {
  const service = await filled();
  const before = (await service.control("GET", "/snapshot")).json;
  const objects = { channels: [whole] };
  expect((await service.control("PUT", "/snapshot", { version: 1, objects })).status).toBe(204);
  const { clients, switches, objects: after } = (await service.control("GET", "/snapshot")).json;
  expect({ clients, switches }).toEqual({ clients: before.clients, switches: before.switches });
  expect(after).toMatchObject({ channels: [whole], accounts: [] });
});

test("an object that breaks a limit can be put, read and deleted, but not written back", async () => {
  const service = await running();
  const { displayName: _, ...old } = { ...whole, description: "x".repeat(2000) };
  await service.control("PUT", "/snapshot", { version: 1, objects: { channels: [old] } });
  expect(await service.given("Channel", "a")).toEqual(old);
  expect((await service.call("PUT", "/channels/a", old)).json.code).toBe("400-143");
  expect((await service.call("DELETE", "/channels/a")).status).toBe(204);
});

const wrong: readonly [string, object][] = [
  ["another version", { version: 2 }],
  ["no objects", { objects: undefined }],
  ["objects in a list", { objects: [] }],
  ["an unknown collection", { objects: { nothing: [] } }],
  ["a collection that is no list", { objects: { channels: {} } }],
  ["an object without id", { objects: { channels: [{ ...object, id: undefined }] } }],
  ["an object that is a text", { objects: { channels: ["x"] } }],
  ["two objects with one id", { objects: { channels: [object, object] } }],
  ["a member that nobody knows", { more: 1 }],
  ["a bad time", { objects: { channels: [{ ...whole, created: "yesterday" }] } }],
  ["a time of another form", { objects: { channels: [{ ...whole, modified: "1" }] } }],
  ["a unique value twice", { objects: { channels: [whole, { ...whole, id: "b" }] } }],
  ["a client without scopes", { clients: [{ clientId: "a", clientSecret: "b" }] }],
  ["a conversation without its parts", { conversations: [{ id: "x" }] }],
  ["an asset without its parts", { assets: [{ id: "x", uploaded: true }] }],
  ["switches that are a text", { switches: "all" }],
  ["an unknown switch", { switches: { nothing: 1 } }],
  ["a switch in a wrong position", { switches: { put: "sometimes" } }],
];

test("a wrong snapshot is refused and changes nothing", async () => {
  const service = await filled();
  const before = await service.control("GET", "/snapshot");
  for (const [what, changes] of wrong) {
    const reply = await service.control("PUT", "/snapshot", { ...before.json, ...changes });
    expect([what, reply.status, Object.keys(reply.json)]).toEqual([what, 400, ["error"]]);
    expect((await service.control("GET", "/snapshot")).text, what).toBe(before.text);
  }
});
