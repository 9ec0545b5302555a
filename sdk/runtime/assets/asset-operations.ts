import { ConversationError, isConversationError } from "../../../provider/kernel/errors.js";
import { isObject } from "../../../provider/kernel/json.js";
import type { Request } from "../../../provider/service/http/client.js";
import { type Operation, runtimeOperations } from "../../../provider/service/http/operations.js";
import { callOptions, checkedInput, prepared } from "../caller-input.js";
import { isSenderKind, type SenderKind, senderKinds } from "../messages/message-types.js";
import { senderWord } from "../messages/sender-word.js";
import { contentTypeOf, extensionOf } from "./content-types.js";

/** Longest content of an asset in bytes: 10 MiB (public reference). */
export const largestAsset = 10_485_760;

const longestName = 255;

/** What an asset is made with (public reference). */
export interface AssetRequest {
  /** Type of the channel, such as `custom.kiosk`. */
  readonly channel: string;
  /** Who will send it. */
  readonly sender: SenderKind;
  /** File name with extension, at most 255 characters. The content type follows from it (assumed). */
  readonly name: string;
  /** In bytes: 1 to 10,485,760. */
  readonly size: number;
}

/** An asset. It can be given to a message as an attachment. */
export interface Asset {
  readonly id: string;
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  readonly contentType: string;
}

/** A signed address. Whoever has it has the content: keep it out of logs. */
export interface SignedAddress {
  readonly contentUrl: string;
  /** Left out: the service did not say. */
  readonly contentUrlExpiry?: Date;
}

/** An asset that was just made, and where its content is to be posted. */
export type NewAsset = Asset & SignedAddress;

/** An asset that has content, and where that is. What the service left out is missing. */
export type StoredAsset = Pick<Asset, "id"> & Partial<Asset> & SignedAddress;

/** What an operation needs of its connection. */
export interface AssetCalls {
  readonly request: Request;
  readonly platformName: string;
  /** Scopes of the token in use, where they are known. */
  readonly scopes: () => readonly string[] | undefined;
}

interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

const { createAsset, getAsset, deleteAsset } = runtimeOperations;

const brokenRule = ({ channel, sender, name, size }: AssetRequest): string | undefined => {
  if (typeof channel !== "string" || channel === "") return "channel must be the type of a channel";
  if (!isSenderKind(sender)) return `sender must be one of: ${senderKinds.join(", ")}`;
  if (typeof name !== "string" || name.length > longestName || !extensionOf(name)) {
    return `name must be a file name with extension, of at most ${longestName} characters`;
  }
  if (!Number.isSafeInteger(size) || size < 1 || size > largestAsset) {
    return `size must be a whole number of bytes from 1 to ${largestAsset}`;
  }
  return undefined;
};

/** @throws ConversationError `INPUT_INVALID` where a rule is broken */
export const assertAsset = (asset: AssetRequest): void => {
  const rule = brokenRule(asset);
  if (!rule) return;
  throw new ConversationError(
    "INPUT_INVALID",
    `Could not create asset: ${rule}. Nothing was sent.`,
  );
};

const unusable = (operation: Operation, rule: string): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${operation.title}: ${rule}. Check that the base address is the service's own.`,
    { method: operation.method, template: operation.template },
    operation.method === "POST" ? "done" : "none",
  );

const textIn = (body: unknown, name: string): string | undefined => {
  const text = isObject(body) ? body[name] : undefined;
  return typeof text === "string" && text !== "" ? text : undefined;
};

const addressIn = (operation: Operation, body: unknown): SignedAddress => {
  const contentUrl = textIn(body, "contentUrl");
  if (contentUrl === undefined) throw unusable(operation, "the answer holds no contentUrl");
  const expiry = new Date(textIn(body, "contentUrlExpiry") ?? "");
  return { contentUrl, ...(Number.isNaN(expiry.getTime()) ? {} : { contentUrlExpiry: expiry }) };
};

const signalOf = ({ title }: Operation, options: CallOptions): CallOptions =>
  checkedInput(title, "options", callOptions, options);

/** Makes an asset: gives the signed address that its content is to be posted to. */
export const create = async (
  { request, platformName }: AssetCalls,
  asset: AssetRequest,
  options: CallOptions = {},
): Promise<NewAsset> => {
  const { signal } = signalOf(createAsset, options);
  const { channel, sender, name, size } = prepared(createAsset.title, () => ({ ...asset }));
  assertAsset({ channel, sender, name, size });
  const body = {
    channel: { type: channel },
    sender: { type: senderWord(sender, platformName) },
    name,
    size,
  };
  const answer = await request(createAsset, { body, ...(signal ? { signal } : {}) });
  const id = textIn(answer.body, "id");
  if (id === undefined) throw unusable(createAsset, "the answer holds no id");
  const address = addressIn(createAsset, answer.body);
  return { id, name, size, contentType: contentTypeOf(name), ...address };
};

/** Gives an asset and the signed address that its content comes from. */
export const get = async (
  { request }: AssetCalls,
  id: string,
  options: CallOptions = {},
): Promise<StoredAsset> => {
  const { signal } = signalOf(getAsset, options);
  const { body } = await request(getAsset, { id, ...(signal ? { signal } : {}) });
  const name = textIn(body, "name");
  const contentType = textIn(body, "contentType");
  const size = isObject(body) ? body.size : undefined;
  return {
    id,
    ...(name === undefined ? {} : { name }),
    ...(contentType === undefined ? {} : { contentType }),
    ...(typeof size === "number" && Number.isSafeInteger(size) ? { size } : {}),
    ...addressIn(getAsset, body),
  };
};

/** No document gives the status of this refusal: 403 where the scope is there, and any other refusal. */
const isInUse = ({ scopes }: AssetCalls, error: ConversationError): boolean => {
  if (error.code === "REJECTED") return true;
  const granted = scopes() ?? [];
  return error.code === "FORBIDDEN" && deleteAsset.scopes.some((scope) => granted.includes(scope));
};

/** Deletes an asset that has not been used in a message yet. */
export const remove = async (
  calls: AssetCalls,
  id: string,
  options: CallOptions = {},
): Promise<void> => {
  const { signal } = signalOf(deleteAsset, options);
  try {
    await calls.request(deleteAsset, { id, ...(signal ? { signal } : {}) });
  } catch (error) {
    if (!isConversationError(error, "FORBIDDEN", "REJECTED")) throw error;
    const { status, serviceCode, serviceMessage } = error.details;
    const said = [status, serviceCode, serviceMessage].filter((each) => each !== undefined);
    const rule =
      "An asset that has been used in a message cannot be deleted (specification §2 rule 5)";
    const message = isInUse(calls, error)
      ? `Could not delete asset ${id}: the service refused (${said.join(", ")}). ${rule}.`
      : `${error.message} ${rule} either.`;
    const code = isInUse(calls, error) ? "IN_USE" : error.code;
    throw new ConversationError(code, message, error.details, error.effect, { cause: error });
  }
};
