import { createHmac, randomBytes, randomUUID, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { type JsonObject, valueAt } from "../../provider/kernel/json.js";
import { contentTypeOf, extensionInName } from "../../provider/resources/content-types.js";
import { assetFields } from "../../provider/resources/message-fields.js";
import {
  discard,
  failureOf,
  HttpError,
  type ResponseHeaders,
  receive,
  type ServiceResponse,
  sendResponse,
} from "../http/exchange.js";
import { checkFields, ValidationErrors } from "../objects/validate.js";
import type { OperationHandler } from "../service/calls.js";
import { type EmulatorClock, timestamp } from "../service/clock.js";
import { beforeOperation, type Faults, sendWithFault } from "../service/faults.js";
import { isChannelType, type SetUp } from "./recipients.js";

/** The path for uploads and downloads, relative to the origin. */
export const contentPath = "/assets-content";

/** The purpose of a signed URL: POST uploads the content, GET downloads it. */
type TransferMethod = "POST" | "GET";

/** The emulator's origin as the caller sees it. */
const originFor = ({ headers, socket }: IncomingMessage): string => {
  const { host = "" } = headers;
  const isHost = /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i.test(host);
  return `http://${isHost ? host : `127.0.0.1:${socket.localPort}`}`;
};

/** How long a signed URL is valid, in milliseconds (assumed). */
const urlLifetimeMs = 300_000;

/** Issues and checks signed URLs, which are valid for a limited time and need no token. */
export class SignedUrls {
  readonly #key = randomBytes(32);

  /** @param until when the URL expires, in milliseconds since 1970 */
  make(request: IncomingMessage, method: TransferMethod, id: string, until: number) {
    return {
      contentUrl: originFor(request) + this.path(method, id, until),
      contentUrlExpiry: timestamp(until),
    };
  }

  /** A signed URL relative to the origin, for the emulator's own page. */
  path(method: TransferMethod, id: string, until: number): string {
    const expires = String(Math.floor(until));
    const signature = this.#sign(method, id, expires);
    const query = new URLSearchParams({ method, expires, signature });
    return `${contentPath}/${id}?${query}`;
  }

  /** Why a URL is not currently valid for this method; undefined if it is valid. */
  problemOf(
    method: string,
    id: string,
    query: URLSearchParams,
    now: number,
  ): "altered" | "expired" | undefined {
    const expires = query.get("expires") ?? "";
    // Compared as text: several texts decode to the same bytes, so an altered one could pass.
    const signature = Buffer.from(query.get("signature") ?? "");
    const own = Buffer.from(this.#sign(method, id, expires));
    const isOwn = signature.length === own.length && timingSafeEqual(signature, own);
    const isWhole = query.size === 3 && query.get("method") === method;
    if (!isOwn || !isWhole) return "altered";
    return Number(expires) > now ? undefined : "expired";
  }

  #sign(method: string, id: string, expires: string): string {
    const signed = `${method}\n${id}\n${expires}`;
    return createHmac("sha256", this.#key).update(signed).digest("base64url");
  }
}

/** An asset without its content. */
const asset = z.object({
  id: z.string(),
  channelType: z.string(),
  senderType: z.string(),
  /** File name with extension. */
  name: z.string(),
  /** Bytes. */
  size: z.int(),
  /** Follows from the extension. */
  contentType: z.string(),
  created: z.string(),
  /** Its content has been uploaded. */
  uploaded: z.boolean(),
  /** It was used in a message and can no longer be deleted. */
  used: z.boolean(),
});

export type AssetRecord = Readonly<z.infer<typeof asset>>;

/**
 * The members that an asset adds to an attachment that refers to it. The recipient can use the ID
 * to fetch the asset.
 */
export const describeAsset = ({ id, name, contentType, size }: AssetRecord): JsonObject => ({
  id,
  name,
  contentType,
  size,
});

const decoded = (text: string | undefined): Buffer | undefined =>
  text === undefined ? undefined : Buffer.from(text, "base64");

/**
 * An asset and its content in base64, as a snapshot holds them; the content has the announced size.
 */
export const assetDocument = asset
  .extend({ content: z.string().optional() })
  .refine(
    ({ uploaded, size, content }) => decoded(content)?.length === (uploaded ? size : undefined),
  );

export type AssetDocument = Readonly<z.infer<typeof assetDocument>>;

/** All assets, in order of creation, and their content. */
export class AssetStore {
  readonly #assets = new Map<string, AssetRecord>();
  readonly #contents = new Map<string, Buffer>();

  get(id: string): AssetRecord | undefined {
    return this.#assets.get(id);
  }

  contentOf(id: string): Buffer | undefined {
    return this.#contents.get(id);
  }

  all(): readonly AssetDocument[] {
    return [...this.#assets.values()].map((asset) => {
      const content = this.#contents.get(asset.id)?.toString("base64");
      return { ...asset, ...(content === undefined ? {} : { content }) };
    });
  }

  /** Stores an asset in its new state, with its content if that is new. */
  put(asset: AssetRecord, content?: Buffer): void {
    this.#assets.set(asset.id, asset);
    if (content) this.#contents.set(asset.id, content);
  }

  remove(id: string): void {
    this.#contents.delete(id);
    this.#assets.delete(id);
  }

  replaceAll(documents: readonly AssetDocument[]): void {
    this.#contents.clear();
    this.#assets.clear();
    for (const { content, ...asset } of documents) this.put(asset, decoded(content));
  }
}

/** What the operations on assets need. */
interface AssetsHub extends SetUp {
  readonly clock: EmulatorClock;
  readonly faults: Faults;
  readonly assets: AssetStore;
  readonly signedUrls: SignedUrls;
}

/** @throws HttpError 400 that names everything that breaks a rule */
const assertValid = (hub: AssetsHub, body: JsonObject): void => {
  const errors = new ValidationErrors();
  const { switches } = hub;
  checkFields(assetFields, body, errors, switches);
  errors.assertNone();
  const isKnown = isChannelType(hub, valueAt(body, "channel", "type"));
  if (switches.unknownReference === "refuse" && !isKnown)
    errors.at("channel.type").report("invalid", "no channel has this type");
  if (!extensionInName(String(body.name)))
    errors.at("name").report("invalid", "must be a file name with an extension");
  errors.assertNone();
};

const issueUrl = (hub: AssetsHub, request: IncomingMessage, method: TransferMethod, id: string) => {
  return hub.signedUrls.make(request, method, id, hub.clock.now() + urlLifetimeMs);
};

const findAsset = ({ assets }: AssetsHub, id: string, missing: string): AssetRecord => {
  const asset = assets.get(id);
  if (asset) return asset;
  throw new HttpError(404, "404-101", missing);
};

const noAsset = "There is no asset with this ID.";

/** Creates an asset and returns the signed URL for uploading its content (specification §4.2). */
export const createAssetRecord: OperationHandler<AssetsHub> = (hub, call) => {
  const order = call.body();
  assertValid(hub, order);
  const name = String(order.name);
  const asset: AssetRecord = {
    id: randomUUID(),
    channelType: String(valueAt(order, "channel", "type")),
    senderType: String(valueAt(order, "sender", "type")),
    name,
    size: Number(order.size),
    contentType: contentTypeOf(name),
    created: timestamp(hub.clock.now()),
    uploaded: false,
    used: false,
  };
  hub.assets.put(asset);
  const body = { id: asset.id, ...issueUrl(hub, call.request, "POST", asset.id) };
  return { status: 200, body };
};

/**
 * Returns the signed URL for downloading an asset's content (specification §4.2). If there is no
 * content, the response is 404 (assumed).
 */
export const getAssetRecord: OperationHandler<AssetsHub> = (hub, { id, request }) => {
  const asset = findAsset(hub, id, noAsset);
  if (!asset.uploaded)
    throw new HttpError(404, "404-101", "The content of this asset has not been uploaded yet.");
  return { status: 200, body: { ...describeAsset(asset), ...issueUrl(hub, request, "GET", id) } };
};

/** Deletes an asset and its content, unless a message has used it (specification §2). */
export const deleteAssetRecord: OperationHandler<AssetsHub> = (hub, { id }) => {
  const used = "This asset is used in a message, so it cannot be deleted.";
  if (findAsset(hub, id, noAsset).used) throw new HttpError(403, "403-113", used);
  hub.assets.remove(id);
  return { status: 204 };
};

const forbidden = (why: string): HttpError => new HttpError(403, "403-100", why);

/** Content type and size, to the byte, must be those of the asset (specification §4.2). */
const upload = async (hub: AssetsHub, request: IncomingMessage, asset: AssetRecord) => {
  const { id, size, contentType } = asset;
  const [mediaType = ""] = (request.headers["content-type"] ?? "").split(";");
  if (mediaType.trim().toLowerCase() !== contentType)
    throw new HttpError(400, "400-196", `The content type must be ${contentType}.`);
  const wrongSize = (status: number, headers: ResponseHeaders = {}): HttpError => {
    const rule = `The content must have exactly the declared size of ${size} bytes.`;
    return new HttpError(status, `${status}-152`, rule, [], headers);
  };
  const content = await receive(request, size, (headers) => wrongSize(413, headers));
  if (content.length < size) throw wrongSize(400);
  // Another upload, a use or a deletion may have come in between.
  const now = findAsset(hub, id, "The asset has been deleted.");
  if (now.uploaded) throw forbidden("The content has already been uploaded.");
  hub.assets.put({ ...now, uploaded: true }, content);
};

/**
 * The name under which a browser saves a file (RFC 6266), without signs that turn the direction of
 * writing, which would disguise the extension, or that lead to another folder.
 */
const savedAs = (name: string): string =>
  `attachment; filename*=UTF-8''${encodeURIComponent(name.replaceAll(/[^\p{L}\p{N} ._-]/gu, "_"))}`;

const download = ({ assets }: AssetsHub, { id, name, contentType }: AssetRecord) => {
  const content = assets.contentOf(id);
  if (!content) throw new HttpError(404, "404-101", "The content does not exist.");
  const headers = {
    "content-type": contentType,
    // Customer content must not run in the origin of the emulator.
    "content-disposition": savedAs(name),
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  };
  return { status: 200, body: content, headers };
};

/** Uploads or downloads at a currently valid address. */
const transfer = async (
  hub: AssetsHub,
  request: IncomingMessage,
  path: string,
  query: URLSearchParams,
): Promise<ServiceResponse> => {
  const id = path.slice(contentPath.length + 1);
  const method = request.method === "HEAD" ? "GET" : (request.method ?? "");
  const problem = hub.signedUrls.problemOf(method, id, query, hub.clock.now());
  if (problem === "expired") throw forbidden("The signed URL has expired; request a new one.");
  if (problem) throw forbidden("The service did not issue this URL for this method.");
  const asset = findAsset(hub, id, "The asset has been deleted.");
  if (method === "GET") return download(hub, asset);
  if (asset.uploaded) throw forbidden("The content has already been uploaded.");
  await upload(hub, request, asset);
  return { status: 200, headers: { "content-length": "0" } };
};

/** Serves the signed URLs: POST uploads content and GET downloads it, without a token. */
export const serveContent = async (
  hub: AssetsHub,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: URLSearchParams,
): Promise<void> => {
  const fault = hub.faults.take(request.method === "POST" ? "UPLOAD" : "DOWNLOAD");
  const early = fault && (await beforeOperation(fault, response));
  if (early) discard(request);
  const answer =
    early ??
    (await transfer(hub, request, path, query).catch((error) => {
      // A refused caller may still be sending.
      discard(request);
      return failureOf(error).response();
    }));
  if (fault) sendWithFault(response, answer, fault);
  else sendResponse(response, answer);
};
