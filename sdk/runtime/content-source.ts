import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { ConversationError } from "../../provider/service/errors.js";
import type { Pieces } from "./content-transfer.js";

/**
 * Where the content of an asset comes from: the path of a file, bytes, or a stream of bytes (of
 * node:stream, of the web, or any other). A stream can be read once only; a function that opens one
 * allows a repeat.
 */
export type ContentSource = string | Uint8Array | ArrayBuffer | Blob | Pieces | (() => Pieces);

/** A source that is ready to be read. */
export interface OpenContent {
  /** File name, where the source has one. */
  readonly name?: string;
  /** Bytes, where the source tells. */
  readonly size?: number;
  /** Whether it can be read again. */
  readonly repeatable: boolean;
  pieces(): Pieces;
}

/** Told as content moves: bytes so far, and bytes in all. */
export type OnProgress = (progress: {
  readonly transferred: number;
  readonly total: number;
}) => void;

const pieceBytes = 64 * 1024;

async function* piecesOf(bytes: Uint8Array): Pieces & AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes);
  }
}

const invalid = (rule: string): ConversationError =>
  new ConversationError("INPUT_INVALID", `Could not upload an asset: ${rule}. Nothing was sent.`);

const ofFile = async (path: string): Promise<OpenContent> => {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw invalid(`there is no file ${JSON.stringify(path)} that can be read`);
  const pieces = () => createReadStream(path, { highWaterMark: pieceBytes });
  return { name: basename(path), size: found.size, repeatable: true, pieces };
};

const ofBytes = (bytes: Uint8Array): OpenContent => ({
  size: bytes.byteLength,
  repeatable: true,
  pieces: () => piecesOf(bytes),
});

const ofBlob = (blob: Blob): OpenContent => ({
  ...("name" in blob && typeof blob.name === "string" ? { name: blob.name } : {}),
  size: blob.size,
  repeatable: true,
  pieces: () => blob.stream(),
});

const isPieces = (source: unknown): source is Pieces =>
  typeof source === "object" && source !== null && Symbol.asyncIterator in source;

/**
 * Makes a source ready; opens files only when they are read.
 *
 * @throws ConversationError `INPUT_INVALID` for what cannot be read
 */
export const openContent = async (source: ContentSource): Promise<OpenContent> => {
  if (typeof source === "string") return ofFile(source);
  if (source instanceof Uint8Array) return ofBytes(source);
  if (source instanceof ArrayBuffer) return ofBytes(new Uint8Array(source));
  if (source instanceof Blob) return ofBlob(source);
  if (typeof source === "function") return { repeatable: true, pieces: source };
  if (isPieces(source)) return { repeatable: false, pieces: () => source };
  throw invalid("the source is no path, no bytes and no stream");
};

/** The pieces of a source; a failure to read them says so. */
export async function* readable(content: OpenContent): Pieces & AsyncGenerator<Uint8Array> {
  try {
    yield* content.pieces();
  } catch (error) {
    const text =
      "Could not upload an asset: the source could not be read to its end, see the cause.";
    throw new ConversationError("INPUT_INVALID", text, {}, "none", { cause: error });
  }
}

/**
 * Passes pieces on and counts them: never more than `size` bytes, never fewer.
 *
 * @param wrong makes the error for pieces that do not add up
 */
export async function* counted(
  pieces: Pieces,
  size: number,
  wrong: (rule: string) => Error,
  onProgress?: OnProgress,
): Pieces & AsyncGenerator<Uint8Array> {
  let transferred = 0;
  for await (const piece of pieces) {
    if (!(piece instanceof Uint8Array)) throw wrong("the stream gives something other than bytes");
    transferred += piece.byteLength;
    if (transferred > size) throw wrong(`there are more than the ${size} bytes announced`);
    yield piece;
    onProgress?.({ transferred, total: size });
  }
  if (transferred < size) throw wrong(`there are ${transferred} of ${size} bytes only`);
}
