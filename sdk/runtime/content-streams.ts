import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { rename, rm, stat } from "node:fs/promises";
import { basename } from "node:path";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ReadableStream, WritableStream } from "node:stream/web";
import { types } from "node:util";
import { ConversationError } from "../../provider/kernel/errors.js";
import { endQuietly, inputInvalid } from "./caller-input.js";
import { type Pieces, rejectedBy } from "./content-transfer.js";

/**
 * The source of an asset's content: a file path, bytes, or a stream of bytes (from node:stream, a
 * web stream, or any other async iterable). A stream can be read only once, and is always closed,
 * even if it is not read. To allow retries, pass a function that opens a stream.
 */
export type ContentSource = string | Uint8Array | ArrayBuffer | Blob | Pieces | (() => Pieces);

const has = (value: object, ...methods: readonly string[]): boolean =>
  methods.every((name) => typeof Reflect.get(value, name) === "function");

const isNodeReadable = (source: object): source is Readable => has(source, "destroy", "on", "pipe");
const isWebReadable = (source: object): source is ReadableStream => has(source, "getReader");

/** Whether pieces can be read from a value. */
const isPieces = (value: unknown): value is Pieces =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** A Blob, also of another realm. */
const isBlob = (source: object): source is Blob =>
  has(source, "stream", "arrayBuffer", "slice") && "size" in source;

/** Why nothing can be read from a stream, found before anything is sent; undefined if all is well. */
const whyUnreadable = (source: Pieces): string | undefined => {
  const is = (name: string): boolean => Reflect.get(source, name) === true;
  if (isWebReadable(source) && is("locked")) return "another reader has locked the stream";
  const isOver = isNodeReadable(source) && (is("destroyed") || is("readableEnded"));
  return isOver ? "the stream has already been read or closed" : undefined;
};

/** Takes a stream over, as one of Node, which can be ended even while it waits. */
const takeOver = (source: Pieces): Readable => {
  const readable = isNodeReadable(source)
    ? source
    : isWebReadable(source)
      ? Readable.fromWeb(source)
      : Readable.from(source);
  // It may fail before anybody reads it; the reader then gets the error.
  readable.on("error", () => {});
  return readable;
};

/** A source ready to be read. */
export interface OpenContent {
  /** File name, if the source has one. */
  readonly name?: string;
  /** Size in bytes, if known. */
  readonly size?: number;
  /** Whether the source can be read again. */
  readonly repeatable: boolean;
  /** Opens the source so that it can be read once. */
  open(): Readable;
  /** Closes a stream that the caller opened, whether or not it was read. */
  stop(): void;
}

const pieceBytes = 64 * 1024;

async function* cutBytes(bytes: Uint8Array): Pieces & AsyncGenerator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += pieceBytes) {
    yield bytes.subarray(start, start + pieceBytes);
  }
}

const invalidSource = (rule: string): ConversationError => inputInvalid("upload an asset", rule);

const ours = { repeatable: true, stop: () => {} } as const;

const openBytes = (bytes: Uint8Array): OpenContent => ({
  ...ours,
  size: bytes.byteLength,
  open: () => Readable.from(cutBytes(bytes)),
});

/**
 * Prepares a source for reading. Files are not opened until they are read.
 *
 * @throws ConversationError `INPUT_INVALID` for a source that cannot be read
 */
export const openContent = async (source: ContentSource): Promise<OpenContent> => {
  if (typeof source === "string") {
    const found = await stat(source).catch(() => undefined);
    if (!found?.isFile()) throw invalidSource(`${JSON.stringify(source)} is not a readable file`);
    const open = () => takeOver(createReadStream(source, { highWaterMark: pieceBytes }));
    return { ...ours, name: basename(source), size: found.size, open };
  }
  // Recognized by their behavior, not by their class: a test runner may have its own realms.
  if (types.isUint8Array(source)) return openBytes(source);
  if (types.isArrayBuffer(source)) return openBytes(new Uint8Array(source));
  if (typeof source === "function") {
    const open = () => {
      const opened: unknown = source();
      if (!isPieces(opened)) throw new TypeError("the function does not return a stream");
      return takeOver(opened);
    };
    return { ...ours, open };
  }
  if (typeof source === "object" && source !== null && isBlob(source)) {
    const name = "name" in source && typeof source.name === "string" ? { name: source.name } : {};
    return { ...ours, ...name, size: source.size, open: () => takeOver(source.stream()) };
  }
  if (!isPieces(source)) throw invalidSource("the source must be a path, bytes, or a stream");
  const rule = whyUnreadable(source);
  if (rule !== undefined) throw invalidSource(rule);
  const stream = takeOver(source);
  return { repeatable: false, open: () => stream, stop: () => endQuietly(() => stream.destroy()) };
};

/** Opens a source, yields its chunks, and closes it. A read failure becomes a ConversationError. */
export async function* readable(open: () => Readable): Pieces & AsyncGenerator<Uint8Array> {
  try {
    yield* open();
  } catch (error) {
    const text =
      "Could not upload an asset because reading the source failed. For details, see the cause.";
    throw new ConversationError("INPUT_INVALID", text, {}, "none", { cause: error });
  }
}

/** A stream of the web that takes bytes. */
interface WebTarget {
  getWriter(): {
    readonly closed?: Promise<unknown>;
    write(piece: Uint8Array): Promise<void>;
    close(): Promise<void>;
    abort(reason: unknown): Promise<void>;
  };
}

/**
 * The target of a download: a file path, or a stream (from node:stream, or a web stream). A file
 * appears only when it is complete; a stream is ended when the content has been written. If no
 * content arrives, a stream is left unchanged.
 */
export type DownloadTarget = string | NodeJS.WritableStream | WebTarget;

/** One writing into a target. */
interface Writing {
  /** Ends the writing. */
  readonly signal: AbortSignal;
  /** Called when nobody takes content any more: there is no need to wait for the rest. */
  readonly release: () => void;
}

/** A validated target. */
export interface OpenTarget {
  /**
   * Writes the content, and then closes the target. Rejects with the target's error if the target
   * fails.
   */
  write(pieces: Pieces, writing: Writing): Promise<void>;
  /** Stops handling the target's errors, leaving them to the caller. */
  leave(): void;
}

const invalidTarget = (rule: string): ConversationError => inputInvalid("download an asset", rule);

const isNodeWritable = (target: object): target is NodeJS.WritableStream =>
  has(target, "write", "end", "on", "once", "off");

const isWebTarget = (target: object): target is WritableStream => has(target, "getWriter");

/** The signal ends the writing even if the target or the progress callback is stuck. */
const piped = async (
  pieces: Pieces,
  target: NodeJS.WritableStream,
  { signal, release }: Writing,
): Promise<void> => {
  target.once("close", release);
  try {
    const all = pipeline(Readable.from(pieces, { objectMode: false }), target, { signal });
    await Promise.race([all, rejectedBy(signal)]);
  } finally {
    target.off("close", release);
  }
};

const toFile = async (pieces: Pieces, path: string, writing: Writing): Promise<void> => {
  const part = `${path}.${randomUUID()}.part`;
  try {
    await piped(pieces, createWriteStream(part, { flags: "wx" }), writing);
    await rename(part, path);
  } catch (error) {
    await rm(part, { force: true });
    throw error;
  }
};

const whyClosed = (target: object): string | undefined => {
  const is = (name: string): boolean => Reflect.get(target, name) === true;
  if (is("locked")) return "another writer has locked the target";
  const isOver = is("destroyed") || is("writableEnded") || is("closed");
  return isOver ? "the target is closed" : undefined;
};

/**
 * Checks a target before anything is sent, and prepares it for writing.
 *
 * @throws ConversationError `INPUT_INVALID` for a target that is closed, locked, or not a target
 */
export const openTarget = (target: DownloadTarget): OpenTarget => {
  if (typeof target === "string") {
    if (target === "" || target.includes("\0")) {
      throw invalidTarget("the target must be a file path");
    }
    return { write: (pieces, writing) => toFile(pieces, target, writing), leave: () => {} };
  }
  if (typeof target !== "object" || target === null) {
    throw invalidTarget("the target must be a path or a stream");
  }
  const why = whyClosed(target);
  if (why) throw invalidTarget(why);
  if (isWebTarget(target)) {
    const write: OpenTarget["write"] = (pieces, writing) =>
      piped(pieces, Writable.fromWeb(target), writing);
    return { write, leave: () => {} };
  }
  if (!isNodeWritable(target)) {
    throw invalidTarget("the target must be a path or a stream");
  }
  // It may fail while no content has come yet; whoever writes to it then gets the error.
  const ignore = (): void => {};
  target.on("error", ignore);
  return {
    write: (pieces, writing) => piped(pieces, target, writing),
    leave: () => endQuietly(() => target.off("error", ignore)),
  };
};
