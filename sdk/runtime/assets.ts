import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { contentTypeOf } from "../../provider/resources/content-types.js";
import {
  type Asset,
  type AssetRequest,
  assertAsset,
  createAsset,
  deleteAsset,
  getAsset,
  largestAsset,
  type NewAsset,
  type StoredAsset,
} from "./asset-calls.js";
import { inputFailure, inputInvalid, prepared } from "./caller-input.js";
import {
  type ContentSource,
  type DownloadTarget,
  type OpenContent,
  openContent,
  openTarget,
  readable,
} from "./content-streams.js";
import {
  type ContentAnswer,
  type ContentParts,
  checkedAddress,
  counted,
  movedContent,
  type Pieces,
  pauseBeforeRepeat,
  refusedTransfer,
  rejectedBy,
  type SignedTransfer,
  type TransferOptions,
  type TransferReply,
  transferFailure,
  transferOptionsOf,
  transferSignal,
  type Upload,
} from "./content-transfer.js";
import type { CallOptions } from "./input-schemas.js";

/** Options for an upload. `channel` and `sender` are required. */
export interface UploadOptions extends Pick<AssetRequest, "channel" | "sender">, TransferOptions {
  /** File name with an extension. Default: the name of the source file. */
  readonly name?: string;
  /** Size in bytes. Required for streams; for files and bytes, it must match their size. */
  readonly size?: number;
  /**
   * Content type. Must match the file name's extension, from which the service derives it
   * (assumed).
   */
  readonly contentType?: string;
}

const uploading = "upload an asset";

const invalid = (rule: string): ConversationError => inputInvalid(uploading, rule);

/** Type, as a header has it, without parameters. */
const essence = (type: string): string => (type.split(";")[0] ?? "").trim().toLowerCase();

/** The request to the service, after every check that is possible in advance. */
const requestOf = (options: UploadOptions, content: OpenContent): AssetRequest => {
  const { channel, sender, contentType } = options;
  const name = options.name ?? content.name;
  const size = options.size ?? content.size;
  if (name === undefined) throw invalid("the source has no name; set the name option");
  if (size === undefined) throw invalid("the size of the source is unknown; set the size option");
  if (options.size === undefined && (size < 1 || size > largestAsset)) {
    throw invalid(
      `the source has ${size.toLocaleString("en-US")} bytes; 1 to ${largestAsset.toLocaleString("en-US")} (10 MiB) are allowed`,
    );
  }
  const request = { channel, sender, name, size };
  assertAsset(request);
  if (content.size !== undefined && content.size !== size) {
    throw invalid(`size is ${size}, but the source's size is ${content.size}`);
  }
  if (contentType !== undefined && typeof contentType !== "string") {
    throw invalid("contentType must be a string");
  }
  const derived = contentTypeOf(name);
  if (contentType !== undefined && essence(contentType) !== derived) {
    throw invalid(
      `contentType is ${JSON.stringify(contentType)}, but the extension in the name implies ${derived}`,
    );
  }
  return request;
};

/** A caller that gave up, or met a hanging service, should not wait for a deletion as well. */
const discardWithinMs = 2_000;

/** An asset without content is of no use; if it cannot be deleted it does no harm either. */
const discarded = async (parts: ContentParts, { id }: Asset): Promise<void> => {
  const tooLong = rejectedBy(AbortSignal.timeout(discardWithinMs));
  await Promise.race([deleteAsset(parts, id), tooLong]).catch(() => {});
};

/** Gets the content to a new asset. */
const delivered = async (
  parts: ContentParts,
  content: OpenContent,
  options: UploadOptions,
): Promise<Asset> => {
  const { repeatable } = content;
  const request = requestOf(options, content);

  const ask = async (old?: NewAsset): Promise<NewAsset> => {
    if (old) await discarded(parts, old);
    return createAsset(parts, request, options);
  };

  /** The content on its way to an asset; it is opened when it is sent. */
  const uploadOf = ({ id, contentType, size, contentUrl }: NewAsset): Upload => {
    const what = `upload asset ${id}`;
    const wrong = (rule: string) =>
      new ConversationError(
        "INPUT_INVALID",
        `Could not ${what}: ${rule}. The transfer was canceled.`,
      );
    return {
      what,
      url: checkedAddress(contentUrl, parts.rule, what),
      signal: transferSignal(parts, options),
      contentType,
      size,
      pieces: counted(readable(content.open), { size, wrong, onProgress: options.onProgress }),
    };
  };

  /** If the address fails for a moment, what can be read again is sent once more. */
  const move = async (asset: NewAsset): Promise<TransferReply> => {
    try {
      const first = uploadOf(asset);
      const reply = await parts.transfer.upload(first);
      if (!repeatable || !(await pauseBeforeRepeat(parts, asset, reply, first))) return reply;
      return await parts.transfer.upload(uploadOf(asset));
    } catch (error) {
      await discarded(parts, asset);
      throw error;
    }
  };

  const { asset, reply, isStuck } = await movedContent(parts, { ask, move, repeatable });
  const { id, name, size, contentType } = asset;
  if (reply.status >= 200 && reply.status <= 299) return { id, name, size, contentType };
  await discarded(parts, asset);
  const error = refusedTransfer(`upload asset ${id}`, reply, parts);
  if (!isStuck) throw error;
  throw new ConversationError(
    "REJECTED",
    `${error.message} A stream can be read only once: pass a function that opens the stream, so that the upload can be repeated.`,
    error.details,
  );
};

/**
 * Streams a source into a new asset: asks for the address, checks it, posts the content. A stream of
 * the caller's is ended in any case.
 */
const upload = async (
  parts: ContentParts,
  source: ContentSource,
  options: UploadOptions,
): Promise<Asset> => {
  const content = await openContent(source).catch((error) => {
    throw inputFailure(uploading, error);
  });
  try {
    return await delivered(parts, content, transferOptionsOf(uploading, options));
  } finally {
    content.stop();
  }
};

const downloading = "download an asset";

/** A downloaded asset, without its signed URL. */
export type Downloaded = Omit<StoredAsset, "contentUrl" | "contentUrlExpiry"> & {
  /** Number of bytes received. */
  readonly size: number;
};

/** The caller has to fix a target that cannot be written to. */
const unwritable = (error: unknown): ConversationError =>
  isConversationError(error)
    ? error
    : new ConversationError(
        "INPUT_INVALID",
        "Could not download an asset because writing to the target failed. For details, see the cause.",
        {},
        "none",
        { cause: error },
      );

const collected = async (pieces: Pieces, size: number): Promise<Uint8Array> => {
  const bytes = new Uint8Array(size);
  let place = 0;
  for await (const piece of pieces) {
    bytes.set(piece, place);
    place += piece.byteLength;
  }
  return bytes;
};

const badContent =
  (id: string, advice = " Try again.") =>
  (rule: string) =>
    new ConversationError("BAD_RESPONSE", `Could not download asset ${id}: ${rule}.${advice}`);

/** One answer of a signed URL, and the transfer that it belongs to. */
interface Fetched extends ContentAnswer {
  readonly transfer: SignedTransfer;
}

/** Asks for the content; an address that fails for a moment is asked once more. */
const fetched = async (
  parts: ContentParts,
  asset: StoredAsset,
  options: TransferOptions,
): Promise<Fetched> => {
  const what = `download asset ${asset.id}`;
  const url = checkedAddress(asset.contentUrl, parts.rule, what);
  const transfer = { what, url, signal: transferSignal(parts, options) };
  /** The content, or a refusal that holds no connection any more. */
  const open = async (): Promise<Fetched> => {
    const answer = await parts.transfer.download(transfer);
    if (answer.status !== 200) await answer.discard();
    return { ...answer, transfer };
  };
  const answer = await open();
  const isRepeated = await pauseBeforeRepeat(parts, asset, answer, transfer);
  return isRepeated ? open() : answer;
};

/** The size of the content, as the asset and the answer agree on it. */
const sizeOf = (asset: StoredAsset, { length }: ContentAnswer): number => {
  const wrong = badContent(asset.id);
  const size = asset.size ?? length;
  if (size === undefined || size > largestAsset) {
    // The size stays the same, however often the content is downloaded.
    throw badContent(asset.id, "")(`its size is unknown or exceeds ${largestAsset} bytes`);
  }
  if (length !== undefined && length !== size) {
    throw wrong(`the content's size is ${length}, but the asset specifies ${size}`);
  }
  return size;
};

/**
 * Fetches the content of an asset and checks its size; `consume` gets it piece by piece. Whatever
 * happens, the connection is given back.
 */
const transferred = async <T>(
  parts: ContentParts,
  id: string,
  options: TransferOptions,
  consume: (pieces: Pieces, size: number, fetched: Fetched) => Promise<T>,
): Promise<{ readonly about: Downloaded; readonly result: T }> => {
  const { asset, reply } = await movedContent(parts, {
    ask: () => getAsset(parts, id, options),
    move: (asset) => fetched(parts, asset, options),
    repeatable: true,
  });
  if (reply.status !== 200) throw refusedTransfer(reply.transfer.what, reply, parts);
  try {
    const size = sizeOf(asset, reply);
    const counting = { size, wrong: badContent(id), onProgress: options.onProgress };
    const result = await consume(counted(reply.pieces, counting), size, reply);
    const { contentUrl: _url, contentUrlExpiry: _expiry, ...about } = asset;
    return { about: { ...about, size }, result };
  } finally {
    reply.release();
  }
};

/** The content of an asset as bytes. The signal ends it even if the progress callback is stuck. */
const downloadBytes = async (
  parts: ContentParts,
  id: string,
  options: TransferOptions,
): Promise<Downloaded & { readonly bytes: Uint8Array }> => {
  const checked = transferOptionsOf(downloading, options);
  const { about, result } = await transferred(
    parts,
    id,
    checked,
    async (pieces, size, { transfer }) => {
      try {
        return await Promise.race([collected(pieces, size), rejectedBy(transfer.signal)]);
      } catch (error) {
        throw transferFailure(transfer, error);
      }
    },
  );
  return { ...about, bytes: result };
};

/** The content of an asset into a file or a stream. */
const downloadTo = async (
  parts: ContentParts,
  id: string,
  target: DownloadTarget,
  options: TransferOptions,
): Promise<Downloaded> => {
  const checked = transferOptionsOf(downloading, options);
  const opened = prepared(downloading, () => openTarget(target));
  const write = async (pieces: Pieces, _size: number, { release, transfer }: Fetched) => {
    const { signal } = transfer;
    try {
      await opened.write(pieces, { signal, release });
    } catch (error) {
      throw signal.aborted ? transferFailure(transfer, error) : unwritable(error);
    }
  };
  try {
    return (await transferred(parts, id, checked, write)).about;
  } finally {
    opened.leave();
  }
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
   * Creates an asset and streams its content to the signed URL. Checks the name, size, and content
   * type before sending anything. If the URL has expired, repeats the upload once with a new asset;
   * after a 502, 503, or 504, repeats it once with the same URL. An upload from a plain stream
   * cannot be repeated once reading has begun. If an upload fails, times out, or is canceled, tries
   * for up to 2 s to delete the asset. Always closes the source stream.
   *
   * @returns an attachment for a text message
   * @throws ConversationError `INPUT_INVALID`, including if the source or `onProgress` fails
   *
   * @example
   * const asset = await hub.assets.upload("receipt.pdf", { channel: "custom.web", sender: "custom_bot" });
   * await hub.messages.reply(message, { type: "text", sender: "custom_bot", attachments: [asset] });
   */
  upload(source: ContentSource, options: UploadOptions): Promise<Asset>;
  /**
   * Downloads an asset's content and checks its size. If the signed URL has expired, requests a new
   * one once; after a 502, 503, or 504, repeats the request once. If the target closes early, the
   * download ends. If the target received nothing, it stays open.
   *
   * @throws ConversationError `INPUT_INVALID`, including if the target or `onProgress` fails
   *
   * @example
   * createServer((_request, response) => {
   *   hub.assets.download(id, response).catch(() => response.destroy());
   * });
   */
  download(
    id: string,
    to?: undefined,
    options?: TransferOptions,
  ): Promise<Downloaded & { readonly bytes: Uint8Array }>;
  download(id: string, to: DownloadTarget, options?: TransferOptions): Promise<Downloaded>;
}

/** Returns the asset operations for a connection. */
export const assetsOf = (parts: ContentParts): Assets => {
  function download(
    id: string,
    to?: undefined,
    options?: TransferOptions,
  ): Promise<Downloaded & { readonly bytes: Uint8Array }>;
  function download(id: string, to: DownloadTarget, options?: TransferOptions): Promise<Downloaded>;
  function download(
    id: string,
    to?: DownloadTarget,
    options: TransferOptions = {},
  ): Promise<Downloaded> {
    return to === undefined
      ? downloadBytes(parts, id, options)
      : downloadTo(parts, id, to, options);
  }
  return {
    create: (asset, options) => createAsset(parts, asset, options),
    get: (id, options) => getAsset(parts, id, options),
    delete: (id, options) => deleteAsset(parts, id, options),
    upload: (source, options) => upload(parts, source, options),
    download,
  };
};
