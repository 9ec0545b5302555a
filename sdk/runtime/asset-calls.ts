import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { textAt, valueAt, withoutUndefined } from "../../provider/kernel/json.js";
import { largestFile, longestName } from "../../provider/resources/message-fields.js";
import {
  isSenderKind,
  type SenderKind,
  senderKinds,
  senderToWire,
} from "../../provider/resources/message-types.js";
import type { Request } from "../../provider/service/http/client.js";
import { type Operation, runtimeOperations } from "../../provider/service/http/operations.js";
import { inputInvalid, prepared, refusalDetails } from "./caller-input.js";
import { type CallOptions, callOptions, checkedInput } from "./input-schemas.js";

/** What an asset of an unknown extension is taken for (assumed). */
const anyBytes = "application/octet-stream";

const office = "application/vnd.openxmlformats-officedocument";

/** Registered content types of the extensions that go with messages. */
const byExtension: Readonly<Record<string, string>> = {
  "3gp": "video/3gpp",
  aac: "audio/aac",
  avi: "video/x-msvideo",
  avif: "image/avif",
  bmp: "image/bmp",
  css: "text/css",
  csv: "text/csv",
  doc: "application/msword",
  docx: `${office}.wordprocessingml.document`,
  gif: "image/gif",
  gz: "application/gzip",
  heic: "image/heic",
  htm: "text/html",
  html: "text/html",
  ico: "image/x-icon",
  ics: "text/calendar",
  jpeg: "image/jpeg",
  jpg: "image/jpeg",
  json: "application/json",
  log: "text/plain",
  m4a: "audio/mp4",
  md: "text/markdown",
  mov: "video/quicktime",
  mp3: "audio/mpeg",
  mp4: "video/mp4",
  mpeg: "video/mpeg",
  mpg: "video/mpeg",
  odp: "application/vnd.oasis.opendocument.presentation",
  ods: "application/vnd.oasis.opendocument.spreadsheet",
  odt: "application/vnd.oasis.opendocument.text",
  oga: "audio/ogg",
  ogg: "audio/ogg",
  pdf: "application/pdf",
  png: "image/png",
  ppt: "application/vnd.ms-powerpoint",
  pptx: `${office}.presentationml.presentation`,
  rtf: "application/rtf",
  svg: "image/svg+xml",
  tif: "image/tiff",
  tiff: "image/tiff",
  txt: "text/plain",
  vcf: "text/vcard",
  wav: "audio/wav",
  webm: "video/webm",
  webp: "image/webp",
  xls: "application/vnd.ms-excel",
  xlsx: `${office}.spreadsheetml.sheet`,
  xml: "application/xml",
  zip: "application/zip",
};

/** The extension of a file name in lower case, without the dot; undefined if it has none. */
const fileExtension = (name: string): string | undefined =>
  /[^./\\]\.([A-Za-z0-9]{1,16})$/.exec(name)?.[1]?.toLowerCase();

/** Returns the content type that the service derives from a file name's extension (assumed). */
export const assetContentType = (name: string): string => {
  const extension = fileExtension(name) ?? "";
  return (Object.hasOwn(byExtension, extension) && byExtension[extension]) || anyBytes;
};

/** Maximum size of an asset in bytes: 10 MiB (public reference). */
export const largestAsset = largestFile;

/** The parameters for creating an asset (public reference). */
export interface AssetRequest {
  /** Type of the channel, such as `custom.kiosk`. */
  readonly channel: string;
  /** The kind of sender that will send the asset. */
  readonly sender: SenderKind;
  /**
   * File name with an extension, at most 255 characters. The extension determines the content type
   * (assumed).
   */
  readonly name: string;
  /** Size in bytes: 1 to 10,485,760. */
  readonly size: number;
}

/** An asset that you can attach to a message. */
export interface Asset {
  /** The service's ID for the asset. */
  readonly id: string;
  /** File name with an extension. */
  readonly name: string;
  /** Size in bytes. */
  readonly size: number;
  /** Content type, such as `image/png`; derived from the extension (assumed). */
  readonly contentType: string;
}

/** A signed URL. It gives access to the content, so keep it out of logs. */
export interface SignedAddress {
  /**
   * Absolute https URL that accepts one POST of the content, or returns the content in response to
   * a GET.
   */
  readonly contentUrl: string;
  /** When the URL expires, on the service's clock. Absent if the service did not specify it. */
  readonly contentUrlExpiry?: Date;
}

/** A new asset, and the URL to post its content to. */
export type NewAsset = Asset & SignedAddress;

/**
 * An existing asset, and the URL to fetch its content from. Members that the service omitted are
 * absent.
 */
export type StoredAsset = Pick<Asset, "id"> & Partial<Asset> & SignedAddress;

/** The parts of a connection that an asset operation needs. */
export interface AssetCalls {
  readonly request: Request;
  readonly platformName: string;
  /** Scopes of the current token, if known. */
  readonly scopes: () => readonly string[] | undefined;
}

const operations = runtimeOperations;

const brokenRule = ({ channel, sender, name, size }: AssetRequest): string | undefined => {
  if (typeof channel !== "string" || channel === "") return "channel must be a channel type";
  if (!isSenderKind(sender)) return `sender must be one of: ${senderKinds.join(", ")}`;
  if (typeof name !== "string" || name.length > longestName || !fileExtension(name)) {
    return `name must be a file name with an extension, at most ${longestName} characters long`;
  }
  if (!Number.isSafeInteger(size) || size < 1 || size > largestAsset) {
    return `size must be a whole number of bytes from 1 to ${largestAsset}`;
  }
  return undefined;
};

/** @throws ConversationError `INPUT_INVALID` if a rule is broken */
export const assertAsset = (asset: AssetRequest): void => {
  const rule = brokenRule(asset);
  if (rule !== undefined) throw inputInvalid(operations.createAsset.title, rule);
};

const unusable = (operation: Operation, rule: string): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${operation.title}: ${rule}. Check that the base URL belongs to the service.`,
    { method: operation.method, template: operation.template },
    operation.method === "POST" ? "done" : "none",
  );

const addressIn = (operation: Operation, body: unknown): SignedAddress => {
  const contentUrl = textAt(body, "contentUrl");
  if (contentUrl === undefined) throw unusable(operation, "the response has no contentUrl");
  const expiry = new Date(textAt(body, "contentUrlExpiry") ?? "");
  return { contentUrl, ...(Number.isNaN(expiry.getTime()) ? {} : { contentUrlExpiry: expiry }) };
};

const signalOf = ({ title }: Operation, options: CallOptions) => {
  const { signal } = checkedInput(title, "options", callOptions, options);
  return withoutUndefined({ signal });
};

/** Creates an asset and returns the signed URL to post its content to. */
export const createAsset = async (
  { request, platformName }: AssetCalls,
  asset: AssetRequest,
  options: CallOptions = {},
): Promise<NewAsset> => {
  const operation = operations.createAsset;
  const signal = signalOf(operation, options);
  const { channel, sender, name, size } = prepared(operation.title, () => ({ ...asset }));
  assertAsset({ channel, sender, name, size });
  const type = senderToWire(sender, platformName);
  const body = { channel: { type: channel }, sender: { type }, name, size };
  const answer = await request(operation, { body, ...signal });
  const id = textAt(answer.body, "id");
  if (id === undefined) throw unusable(operation, "the response has no ID");
  const address = addressIn(operation, answer.body);
  return { id, name, size, contentType: assetContentType(name), ...address };
};

/** Returns an asset and the signed URL to fetch its content from. */
export const getAsset = async (
  { request }: AssetCalls,
  id: string,
  options: CallOptions = {},
): Promise<StoredAsset> => {
  const operation = operations.getAsset;
  const { body } = await request(operation, { id, ...signalOf(operation, options) });
  const [name, contentType] = [textAt(body, "name"), textAt(body, "contentType")];
  const stated = valueAt(body, "size");
  const size = typeof stated === "number" && Number.isSafeInteger(stated) ? stated : undefined;
  return {
    id,
    ...withoutUndefined({ name, contentType, size }),
    ...addressIn(operation, body),
  };
};

/** No document gives the status of this refusal: 403 if the scope is there, and any other refusal. */
const isInUse = ({ scopes }: AssetCalls, error: ConversationError): boolean => {
  if (error.code === "REJECTED") return true;
  const granted = scopes() ?? [];
  const enough: readonly string[] = operations.deleteAsset.scopes;
  return error.code === "FORBIDDEN" && enough.some((scope) => granted.includes(scope));
};

/** Deletes an asset that no message has used yet. */
export const deleteAsset = async (
  calls: AssetCalls,
  id: string,
  options: CallOptions = {},
): Promise<void> => {
  const operation = operations.deleteAsset;
  const signal = signalOf(operation, options);
  try {
    await calls.request(operation, { id, ...signal });
  } catch (error) {
    // An attempt whose answer was lost has deleted it.
    if (isConversationError(error, "NOT_FOUND") && error.effect !== "none") return;
    if (!isConversationError(error, "FORBIDDEN", "REJECTED")) throw error;
    const rule = "An asset used in a message cannot be deleted";
    const message = isInUse(calls, error)
      ? `Could not delete asset ${id}: the service refused the deletion (${refusalDetails(error)}). ${rule}.`
      : `${error.message} ${rule}.`;
    const code = isInUse(calls, error) ? "IN_USE" : error.code;
    throw new ConversationError(code, message, error.details, error.effect, { cause: error });
  }
};
