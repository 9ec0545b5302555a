import { fieldViolations } from "../../provider/definition/violations.js";
import { fieldsToWire } from "../../provider/definition/wire.js";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { textAt, valueAt, withoutUndefined } from "../../provider/kernel/json.js";
import { contentTypeOf, extensionInName } from "../../provider/resources/content-types.js";
import { assetFields, largestFile } from "../../provider/resources/message-fields.js";
import type { SenderKind } from "../../provider/resources/message-types.js";
import type { Request } from "../../provider/service/client.js";
import { type Operation, runtimeOperations } from "../../provider/service/operations.js";
import { guardInput, inputInvalid } from "./caller-input.js";
import { type CallOptions, callOptions, checkInput } from "./input-schemas.js";
import { readDate } from "./received-message.js";

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

/** @throws ConversationError `INPUT_INVALID` if a rule is broken */
export const assertAsset = ({ channel, sender, name, size }: AssetRequest): void => {
  const { title } = operations.createAsset;
  const given = { channel, sender, name, size };
  const [broken] = guardInput(title, () =>
    fieldViolations({ kind: "an asset", fields: assetFields }, given),
  );
  if (broken) throw inputInvalid(title, `${broken.path} ${broken.rule}`);
  if (!extensionInName(name))
    throw inputInvalid(title, "name must be a file name with an extension");
};

const unusable = (operation: Operation, rule: string): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${operation.title}: ${rule}. Check that the base URL belongs to the service.`,
    { method: operation.method, template: operation.template },
    operation.method === "POST" ? "done" : "none",
  );

const readAddress = (operation: Operation, body: unknown): SignedAddress => {
  const contentUrl = textAt(body, "contentUrl");
  if (contentUrl === undefined) throw unusable(operation, "the response has no contentUrl");
  const contentUrlExpiry = readDate(valueAt(body, "contentUrlExpiry"));
  return withoutUndefined({ contentUrl, contentUrlExpiry });
};

const checkSignal = ({ title }: Operation, options: CallOptions) => {
  const { signal } = checkInput(title, "options", callOptions, options);
  return withoutUndefined({ signal });
};

/** Creates an asset and returns the signed URL to post its content to. */
export const createAsset = async (
  { request, platformName }: AssetCalls,
  asset: AssetRequest,
  options: CallOptions = {},
): Promise<NewAsset> => {
  const operation = operations.createAsset;
  const signal = checkSignal(operation, options);
  const { channel, sender, name, size } = guardInput(operation.title, () => ({ ...asset }));
  assertAsset({ channel, sender, name, size });
  const body = fieldsToWire(assetFields, { channel, sender, name, size }, { platformName });
  const answer = await request(operation, { body, ...signal });
  const id = textAt(answer.body, "id");
  if (id === undefined) throw unusable(operation, "the response has no ID");
  const address = readAddress(operation, answer.body);
  return { id, name, size, contentType: contentTypeOf(name), ...address };
};

/** Returns an asset and the signed URL to fetch its content from. */
export const getAsset = async (
  { request }: AssetCalls,
  id: string,
  options: CallOptions = {},
): Promise<StoredAsset> => {
  const operation = operations.getAsset;
  const { body } = await request(operation, { id, ...checkSignal(operation, options) });
  const [name, contentType] = [textAt(body, "name"), textAt(body, "contentType")];
  const stated = valueAt(body, "size");
  const size = typeof stated === "number" && Number.isSafeInteger(stated) ? stated : undefined;
  return {
    id,
    ...withoutUndefined({ name, contentType, size }),
    ...readAddress(operation, body),
  };
};

/** Whether the token has a scope for deletions, so that a refusal is because a message uses the asset. */
const mayDelete = ({ scopes }: AssetCalls): boolean => {
  const granted = scopes() ?? [];
  const enough: readonly string[] = operations.deleteAsset.scopes;
  return enough.some((scope) => granted.includes(scope));
};

/** Deletes an asset that no message has used yet. */
export const deleteAsset = async (
  calls: AssetCalls,
  id: string,
  options: CallOptions = {},
): Promise<void> => {
  const operation = operations.deleteAsset;
  const signal = checkSignal(operation, options);
  try {
    await calls.request(operation, { id, ...signal });
  } catch (error) {
    // An attempt whose answer was lost has deleted it.
    if (isConversationError(error, "NOT_FOUND") && error.effect !== "none") return;
    if (!isConversationError(error, "FORBIDDEN")) throw error;
    const code = mayDelete(calls) ? "IN_USE" : error.code;
    const message = `${error.message} An asset used in a message cannot be deleted.`;
    throw new ConversationError(code, message, error.details, error.effect, { cause: error });
  }
};
