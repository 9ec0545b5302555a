import { readFile, stat } from "node:fs/promises";
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { types } from "node:util";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import {
  type Asset,
  type AssetCalls,
  type AssetRequest,
  assertAsset,
  createAsset,
  deleteAsset,
  getAsset,
  largestAsset,
  type NewAsset,
  type SignedAddress,
  type StoredAsset,
} from "./asset-calls.js";
import { inputInvalid } from "./caller-input.js";
import type { ContentTransfer, SignedTransfer } from "./content-transfer.js";
import { type CallOptions, callOptions, checkOptions } from "./input-schemas.js";
import { checkSignedAddress } from "./signed-address.js";

/** The source of an asset's content: the path of a file, or bytes. */
export type ContentSource = string | Uint8Array;

/** Options for an upload. `channel` and `sender` are required. */
export interface UploadOptions extends Pick<AssetRequest, "channel" | "sender">, CallOptions {
  /** File name with an extension. Required for bytes. Default: the name of the file. */
  readonly name?: string;
}

/** A downloaded asset, without its signed URL. */
export type Downloaded = Omit<StoredAsset, "contentUrl" | "contentUrlExpiry"> & {
  /** Number of bytes received. */
  readonly size: number;
  /** The content. */
  readonly bytes: Uint8Array;
};

/** Operations on attachments and their content. Every failure is a ConversationError. */
export interface Assets {
  /**
   * Creates an asset and returns the signed URL to post its content to (specification §4.2). Use
   * this only if you transfer the content yourself; otherwise use `upload`.
   *
   * @throws ConversationError `INPUT_INVALID` before anything is sent, `BAD_RESPONSE` for a
   * response without an ID or URL; otherwise, as for every call
   * @example
   * const { id, contentUrl } = await hub.assets.create({
   *   channel: "custom.web", sender: "custom_bot", name: "receipt.pdf", size: 48_213,
   * });
   */
  create(asset: AssetRequest, options?: CallOptions): Promise<NewAsset>;
  /**
   * Returns an asset and the signed URL to fetch its content from (specification §4.2).
   *
   * @throws ConversationError `NOT_FOUND`, `ID_INVALID`, `BAD_RESPONSE` for a response without a
   * URL; otherwise, as for every call
   * @example
   * const { name, size } = await hub.assets.get(assetId);
   */
  get(id: string, options?: CallOptions): Promise<StoredAsset>;
  /**
   * Deletes an asset (specification §4.2).
   *
   * @throws ConversationError `IN_USE` if a message has used it and the service's response
   * distinguishes that from a missing scope
   * @example
   * await hub.assets.delete(assetId);
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * Creates an asset and posts its content to the signed URL. Checks the name and size before
   * sending anything. If the URL has expired or fails temporarily (401, 403, 410, 502 to 504),
   * repeats the upload once with a new asset. If an upload fails, takes more than 5 minutes, or is
   * canceled, tries for up to 2 s to delete the asset.
   *
   * @returns an attachment for a text message
   * @throws ConversationError `INPUT_INVALID` before anything is sent; otherwise, as for every call
   *
   * @example
   * const asset = await hub.assets.upload("receipt.pdf", { channel: "custom.web", sender: "custom_bot" });
   * await hub.messages.reply(message, { type: "text", sender: "custom_bot", attachments: [asset] });
   */
  upload(source: ContentSource, options: UploadOptions): Promise<Asset>;
  /**
   * Downloads an asset's content, at most 10 MiB, and checks its size. If the signed URL has expired
   * or fails temporarily, as in `upload`, requests a new one once.
   *
   * @throws ConversationError `BAD_RESPONSE` if the size is wrong; otherwise, as for every call
   *
   * @example
   * const { bytes, contentType } = await hub.assets.download(assetId);
   */
  download(id: string, options?: CallOptions): Promise<Downloaded>;
}

/** What asset operations need of a connection. */
interface AssetParts extends AssetCalls {
  /** Base URL of the service. */
  readonly baseUrl: string;
  readonly transfer: ContentTransfer;
  /** Signal that cancels all transfers. */
  readonly closing: AbortSignal;
}

const uploading = "upload an asset";

const invalid = (rule: string): ConversationError => inputInvalid(uploading, rule);

const assertSize = (size: number): void => {
  if (size >= 1 && size <= largestAsset) return;
  const [has, most] = [size, largestAsset].map((bytes) => bytes.toLocaleString("en-US"));
  throw invalid(`the source has ${has} bytes; 1 to ${most} (10 MiB) are allowed`);
};

const readSource = async (source: ContentSource): Promise<Uint8Array> => {
  // Recognized by its behavior, not by its class: a test runner may have its own realms.
  if (types.isUint8Array(source)) return source;
  if (typeof source !== "string") throw invalid("the source must be a path or a Uint8Array");
  const found = await stat(source).catch(() => undefined);
  if (!found?.isFile()) throw invalid(`${JSON.stringify(source)} is not a readable file`);
  assertSize(found.size);
  return readFile(source).catch((error) => {
    throw inputInvalid(uploading, "the file cannot be read; see the cause", error);
  });
};

const longestTransferMs = 5 * 60_000;

const describeTransfer = (
  { baseUrl, closing }: AssetParts,
  what: string,
  { contentUrl }: SignedAddress,
  { signal }: CallOptions,
): SignedTransfer => ({
  what,
  url: checkSignedAddress(contentUrl, baseUrl, what),
  signal: AbortSignal.any([
    closing,
    AbortSignal.timeout(longestTransferMs),
    ...(signal ? [signal] : []),
  ]),
});

/** Answers of a signed URL that has expired or fails for a moment: a new one may work. */
const passingStatuses: readonly number[] = [401, 403, 410, 502, 503, 504];

/** Uses the signed URL of an asset; a new one once if the first does not work anymore. */
const useSignedAddress = async <A, T>(
  ask: () => Promise<A>,
  use: (asset: A) => Promise<T>,
): Promise<T> => {
  const first = await ask();
  try {
    return await use(first);
  } catch (error) {
    const status = isConversationError(error) ? error.details.status : undefined;
    if (!passingStatuses.includes(status ?? 0)) throw error;
  }
  return use(await ask());
};

/** A caller that gave up, or met a hanging service, should not wait for a deletion as well. */
const discardWithinMs = 2_000;

/** An asset without content is of no use; if it cannot be deleted it does no harm either. */
const discardAsset = async (parts: AssetParts, { id }: Asset): Promise<void> => {
  const tooLong = pause(discardWithinMs, undefined, { ref: false });
  await Promise.race([deleteAsset(parts, id).catch(() => {}), tooLong]);
};

const upload = async (
  parts: AssetParts,
  source: ContentSource,
  options: UploadOptions,
): Promise<Asset> => {
  const given = checkOptions(uploading, callOptions, options);
  const { channel, sender, name = typeof source === "string" ? basename(source) : "" } = given;
  const bytes = await readSource(source);
  assertSize(bytes.byteLength);
  if (name === "") throw invalid("bytes have no name; set the name option");
  const request = { channel, sender, name, size: bytes.byteLength };
  assertAsset(request);
  return useSignedAddress(
    () => createAsset(parts, request, given),
    async (asset) => {
      const { id, size, contentType } = asset;
      try {
        const transfer = describeTransfer(parts, `upload asset ${id}`, asset, given);
        await parts.transfer.post(transfer, bytes, contentType);
      } catch (error) {
        await discardAsset(parts, asset);
        throw error;
      }
      return { id, name, size, contentType };
    },
  );
};

const download = async (
  parts: AssetParts,
  id: string,
  options: CallOptions,
): Promise<Downloaded> => {
  const given = checkOptions("download an asset", callOptions, options);
  return useSignedAddress(
    () => getAsset(parts, id, given),
    async ({ contentUrl, contentUrlExpiry: _, ...about }) => {
      const what = `download asset ${id}`;
      const transfer = describeTransfer(parts, what, { contentUrl }, given);
      const bytes = await parts.transfer.get(transfer);
      const size = bytes.byteLength;
      if (about.size === undefined || about.size === size) return { ...about, size, bytes };
      throw new ConversationError(
        "BAD_RESPONSE",
        `Could not ${what}: the content has ${size} bytes, but the asset specifies ${about.size}. Try again.`,
      );
    },
  );
};

/** Returns the asset operations for a connection. */
export const createAssets = (parts: AssetParts): Assets => ({
  create: (asset, options) => createAsset(parts, asset, options),
  get: (id, options) => getAsset(parts, id, options),
  delete: (id, options) => deleteAsset(parts, id, options),
  upload: (source, options) => upload(parts, source, options),
  download: (id, options = {}) => download(parts, id, options),
});
