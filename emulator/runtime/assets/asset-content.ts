import type { IncomingMessage, ServerResponse } from "node:http";
import { sendAnswer } from "../../deliver.js";
import { Refusal } from "../../http/refusal.js";
import type { World } from "../../objects/world.js";
import type { Asset } from "./asset.js";
import { contentPath } from "./signed-addresses.js";

/** So much of a content that is refused is let through and dropped, so that the caller reads the answer. */
const mostIgnored = 64 * 1024 * 1024;

/** The body, which must have this size to the byte. */
const readExactly = (request: IncomingMessage, size: number): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const content = Buffer.allocUnsafeSlow(size);
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      if (bytes + chunk.length <= size) chunk.copy(content, bytes);
      bytes += chunk.length;
      if (bytes > mostIgnored) reject(sizeRefusal(413, size, { connection: "close" }));
    });
    request.on("end", () => {
      if (bytes === size) resolve(content);
      else reject(sizeRefusal(bytes > size ? 413 : 400, size));
    });
    request.on("error", reject);
    request.on("close", () => reject(new Error("The caller went away.")));
  });

const sizeRefusal = (
  status: number,
  size: number,
  headers: Readonly<Record<string, string>> = {},
): Refusal =>
  new Refusal(
    status,
    `${status}-152`,
    `The content must have exactly the ${size} bytes that were announced.`,
    [],
    headers,
  );

const mediaType = (header: string | undefined): string =>
  (header ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

const forbidden = (why: string): Refusal => new Refusal(403, "403-100", why);

/** The asset of an address that is good now. */
const assetFor = (
  world: World,
  { method = "" }: IncomingMessage,
  path: string,
  query: URLSearchParams,
): Asset => {
  const id = path.slice(contentPath.length + 1);
  const transfer = method === "HEAD" ? "GET" : method;
  const flaw = world.runtime.addresses.flawOf(transfer, id, query, world.clock.now());
  if (flaw === "expired") throw forbidden("The address has expired; ask for a new one.");
  if (flaw) throw forbidden("The address is not one that was given out for this method.");
  const asset = world.runtime.assets.get(id);
  if (!asset) throw new Refusal(404, "404-101", "The asset was deleted.");
  return asset;
};

const assertEmpty = ({ uploaded }: Asset): void => {
  if (uploaded) throw forbidden("The address was used; its content is there.");
};

/** Content type and size must be those of the asset (specification §4.2). */
const upload = async (world: World, request: IncomingMessage, asset: Asset): Promise<void> => {
  assertEmpty(asset);
  if (mediaType(request.headers["content-type"]) !== asset.contentType)
    throw new Refusal(400, "400-152", `The content type must be ${asset.contentType}.`);
  const { assets } = world.runtime;
  const release = assets.reserve(asset.size);
  try {
    const content = await readExactly(request, asset.size);
    // Another upload, a use or a deletion may have come in between.
    const now = assets.get(asset.id);
    if (!now) throw new Refusal(404, "404-101", "The asset was deleted.");
    assertEmpty(now);
    assets.upload(now, content);
  } finally {
    release();
  }
};

const download = (world: World, response: ServerResponse, asset: Asset): void => {
  const content = world.runtime.assets.contentOf(asset.id);
  if (!content) throw new Refusal(404, "404-101", "The content is not there.");
  response
    .writeHead(200, {
      "content-type": asset.contentType,
      "content-length": content.length,
      // What a customer sent must not run in the origin of the emulator.
      "content-disposition": "attachment",
      "x-content-type-options": "nosniff",
    })
    .end(content);
};

/** Lets the rest of a refused body pass, so that the connection can carry the answer. */
const drain = (request: IncomingMessage): void => {
  let bytes = 0;
  request.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > mostIgnored) request.destroy();
  });
};

/** Serves the signed addresses: contents go up with POST and come down with GET; no token is needed. */
export const serveContent = async (
  world: World,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: URLSearchParams,
): Promise<void> => {
  try {
    const asset = assetFor(world, request, path, query);
    if (request.method !== "POST") return download(world, response, asset);
    await upload(world, request, asset);
    sendAnswer(response, { status: 200, headers: { "content-length": "0" } });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    drain(request);
    sendAnswer(response, error.answer(false));
  }
};
