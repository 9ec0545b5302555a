import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { AssetStore } from "../../emulator/conversations/assets.js";
import { sqliteJournal } from "../../emulator/service/journal.js";
import { type Running, running } from "../emulator/running.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { create, order, send } from "./asset-calls.js";
import { type Hub, hub, message } from "./hub.js";

const content = randomBytes(60_000);

const dataFile = (): string => join(temporaryFolder(), "data.sqlite");

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

test.each([
  ["conversations", {}],
  ["conversations", [{ id: "x" }]],
  ["assets", [5]],
  ["assets", [{ id: "x", uploaded: true }]],
  ["assets", "content of another size"],
])("a snapshot whose %s are %j is refused, and nothing changes", async (name, wrong) => {
  const all = await hub();
  const ids = await filled(all);
  const document = (await all.service.control("GET", "/snapshot")).json;
  const [asset] = Array.isArray(document.assets) ? document.assets : [];
  const value = typeof wrong === "string" ? [{ ...asset, content: "AAAA" }] : wrong;
  const reply = await all.service.control("PUT", "/snapshot", { ...document, [name]: value });
  expect(reply.status).toBe(400);
  expect(reply.text).toContain("Nothing was changed");
  await expectAll(all.service, ids);
});

test("conversations, assets and signed addresses outlive the process with a data file", async () => {
  const data = dataFile();
  const all = await hub({ data });
  const ids = await filled(all);
  const { contentUrl } = (await all.service.call("GET", `/assets/${ids.asset}`)).json;
  await all.service.emulator.close();
  const again = await running({ data });
  await expectAll(again, ids);
  const address = new URL(String(contentUrl));
  const moved = new URL(address.pathname + address.search, again.emulator.baseUrl);
  expect((await again.send("GET", moved.href)).status).toBe(200);
});

test("a deleted asset leaves nothing in the data file", async () => {
  const data = dataFile();
  const all = await hub({ data });
  const { asset, empty } = await filled(all);
  for (const id of [asset, empty]) await all.service.call("DELETE", `/assets/${id}`);
  await all.service.emulator.close();
  const journal = sqliteJournal(data);
  onTestFinished(() => journal.close());
  expect([...journal.read("asset"), ...journal.read("asset content")]).toEqual([]);
});

test("a reset of a data file is kept too", async () => {
  const data = dataFile();
  const all = await hub({ data });
  await filled(all);
  await all.service.control("POST", "/reset");
  await all.service.emulator.close();
  const again = await running({ data });
  const now = (await again.control("GET", "/snapshot")).json;
  expect(now).toMatchObject({ conversations: [], assets: [] });
  await again.emulator.close();
  const journal = sqliteJournal(data);
  onTestFinished(() => journal.close());
  for (const section of ["conversation", "message", "asset", "asset content"])
    expect(journal.read(section)).toEqual([]);
});

test("a content that cannot be kept is a failure that can be read, and can be sent again", async () => {
  const all = await hub();
  const { json } = await create(all, { size: 3, name: "a.bin" });
  const upload = vi.spyOn(AssetStore.prototype, "put").mockImplementationOnce(() => {
    throw new Error("disk I/O error");
  });
  onTestFinished(() => upload.mockRestore());
  const up = () =>
    send(all, "POST", json.contentUrl, Buffer.from("abc"), "application/octet-stream");
  expect(await up()).toMatchObject({
    status: 500,
    json: { code: "500-100", developerMessage: "The emulator failed: Error: disk I/O error" },
  });
  expect((await up()).status).toBe(200);
});
