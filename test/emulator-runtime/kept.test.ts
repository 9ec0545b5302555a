import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import { type Running, running } from "../emulator/running.js";
import { order } from "./asset-calls.js";
import { type Hub, hub, message } from "./hub.js";

const content = randomBytes(60_000);

/** A running and a completed conversation, an asset with its content and one without. */
const filled = async (all: Hub) => {
  const open = await all.begin();
  const ended = await all.begin();
  await all.send(message(ended, "customer", "conversation.end"));
  const body = order({ name: "a.bin", size: content.length });
  const asset = (await all.service.call("POST", "/assets", body)).json;
  await all.service.send("POST", String(asset.contentUrl), {
    raw: content,
    headers: { "content-type": "application/octet-stream" },
  });
  const empty = (await all.service.call("POST", "/assets", body)).json;
  return { open, ended, asset: String(asset.id), empty: String(empty.id) };
};

const expectAll = async (service: Running, ids: Awaited<ReturnType<typeof filled>>) => {
  const get = async (path: string) => (await service.call("GET", path)).status;
  expect(await get(`/conversations/${ids.ended}`)).toBe(200);
  expect(await get(`/conversations/${ids.open}`)).toBe(404);
  expect(await get(`/assets/${ids.empty}`)).toBe(404);
  const { json } = await service.call("GET", `/assets/${ids.asset}`);
  const response = await fetch(String(json.contentUrl));
  expect(Buffer.from(await response.arrayBuffer()).equals(content)).toBe(true);
  const more = { messages: { message: [message(ids.open, "customer", "text")] } };
  expect((await service.call("POST", "/conversations/messages", more)).status).toBe(202);
};

test("a snapshot holds conversations and assets, and another emulator takes it", async () => {
  const all = await hub();
  const ids = await filled(all);
  const document = (await all.service.control("GET", "/snapshot")).json;
  const other = await running();
  expect((await other.control("PUT", "/snapshot", document)).status).toBe(204);
  expect((await other.control("GET", "/snapshot")).json).toEqual(document);
  await expectAll(other, ids);
});
