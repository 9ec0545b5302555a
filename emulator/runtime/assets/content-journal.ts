import type { Journal } from "../../journal.js";

const section = "asset content";
/** Bytes of a piece: a whole content as one text would be in memory several times. */
const pieceBytes = 512 * 1024;

/** Contents of assets in the journal, in pieces of base64. */
export class ContentJournal {
  constructor(private readonly journal: Journal) {}

  /** The contents by the ids of their assets. */
  read(): ReadonlyMap<string, Buffer> {
    const pieces = new Map<string, Buffer[]>();
    for (const [key, value] of this.journal.read(section)) {
      const [id = ""] = key.split(" ");
      const list = pieces.get(id) ?? [];
      list.push(Buffer.from(String(value), "base64"));
      pieces.set(id, list);
    }
    return new Map([...pieces].map(([id, list]) => [id, Buffer.concat(list)]));
  }

  write(id: string, content: Buffer): void {
    for (const [place, from] of placesOf(content.length)) {
      const piece = content.subarray(from, from + pieceBytes).toString("base64");
      this.journal.write(section, keyOf(id, place), piece);
    }
  }

  /** @param bytes of the content */
  remove(id: string, bytes: number): void {
    for (const [place] of placesOf(bytes)) this.journal.remove(section, keyOf(id, place));
  }

  clear(): void {
    this.journal.clear(section);
  }
}

const keyOf = (id: string, place: number): string => `${id} ${place}`;

/** Each piece and where it begins. */
const placesOf = (bytes: number): (readonly [place: number, from: number])[] =>
  Array.from({ length: Math.ceil(bytes / pieceBytes) }, (_, place) => [place, place * pieceBytes]);
