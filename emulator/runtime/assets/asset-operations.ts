import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { timestamp } from "../../clock.js";
import { vendorWord } from "../../control/switches.js";
import { HttpError } from "../../http/response.js";
import { ValidationErrors } from "../../http/validation-errors.js";
import type { EmulatedService, OperationHandler } from "../../service.js";
import { valueOnPath } from "../json-path.js";
import { isChannelType } from "../routing.js";
import { senderTypeOf, senderTypes } from "../sender-rules.js";
import { type AssetRecord, describeAsset } from "./asset-store.js";
import { contentTypeFor, extensionInName } from "./content-types.js";
import type { TransferMethod } from "./signed-urls.js";

const longestName = 255;
/** 10 MiB (public reference). */
const mostBytes = 10_485_760;

type Check = (value: unknown, errors: ValidationErrors, service: EmulatedService) => void;

/** The members of the body and what they must be (public reference). */
const members: Readonly<Record<string, Check>> = {
  "channel.type": (value, errors, service) => {
    if (typeof value !== "string" || value === "") errors.invalid("must be a text");
    else if (service.switches.unknownReference === "refuse" && !isChannelType(service, value))
      errors.invalid("there is no channel of this type");
  },
  "sender.type": (value, errors, { switches }) => {
    if (!senderTypeOf(value, switches))
      errors.notAllowed(senderTypes.map((type) => vendorWord(type, switches)));
  },
  name: (value, errors) => {
    if (typeof value !== "string" || value.length > longestName || !extensionInName(value))
      errors.invalid(`must be a file name with extension, of up to ${longestName} characters`);
  },
  size: (value, errors) => {
    const fits = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= mostBytes;
    if (!fits) errors.invalid(`must be a whole number of bytes from 1 to ${mostBytes}`);
  },
};

const assertValid = (service: EmulatedService, body: JsonObject): void => {
  const errors = new ValidationErrors();
  for (const [path, check] of Object.entries(members)) {
    const value = valueOnPath(body, ...path.split("."));
    if (value === undefined || value === null) errors.at(path).missing();
    else check(value, errors.at(path), service);
  }
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
  throw new HttpError(404, "404-101", "There is no asset with this id.");
};

/** Registers an asset and gives the signed URL that its content goes to (specification §4.2). */
export const createAssetRecord: OperationHandler = (service, call) => {
  const body = call.body();
  assertValid(service, body);
  const name = String(body.name);
  const asset: AssetRecord = {
    id: randomUUID(),
    channelType: String(valueOnPath(body, "channel", "type")),
    senderType: String(valueOnPath(body, "sender", "type")),
    name,
    size: Number(body.size),
    contentType: contentTypeFor(extensionInName(name) ?? ""),
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
 * Gives the signed URL that the content comes from (specification §4.2). As long as there is no
 * content there is nothing to give (404, assumed).
 */
export const getAssetRecord: OperationHandler = (service, { id, request }) => {
  const asset = find(service, id);
  if (!asset.uploaded)
    throw new HttpError(404, "404-101", "The content of this asset has not been uploaded.");
  return {
    status: 200,
    body: { ...describeAsset(asset), ...signedUrl(service, request, "GET", id) },
  };
};

/** Deletes an asset and its content, unless it was used in a message (specification §2). */
export const deleteAssetRecord: OperationHandler = (service, { id }) => {
  if (find(service, id).used) {
    const status = service.switches.usedAssetStatus;
    throw new HttpError(
      status,
      `${status}-113`,
      "The asset has been used in a message and cannot be deleted.",
    );
  }
  service.assets.remove(id);
  return { status: 204 };
};
