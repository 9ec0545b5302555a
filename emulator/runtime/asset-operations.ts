import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
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
  ValidationErrors,
} from "../http/exchange.js";
import { checkFields } from "../objects/validate.js";
import { timestamp } from "../service/clock.js";
import { beforeOperation, sendWithFault } from "../service/faults.js";
import type { EmulatedService, OperationHandler } from "../service/service.js";
import {
  type AssetRecord,
  contentPath,
  describeAsset,
  type TransferMethod,
} from "./asset-store.js";
import { isChannelType } from "./recipients.js";

/** @throws HttpError 400 that names everything that breaks a rule */
const assertValid = (service: EmulatedService, body: JsonObject): void => {
  const errors = new ValidationErrors();
  const { switches } = service;
  checkFields(assetFields, body, errors, switches);
  errors.assertNone();
  const isKnown = isChannelType(service, valueAt(body, "channel", "type"));
  if (switches.unknownReference === "refuse" && !isKnown)
    errors.at("channel.type").invalid("no channel has this type");
  if (!extensionInName(String(body.name)))
    errors.at("name").invalid("must be a file name with an extension");
  errors.assertNone();
};

const signedUrl = (
  service: EmulatedService,
  request: IncomingMessage,
  method: TransferMethod,
  id: string,
) => {
  const until = service.clock.now() + service.switches.assetUrlLifetime * 1000;
  return service.signedUrls.make(request, method, id, until);
};

const find = (service: EmulatedService, id: string): AssetRecord => {
  const asset = service.assets.get(id);
  if (asset) return asset;
  throw new HttpError(404, "404-101", "There is no asset with this ID.");
};

/** Creates an asset and returns the signed URL for uploading its content (specification §4.2). */
export const createAssetRecord: OperationHandler = (service, call) => {
  const body = call.body();
  assertValid(service, body);
  const name = String(body.name);
  const asset: AssetRecord = {
    id: randomUUID(),
    channelType: String(valueAt(body, "channel", "type")),
    senderType: String(valueAt(body, "sender", "type")),
    name,
    size: Number(body.size),
    contentType: contentTypeOf(name),
    created: timestamp(service.clock.now()),
    uploaded: false,
    used: false,
  };
  service.assets.put(asset);
  return {
    status: 200,
    body: { id: asset.id, ...signedUrl(service, call.request, "POST", asset.id) },
  };
};

/**
 * Returns the signed URL for downloading an asset's content (specification §4.2). If there is no
 * content, the response is 404 (assumed).
 */
export const getAssetRecord: OperationHandler = (service, { id, request }) => {
  const asset = find(service, id);
  if (!asset.uploaded)
    throw new HttpError(404, "404-101", "The content of this asset has not been uploaded yet.");
  return {
    status: 200,
    body: { ...describeAsset(asset), ...signedUrl(service, request, "GET", id) },
  };
};

/** Deletes an asset and its content, unless a message has used it (specification §2). */
export const deleteAssetRecord: OperationHandler = (service, { id }) => {
  if (find(service, id).used)
    throw new HttpError(
      403,
      "403-113",
      "This asset is used in a message, so it cannot be deleted.",
    );
  service.assets.remove(id);
  return { status: 204 };
};

const sizeError = (status: number, size: number, headers: ResponseHeaders = {}): HttpError =>
  new HttpError(
    status,
    `${status}-152`,
    `The content must have exactly the declared size of ${size} bytes.`,
    [],
    headers,
  );

/** The body, which must have this size to the byte. */
const receiveContent = async (request: IncomingMessage, size: number): Promise<Buffer> => {
  const content = await receive(request, size, (headers) => sizeError(413, size, headers));
  if (content.length < size) throw sizeError(400, size);
  return content;
};

const mediaType = (header: string | undefined): string =>
  (header ?? "").split(";")[0]?.trim().toLowerCase() ?? "";

const forbidden = (why: string): HttpError => new HttpError(403, "403-100", why);

/** The asset of a currently valid address. */
const assetFor = (
  service: EmulatedService,
  { method = "" }: IncomingMessage,
  path: string,
  query: URLSearchParams,
): AssetRecord => {
  const id = path.slice(contentPath.length + 1);
  const wanted = method === "HEAD" ? "GET" : method;
  const problem = service.signedUrls.problemOf(wanted, id, query, service.clock.now());
  if (problem === "expired") throw forbidden("The signed URL has expired; request a new one.");
  if (problem) throw forbidden("The service did not issue this URL for this method.");
  const asset = service.assets.get(id);
  if (!asset) throw new HttpError(404, "404-101", "The asset has been deleted.");
  return asset;
};

const assertEmpty = ({ uploaded }: AssetRecord): void => {
  if (uploaded) throw forbidden("The content has already been uploaded.");
};

/** Content type and size must be those of the asset (specification §4.2). */
const upload = async (service: EmulatedService, request: IncomingMessage, asset: AssetRecord) => {
  assertEmpty(asset);
  if (mediaType(request.headers["content-type"]) !== asset.contentType)
    throw new HttpError(400, "400-196", `The content type must be ${asset.contentType}.`);
  const { assets } = service;
  const release = assets.reserve(asset.size);
  try {
    const content = await receiveContent(request, asset.size);
    // Another upload, a use or a deletion may have come in between.
    const now = assets.get(asset.id);
    if (!now) throw new HttpError(404, "404-101", "The asset has been deleted.");
    assertEmpty(now);
    assets.upload(now, content);
  } finally {
    release();
  }
};

/**
 * The name under which a browser saves a file (RFC 6266). No sign in it turns the direction of
 * writing, which would disguise the extension, or leads to another folder.
 */
const savedAs = (name: string): string => {
  const plain = encodeURIComponent(name.replaceAll(/[\p{C}/\\]/gu, "_"));
  const escaped = plain.replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16)}`);
  return `attachment; filename*=UTF-8''${escaped}`;
};

const download = (service: EmulatedService, asset: AssetRecord): ServiceResponse => {
  const content = service.assets.contentOf(asset.id);
  if (!content) throw new HttpError(404, "404-101", "The content does not exist.");
  const headers = {
    "content-type": asset.contentType,
    // Customer content must not run in the origin of the emulator.
    "content-disposition": savedAs(asset.name),
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  };
  return { status: 200, body: content, headers };
};

const isUpload = ({ method }: IncomingMessage): boolean => method === "POST";

const transfer = async (
  service: EmulatedService,
  request: IncomingMessage,
  path: string,
  query: URLSearchParams,
): Promise<ServiceResponse> => {
  const asset = assetFor(service, request, path, query);
  if (!isUpload(request)) return download(service, asset);
  await upload(service, request, asset);
  return { status: 200, headers: { "content-length": "0" } };
};

/** The response of the transfer, or its refusal, which reads and drops the rest of the body. */
const refusable = (request: IncomingMessage, answer: Promise<ServiceResponse>) =>
  answer.catch((error) => {
    discard(request);
    return failureOf(error).response();
  });

/** Serves the signed URLs: POST uploads content and GET downloads it, without a token. */
export const serveContent = async (
  service: EmulatedService,
  request: IncomingMessage,
  response: ServerResponse,
  path: string,
  query: URLSearchParams,
): Promise<void> => {
  const fault = service.faults.take(isUpload(request) ? "UPLOAD" : "DOWNLOAD");
  const early = fault && (await beforeOperation(fault, response));
  if (early) discard(request);
  const answer = early ?? (await refusable(request, transfer(service, request, path, query)));
  if (fault) sendWithFault(response, answer, fault);
  else sendResponse(response, answer);
};
