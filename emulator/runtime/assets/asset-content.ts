import type { IncomingMessage, ServerResponse } from "node:http";
import { beforeOperation, sendWithFault } from "../../control/fault-effects.js";
import { discard, receive } from "../../http/request-body.js";
import {
  failureOf,
  HttpError,
  type ResponseHeaders,
  type ServiceResponse,
  sendResponse,
} from "../../http/response.js";
import type { EmulatedService } from "../../service.js";
import type { AssetRecord } from "./asset-store.js";
import { contentPath } from "./signed-urls.js";

const sizeError = (status: number, size: number, headers: ResponseHeaders = {}): HttpError =>
  new HttpError(
    status,
    `${status}-152`,
    `The content must have exactly the ${size} bytes that were announced.`,
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

/** The asset of an address that is good now. */
const assetFor = (
  service: EmulatedService,
  { method = "" }: IncomingMessage,
  path: string,
  query: URLSearchParams,
): AssetRecord => {
  const id = path.slice(contentPath.length + 1);
  const wanted = method === "HEAD" ? "GET" : method;
  const problem = service.signedUrls.problemOf(wanted, id, query, service.clock.now());
  if (problem === "expired") throw forbidden("The address has expired; ask for a new one.");
  if (problem) throw forbidden("The address is not one that was given out for this method.");
  const asset = service.assets.get(id);
  if (!asset) throw new HttpError(404, "404-101", "The asset was deleted.");
  return asset;
};

const assertEmpty = ({ uploaded }: AssetRecord): void => {
  if (uploaded) throw forbidden("The address was used; its content is there.");
};

/** Content type and size must be those of the asset (specification §4.2). */
const upload = async (service: EmulatedService, request: IncomingMessage, asset: AssetRecord) => {
  assertEmpty(asset);
  if (mediaType(request.headers["content-type"]) !== asset.contentType)
    throw new HttpError(400, "400-152", `The content type must be ${asset.contentType}.`);
  const { assets } = service;
  const release = assets.reserve(asset.size);
  try {
    const content = await receiveContent(request, asset.size);
    // Another upload, a use or a deletion may have come in between.
    const now = assets.get(asset.id);
    if (!now) throw new HttpError(404, "404-101", "The asset was deleted.");
    assertEmpty(now);
    assets.upload(now, content);
  } finally {
    release();
  }
};

const download = (service: EmulatedService, asset: AssetRecord): ServiceResponse => {
  const content = service.assets.contentOf(asset.id);
  if (!content) throw new HttpError(404, "404-101", "The content is not there.");
  const headers = {
    "content-type": asset.contentType,
    // What a customer sent must not run in the origin of the emulator.
    "content-disposition": "attachment",
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

/** What the transfer answers, or its refusal, which lets the rest of the body pass. */
const refusable = (request: IncomingMessage, answer: Promise<ServiceResponse>) =>
  answer.catch((error) => {
    discard(request);
    return failureOf(error).response();
  });

/** Serves the signed URLs: contents go up with POST and come down with GET; no token is needed. */
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
