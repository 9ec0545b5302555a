import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { ConversationError, isConversationError } from "../../provider/service/errors.js";
import { get, largestAsset, type StoredAsset } from "./asset-operations.js";
import { counted } from "./content-source.js";
import type { ContentAnswer, Pieces } from "./content-transfer.js";
import { checkedAddress } from "./signed-address.js";
import {
  type ContentParts,
  isOver,
  mayBeOver,
  refusedTransfer,
  type TransferOptions,
  transferSignal,
} from "./signed-transfer.js";

/** A stream of the web that takes bytes. */
interface WebTarget {
  getWriter(): {
    write(piece: Uint8Array): Promise<void>;
    close(): Promise<void>;
    abort(reason: unknown): Promise<void>;
  };
}

/**
 * Where content goes: the path of a file, which appears only when it is complete, or a stream of
 * node:stream or of the web, which is ended.
 */
export type DownloadTarget = string | NodeJS.WritableStream | WebTarget;

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

const toFile = async (pieces: Pieces, path: string): Promise<void> => {
  const part = `${path}.${randomUUID()}.part`;
  try {
    await pipeline(pieces, createWriteStream(part, { flags: "wx" }));
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
};

const toWeb = async (pieces: Pieces, target: WebTarget): Promise<void> => {
  const writer = target.getWriter();
  try {
    for await (const piece of pieces) await writer.write(piece);
    await writer.close();
  } catch (error) {
    await writer.abort(error).catch(() => {});
    throw error;
  }
};

const written = async (pieces: Pieces, target: DownloadTarget): Promise<void> => {
  try {
    if (typeof target === "string") await toFile(pieces, target);
    else if ("getWriter" in target) await toWeb(pieces, target);
    else await pipeline(Readable.from(pieces, { objectMode: false }), target);
  } catch (error) {
    throw unwritable(error);
  }
};

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

/** The answer of a signed address that is good; a refused one is renewed once. */
const fetched = async (
  parts: ContentParts,
  id: string,
  options: TransferOptions,
): Promise<{ readonly asset: StoredAsset; readonly answer: ContentAnswer }> => {
  const what = `download asset ${id}`;
  const asked = (asset: StoredAsset): Promise<ContentAnswer> => {
    const url = checkedAddress(asset.contentUrl, parts.rule, what);
    return parts.transfer.download({ what, url, signal: transferSignal(parts, options) });
  };
  let asset = await get(parts, id, options);
  const renewed = isOver(parts, asset);
  if (renewed) asset = await get(parts, id, options);
  let answer = await asked(asset);
  if (!renewed && mayBeOver(parts, asset, answer.status)) {
    await answer.discard();
    asset = await get(parts, id, options);
    answer = await asked(asset);
  }
  if (answer.status === 200) return { asset, answer };
  await answer.discard();
  throw refusedTransfer(what, answer.status);
};

/** Fetches the content of an asset and checks its size; `consume` gets it piece by piece. */
const transferred = async <T>(
  parts: ContentParts,
  id: string,
  options: TransferOptions,
  consume: (pieces: Pieces, size: number) => Promise<T>,
): Promise<{ readonly about: Downloaded; readonly result: T }> => {
  const { asset, answer } = await fetched(parts, id, options);
  const wrong = badContent(id);
  const size = asset.size ?? answer.length;
  if (size === undefined || size > largestAsset) {
    await answer.discard();
    throw wrong(`its size is not known, or above ${largestAsset} bytes`);
  }
  if (answer.length !== undefined && answer.length !== size) {
    await answer.discard();
    throw wrong(`the content has ${answer.length} bytes, but the asset ${size}`);
  }
  const result = await consume(counted(answer.pieces, size, wrong, options.onProgress), size);
  const { contentUrl: _url, contentUrlExpiry: _expiry, ...about } = asset;
  return { about: { ...about, size }, result };
};

/** The content of an asset as bytes. */
export const downloadBytes = async (
  parts: ContentParts,
  id: string,
  options: TransferOptions,
): Promise<Downloaded & { readonly bytes: Uint8Array }> => {
  const { about, result } = await transferred(parts, id, options, collected);
  return { ...about, bytes: result };
};

/** The content of an asset into a file or a stream. */
export const downloadTo = async (
  parts: ContentParts,
  id: string,
  target: DownloadTarget,
  options: TransferOptions,
): Promise<Downloaded> => {
  const { about } = await transferred(parts, id, options, (pieces) => written(pieces, target));
  return about;
};
