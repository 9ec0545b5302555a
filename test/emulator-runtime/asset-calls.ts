import { randomBytes } from "node:crypto";
import type { JsonObject } from "../../provider/kernel/json.js";
import type { Reply } from "../emulator/running.js";
import type { Hub } from "./hub.js";

/** What an asset is created with. */
export const order = (changes: JsonObject = {}): JsonObject => ({
  channel: { type: "custom.kiosk" },
  sender: { type: "customer" },
  name: "receipt.png",
  size: 2048,
  ...changes,
});

/** Creates an asset of 2,048 bytes. */
export const create = ({ service }: Hub, changes: JsonObject = {}): Promise<Reply> =>
  service.call("POST", "/assets", order(changes));

/** Calls an address without a token. */
export const send = (
  { service }: Hub,
  method: string,
  url: unknown,
  raw?: Buffer,
  type = "image/png",
) => service.send(method, String(url), raw ? { raw, headers: { "content-type": type } } : {});

export const codeOf = ({ status, json }: Reply): unknown[] => [status, json.code];

/** The bytes of an asset, as `create` announces them. */
export const content = randomBytes(2048);

/** An asset with its content, and the address that took it. */
export const uploaded = async (all: Hub): Promise<{ id: string; contentUrl: string }> => {
  const { json } = await create(all);
  const reply = await send(all, "POST", json.contentUrl, content);
  if (reply.status !== 200) throw new Error(reply.text);
  return { id: String(json.id), contentUrl: String(json.contentUrl) };
};

export const bytesOf = async (url: unknown): Promise<Buffer> =>
  Buffer.from(await (await fetch(String(url))).arrayBuffer());
