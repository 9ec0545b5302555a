import { deflateRawSync, inflateRawSync } from "node:zlib";

const chunkBytes = 256 * 1024;
const lengthBytes = 4;

/** Inflated chunks at hand: documents that are read one after the other are mostly in the same. */
const mostAtHand = 4;

/** How documents are kept. */
export interface ArchiveOptions {
  /** A tenth of the memory, for what is seldom read; reading then takes up to a millisecond. */
  readonly isCompressed?: boolean;
}

/**
 * JSON documents that are added and read, never changed: as text in large pieces outside the heap,
 * where many small ones cost no more than their text.
 */
export class DocumentArchive {
  #chunks: Buffer[] = [];
  /** Bytes taken of the last chunk. */
  #taken = 0;
  readonly #inflated = new Map<number, Buffer>();

  constructor(private readonly options: ArchiveOptions = {}) {}

  /** Gives the place of the document. */
  add(document: unknown): number {
    const text = JSON.stringify(document);
    const bytes = Buffer.byteLength(text);
    const chunk = this.#chunkFor(bytes + lengthBytes);
    const from = this.#taken;
    chunk.writeUInt32LE(bytes, from);
    chunk.write(text, from + lengthBytes);
    this.#taken += bytes + lengthBytes;
    return (this.#chunks.length - 1) * chunkBytes + from;
  }

  /** The document at a place. @throws Error where there is none of this shape */
  read<T>(place: number, isDocument: (value: unknown) => value is T): T {
    const chunk = this.#chunkAt(Math.floor(place / chunkBytes));
    const from = place % chunkBytes;
    const bytes = chunk?.readUInt32LE(from) ?? 0;
    const start = from + lengthBytes;
    const document: unknown = JSON.parse(chunk?.toString("utf8", start, start + bytes) ?? "null");
    if (isDocument(document)) return document;
    throw new Error(`There is no such document at ${place}.`);
  }

  /** The documents at these places, in their order; each piece is read once. */
  readAll<T>(
    places: readonly number[],
    isDocument: (value: unknown) => value is T,
  ): ReadonlyMap<number, T> {
    const sorted = [...places].sort((a, b) => a - b);
    return new Map(sorted.map((place) => [place, this.read(place, isDocument)]));
  }

  clear(): void {
    this.#chunks = [];
    this.#inflated.clear();
    this.#taken = 0;
  }

  /** A chunk with so much room at its end; a document that is larger than a chunk has one of its own. */
  #chunkFor(bytes: number): Buffer {
    const last = this.#chunks.at(-1);
    if (last && this.#taken + bytes <= last.length) return last;
    if (last && this.options.isCompressed) this.#compressLast(last);
    const next = Buffer.allocUnsafeSlow(Math.max(bytes, chunkBytes));
    this.#chunks.push(next);
    this.#taken = 0;
    return next;
  }

  #compressLast(last: Buffer): void {
    const text = last.subarray(0, this.#taken);
    this.#chunks[this.#chunks.length - 1] = deflateRawSync(text, { level: 1 });
  }

  #chunkAt(place: number): Buffer | undefined {
    const chunk = this.#chunks[place];
    const isLast = place === this.#chunks.length - 1;
    if (!chunk || isLast || !this.options.isCompressed) return chunk;
    const inflated = this.#inflated.get(place) ?? inflateRawSync(chunk);
    // Put at the end: the first is the one that was not read for longest.
    this.#inflated.delete(place);
    this.#inflated.set(place, inflated);
    const [oldest = 0] = this.#inflated.size > mostAtHand ? this.#inflated.keys() : [-1];
    this.#inflated.delete(oldest);
    return inflated;
  }
}
