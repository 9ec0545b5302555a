import { ConversationError, isConversationError } from "../../../provider/kernel/errors.js";
import type { Request } from "../../../provider/service/http/client.js";
import { type Operation, runtimeOperations } from "../../../provider/service/http/operations.js";
import { inputInvalid, prepared } from "../caller-input.js";
import { callOptions, checkedInput } from "../input-schemas.js";
import { textAt, valueAt, withoutUndefined } from "../json-members.js";
import {
  isSenderKind,
  type SenderKind,
  senderKinds,
  senderToWire,
} from "../messages/message-types.js";
import { assetContentType, fileExtension } from "./content-types.js";

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
  /** The service's id of the asset. */
  readonly id: string;
  /** File name with extension. */
  readonly name: string;
  /** In bytes. */
  readonly size: number;
  /** Such as `image/png`, derived from the extension (assumed). */
  readonly contentType: string;
}

/** A signed address. Whoever has it has the content: keep it out of logs. */
export interface SignedAddress {
  /** Takes one POST of the content, or gives it to a GET. Absolute https address. */
  readonly contentUrl: string;
  /** When it ends, by the clock of the service. Left out: the service did not say. */
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

const operations = runtimeOperations;

const brokenRule = ({ channel, sender, name, size }: AssetRequest): string | undefined => {
  if (typeof channel !== "string" || channel === "") return "channel must be the type of a channel";
  if (!isSenderKind(sender)) return `sender must be one of: ${senderKinds.join(", ")}`;
  if (typeof name !== "string" || name.length > longestName || !fileExtension(name)) {
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
  if (rule !== undefined) throw inputInvalid(operations.createAsset.title, rule);
};

const unusable = (operation: Operation, rule: string): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${operation.title}: ${rule}. Check that the base address is the service's own.`,
    { method: operation.method, template: operation.template },
    operation.method === "POST" ? "done" : "none",
  );

const addressIn = (operation: Operation, body: unknown): SignedAddress => {
  const contentUrl = textAt(body, "contentUrl");
  if (contentUrl === undefined) throw unusable(operation, "the answer holds no contentUrl");
  const expiry = new Date(textAt(body, "contentUrlExpiry") ?? "");
  return { contentUrl, ...(Number.isNaN(expiry.getTime()) ? {} : { contentUrlExpiry: expiry }) };
};

const signalOf = ({ title }: Operation, options: CallOptions) => {
  const { signal } = checkedInput(title, "options", callOptions, options);
  return withoutUndefined({ signal });
};

/** Makes an asset: gives the signed address that its content is to be posted to. */
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
  if (id === undefined) throw unusable(operation, "the answer holds no id");
  const address = addressIn(operation, answer.body);
  return { id, name, size, contentType: assetContentType(name), ...address };
};

/** Gives an asset and the signed address that its content comes from. */
export const getAsset = async (
  { request }: AssetCalls,
  id: string,
  options: CallOptions = {},
): Promise<StoredAsset> => {
  const operation = operations.getAsset;
  const { body } = await request(operation, { id, ...signalOf(operation, options) });
  const [name, contentType] = [textAt(body, "name"), textAt(body, "contentType")];
  const told = valueAt(body, "size");
  const size = typeof told === "number" && Number.isSafeInteger(told) ? told : undefined;
  return {
    id,
    ...withoutUndefined({ name, contentType, size }),
    ...addressIn(operation, body),
  };
};

/** No document gives the status of this refusal: 403 where the scope is there, and any other refusal. */
const isInUse = ({ scopes }: AssetCalls, error: ConversationError): boolean => {
  if (error.code === "REJECTED") return true;
  const granted = scopes() ?? [];
  const enough: readonly string[] = operations.deleteAsset.scopes;
  return error.code === "FORBIDDEN" && enough.some((scope) => granted.includes(scope));
};

/** Deletes an asset that has not been used in a message yet. */
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
