import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename } from "node:path";
import { types } from "node:util";
import { ConversationError } from "../../../provider/kernel/errors.js";
import { endQuietly, inputInvalid } from "../caller-input.js";
import type { Pieces } from "./content-transfer.js";

/**
 * Where the content of an asset comes from: the path of a file, bytes, or a stream of bytes (of
 * node:stream, of the web, or any other). A stream can be read once only, and is ended in any case,
 * also where it was not read; a function that opens one allows a repeat.
 */
export type ContentSource = string | Uint8Array | ArrayBuffer | Blob | Pieces | (() => Pieces);

/** A stream of the caller's that is ours to read, and to end. */
interface CallerStream {
  readonly pieces: Pieces;
  /** Ends it, read or not: what feeds it is told that nobody reads any more. Never fails. */
  stop(): void;
}

/** A stream of node:stream, or anything like it. */
type NodeReadable = Pieces & {
  destroy(): unknown;
  on(event: "error", listener: (error: unknown) => void): unknown;
};

/** A stream of the web. */
type WebReadable = Pieces & Pick<ReadableStream<Uint8Array>, "getReader">;

const has = (value: object, ...methods: readonly string[]): boolean =>
  methods.every((name) => typeof Reflect.get(value, name) === "function");

const isNode = (source: Pieces): source is NodeReadable => has(source, "destroy", "on", "pipe");
const isWeb = (source: Pieces): source is WebReadable => has(source, "getReader");

/** Whether pieces can be read from a value. */
const isPieces = (value: unknown): value is Pieces =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** A Blob, also of another realm. */
const isBlob = (source: object): source is Blob =>
  has(source, "stream", "arrayBuffer", "slice") && "size" in source;

/** Why nothing can be read from a stream, told before anything is sent; undefined where all is well. */
const whyUnreadable = (source: Pieces): string | undefined => {
  const is = (name: string): boolean => Reflect.get(source, name) === true;
  if (isWeb(source) && is("locked")) return "the stream is locked by another reader";
  const isOver = isNode(source) && (is("destroyed") || is("readableEnded"));
  return isOver ? "the stream was read or closed before" : undefined;
};

const nodeStream = (source: NodeReadable): CallerStream => {
  // It may fail while nobody reads it yet; whoever reads it then is told.
  source.on("error", () => {});
  return { pieces: source, stop: () => endQuietly(() => source.destroy()) };
};

/** By a reader, since an iterator cannot be ended while it waits for a piece. */
const webStream = (source: WebReadable): CallerStream => {
  const reader = source.getReader();
  const pieces = async function* (): Pieces & AsyncGenerator<Uint8Array> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  };
  return { pieces: pieces(), stop: () => endQuietly(() => reader.cancel()) };
};

const iterableStream = (source: Pieces): CallerStream => {
  const iterator = source[Symbol.asyncIterator]();
  if (typeof iterator?.next !== "function") throw new TypeError("the source gives no iterator");
  return {
    pieces: { [Symbol.asyncIterator]: () => iterator },
    stop: () => endQuietly(() => iterator.return?.()),
  };
};

/** Takes a stream over. */
const callerStream = (source: Pieces): CallerStream => {
  if (isNode(source)) return nodeStream(source);
  return isWeb(source) ? webStream(source) : iterableStream(source);
};

/** A source that is ready to be read. */
export interface OpenContent {
  /** File name, where the source has one. */
  readonly name?: string;
  /** Bytes, where the source tells. */
  readonly size?: number;
  /** Whether it can be read again. */
  readonly repeatable: boolean;
  /** Opens it for one reading. */
  open(): CallerStream;
  /** Ends what the caller opened, read or not. */
  stop(): void;
}

const pieceBytes = 64 * 1024;

async function* piecesOf(bytes: Uint8Array): Pieces & AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes);
  }
}

const invalid = (rule: string): ConversationError => inputInvalid("upload an asset", rule);

const ours = { repeatable: true, stop: () => {} } as const;

const ofFile = async (path: string): Promise<OpenContent> => {
  const found = await stat(path).catch(() => undefined);
  if (!found?.isFile()) throw invalid(`there is no file ${JSON.stringify(path)} that can be read`);
  const open = () => callerStream(createReadStream(path, { highWaterMark: pieceBytes }));
  return { ...ours, name: basename(path), size: found.size, open };
};

const ofBytes = (bytes: Uint8Array): OpenContent => ({
  ...ours,
  size: bytes.byteLength,
  open: () => callerStream(piecesOf(bytes)),
});

const ofBlob = (blob: Blob): OpenContent => ({
  ...ours,
  ...("name" in blob && typeof blob.name === "string" ? { name: blob.name } : {}),
  size: blob.size,
  open: () => callerStream(blob.stream()),
});

const ofFunction = (source: () => Pieces): OpenContent => ({
  ...ours,
  open: () => {
    const opened: unknown = source();
    if (!isPieces(opened)) throw new TypeError("the function gives no stream");
    return callerStream(opened);
  },
});

const ofStream = (source: Pieces): OpenContent => {
  const rule = whyUnreadable(source);
  if (rule !== undefined) throw invalid(rule);
  const stream = callerStream(source);
  return { repeatable: false, open: () => stream, stop: stream.stop };
};

/**
 * Makes a source ready; opens files only when they are read.
 *
 * @throws ConversationError `INPUT_INVALID` for what cannot be read
 */
export const openContent = async (source: ContentSource): Promise<OpenContent> => {
  if (typeof source === "string") return ofFile(source);
  // Told by what they are, not by their class: a test runner may have realms of its own.
  if (types.isUint8Array(source)) return ofBytes(source);
  if (types.isArrayBuffer(source)) return ofBytes(new Uint8Array(source));
  if (typeof source === "function") return ofFunction(source);
  if (typeof source === "object" && source !== null && isBlob(source)) return ofBlob(source);
  if (isPieces(source)) return ofStream(source);
  throw invalid("the source is no path, no bytes and no stream");
};

/** The pieces of a source, which is opened for them and ended after them; a failure to read them says so. */
export async function* readable(open: () => CallerStream): Pieces & AsyncGenerator<Uint8Array> {
  let stream: CallerStream | undefined;
  try {
    stream = open();
    yield* stream.pieces;
  } catch (error) {
    const text =
      "Could not upload an asset: the source could not be read to its end, see the cause.";
    throw new ConversationError("INPUT_INVALID", text, {}, "none", { cause: error });
  } finally {
    stream?.stop();
  }
}
