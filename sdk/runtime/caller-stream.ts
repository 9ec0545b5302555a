import type { Pieces } from "./assets/content-transfer.js";

/** A stream of the caller's that is ours to read, and to end. */
export interface CallerStream {
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
export const isPieces = (value: unknown): value is Pieces =>
  typeof value === "object" && value !== null && Symbol.asyncIterator in value;

/** Why nothing can be read from a stream, told before anything is sent; undefined where all is well. */
export const whyUnreadable = (source: Pieces): string | undefined => {
  const is = (name: string): boolean => Reflect.get(source, name) === true;
  if (isWeb(source) && is("locked")) return "the stream is locked by another reader";
  const isOver = isNode(source) && (is("destroyed") || is("readableEnded"));
  return isOver ? "the stream was read or closed before" : undefined;
};

const ofNode = (source: NodeReadable): CallerStream => {
  // It may fail while nobody reads it yet; whoever reads it then is told.
  source.on("error", () => {});
  return { pieces: source, stop: () => void source.destroy() };
};

/** By a reader, since an iterator cannot be ended while it waits for a piece. */
const ofWeb = (source: WebReadable): CallerStream => {
  const reader = source.getReader();
  const pieces = async function* (): Pieces & AsyncGenerator<Uint8Array> {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  };
  return { pieces: pieces(), stop: () => void reader.cancel().catch(() => {}) };
};

const ofIterable = (source: Pieces): CallerStream => {
  const iterator = source[Symbol.asyncIterator]();
  if (typeof iterator?.next !== "function") throw new TypeError("the source gives no iterator");
  return {
    pieces: { [Symbol.asyncIterator]: () => iterator },
    stop: () => void iterator.return?.()?.then(undefined, () => {}),
  };
};

/** Takes a stream over. */
export const callerStream = (source: Pieces): CallerStream => {
  if (isNode(source)) return ofNode(source);
  return isWeb(source) ? ofWeb(source) : ofIterable(source);
};
