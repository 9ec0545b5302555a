import { ConversationError, isConversationError } from "../../../provider/kernel/errors.js";
import { prepared } from "../caller-input.js";
import { getAsset, largestAsset, type StoredAsset } from "./asset-calls.js";
import {
  type ContentAnswer,
  type Pieces,
  rejectedBy,
  type SignedTransfer,
  transferFailure,
} from "./content-transfer.js";
import { type DownloadTarget, type OpenTarget, openTarget } from "./download-target.js";
import { checkedAddress } from "./signed-address.js";
import {
  type ContentParts,
  counted,
  movedContent,
  pauseBeforeRepeat,
  refusedTransfer,
  type TransferOptions,
  transferOptionsOf,
  transferSignal,
} from "./signed-transfer.js";

const doing = "download an asset";

/** What is known of an asset whose content was fetched. */
export type Downloaded = Omit<StoredAsset, "contentUrl" | "contentUrlExpiry"> & {
  /** In bytes, as they arrived. */
  readonly size: number;
};

/** A target that cannot be written to is the caller's to mend. */
const unwritable = (error: unknown): ConversationError =>
  isConversationError(error)
    ? error
    : new ConversationError(
        "INPUT_INVALID",
        "Could not download an asset: the target could not be written to, see the cause.",
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

const badContent = (id: string) => (rule: string) =>
  new ConversationError("BAD_RESPONSE", `Could not download asset ${id}: ${rule}. Run again.`);

/** One answer of a signed address, and the transfer that it belongs to. */
interface Fetched extends ContentAnswer {
  readonly transfer: SignedTransfer;
}

/** The content, or a refusal that holds no connection any more. */
const opened = async (parts: ContentParts, transfer: SignedTransfer): Promise<Fetched> => {
  const answer = await parts.transfer.download(transfer);
  if (answer.status !== 200) await answer.discard();
  return { ...answer, transfer };
};

/** Asks for the content; an address that fails for a moment is asked once more. */
const fetched = async (
  parts: ContentParts,
  asset: StoredAsset,
  options: TransferOptions,
): Promise<Fetched> => {
  const what = `download asset ${asset.id}`;
  const url = checkedAddress(asset.contentUrl, parts.rule, what);
  const transfer = { what, url, signal: transferSignal(parts, options) };
  const answer = await opened(parts, transfer);
  const isRepeated = await pauseBeforeRepeat(parts, asset, answer, transfer);
  return isRepeated ? opened(parts, transfer) : answer;
};

/** The size of the content, as the asset and the answer agree on it. */
const sizeOf = (asset: StoredAsset, { length }: ContentAnswer): number => {
  const wrong = badContent(asset.id);
  const size = asset.size ?? length;
  if (size === undefined || size > largestAsset) {
    throw wrong(`its size is not known, or above ${largestAsset} bytes`);
  }
  if (length !== undefined && length !== size) {
    throw wrong(`the content has ${length} bytes, but the asset ${size}`);
  }
  return size;
};

type Consume<T> = (pieces: Pieces, size: number, fetched: Fetched) => Promise<T>;

/**
 * Fetches the content of an asset and checks its size; `consume` gets it piece by piece. Whatever
 * happens, the connection is given back.
 */
const transferred = async <T>(
  parts: ContentParts,
  id: string,
  options: TransferOptions,
  consume: Consume<T>,
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

/** Also where what tells the progress is stuck the signal ends the transfer. */
const inTime: Consume<Uint8Array> = async (pieces, size, { transfer }) => {
  try {
    return await Promise.race([collected(pieces, size), rejectedBy(transfer.signal)]);
  } catch (error) {
    throw transferFailure(transfer, error);
  }
};

/** The content of an asset as bytes. */
export const downloadBytes = async (
  parts: ContentParts,
  id: string,
  options: TransferOptions,
): Promise<Downloaded & { readonly bytes: Uint8Array }> => {
  const checked = transferOptionsOf(doing, options);
  const { about, result } = await transferred(parts, id, checked, inTime);
  return { ...about, bytes: result };
};

const writtenTo =
  (target: OpenTarget): Consume<void> =>
  async (pieces, _size, { release, transfer }) => {
    const { signal } = transfer;
    try {
      await target.write(pieces, { signal, release });
    } catch (error) {
      throw signal.aborted ? transferFailure(transfer, error) : unwritable(error);
    }
  };

/** The content of an asset into a file or a stream. */
export const downloadTo = async (
  parts: ContentParts,
  id: string,
  target: DownloadTarget,
  options: TransferOptions,
): Promise<Downloaded> => {
  const checked = transferOptionsOf(doing, options);
  const opened = prepared(doing, () => openTarget(target));
  try {
    const { about } = await transferred(parts, id, checked, writtenTo(opened));
    return about;
  } finally {
    opened.leave();
  }
};
