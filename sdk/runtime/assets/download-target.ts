import { randomUUID } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { ConversationError } from "../../../provider/kernel/errors.js";
import { endQuietly, inputInvalid } from "../caller-input.js";
import { type Pieces, rejectedBy } from "./content-transfer.js";

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
 * Where content goes: the path of a file, which appears only when it is complete, or a stream of
 * node:stream or of the web, which is ended. A stream is left as it is where no content came.
 */
export type DownloadTarget = string | NodeJS.WritableStream | WebTarget;

/** One writing into a target. */
export interface Writing {
  /** Ends the writing. */
  readonly signal: AbortSignal;
  /** Called when nobody takes content any more: there is no need to wait for the rest. */
  readonly release: () => void;
}

/** A target that was checked. */
export interface OpenTarget {
  /** Writes content, and ends the target. Fails with whatever the target fails with. */
  write(pieces: Pieces, writing: Writing): Promise<void>;
  /** Gives the target back to the caller. */
  leave(): void;
}

const invalid = (rule: string): ConversationError => inputInvalid("download an asset", rule);

const hasMethod = (value: object, name: string): boolean =>
  typeof Reflect.get(value, name) === "function";

const isWeb = (target: DownloadTarget): target is WebTarget =>
  typeof target === "object" && hasMethod(target, "getWriter");

/** Also where the target, or what tells the progress, is stuck the signal ends the writing. */
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

/** A stream of the web may fail with anything, even with nothing. */
const errorOf = (cause: unknown): Error =>
  cause instanceof Error ? cause : new Error("the target failed", { cause });

const told = (promise: Promise<void>, done: (error?: Error) => void): void =>
  void promise.then(
    () => done(),
    (cause) => done(errorOf(cause)),
  );

/** A stream of the web as one of Node. */
const overWeb = (target: WebTarget): Writable => {
  const writer = target.getWriter();
  const writable = new Writable({
    write: (piece: Uint8Array, _encoding, done) => told(writer.write(piece), done),
    final: (done) => told(writer.close(), done),
    destroy: (error, done) => {
      if (error) void writer.abort(error).catch(() => {});
      done(error);
    },
  });
  writable.on("error", () => {});
  // A target that fails by itself takes nothing more, not even what it is waiting for.
  writer.closed?.catch((cause) => writable.destroy(errorOf(cause)));
  return writable;
};

const whyClosed = (target: object): string | undefined => {
  const is = (name: string): boolean => Reflect.get(target, name) === true;
  if (is("locked")) return "the target is locked by another writer";
  const isOver = is("destroyed") || is("writableEnded") || is("closed");
  return isOver ? "the target is closed" : undefined;
};

const ofFile = (path: string): OpenTarget => {
  if (path === "" || path.includes("\0")) throw invalid("the target is no path of a file");
  return { write: (pieces, writing) => toFile(pieces, path, writing), leave: () => {} };
};

const ofNode = (target: NodeJS.WritableStream): OpenTarget => {
  // It may fail while no content has come yet; whoever writes to it then is told.
  const ignore = (): void => {};
  target.on("error", ignore);
  return {
    write: (pieces, writing) => piped(pieces, target, writing),
    leave: () => endQuietly(() => target.off("error", ignore)),
  };
};

const ofWeb = (target: WebTarget): OpenTarget => ({
  write: (pieces, writing) => piped(pieces, overWeb(target), writing),
  leave: () => {},
});

/**
 * Checks a target before anything is sent.
 *
 * @throws ConversationError `INPUT_INVALID` for what nothing can be written to: closed, locked, or no target
 */
export const openTarget = (target: DownloadTarget): OpenTarget => {
  if (typeof target === "string") return ofFile(target);
  if (typeof target !== "object" || target === null) {
    throw invalid("the target is no path and no stream");
  }
  const why = whyClosed(target);
  if (why) throw invalid(why);
  if (isWeb(target)) return ofWeb(target);
  if (["write", "end", "on", "once", "off"].every((name) => hasMethod(target, name))) {
    return ofNode(target);
  }
  throw invalid("the target is no path and no stream");
};
