import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { TLSSocket } from "node:tls";
import { z } from "zod";
import type { JsonObject } from "../../provider/kernel/json.js";
import { HttpError } from "../http/exchange.js";
import { timestamp } from "../service/clock.js";
import type { Journal } from "../service/journal.js";

/** The path for uploads and downloads, relative to the origin. */
export const contentPath = "/assets-content";

/** The purpose of a signed URL: POST uploads the content, GET downloads it. */
export type TransferMethod = "POST" | "GET";

/** A signed URL as the asset operations return it. */
interface SignedUrl {
  readonly contentUrl: string;
  /** ISO 8601, GMT, on the emulator's clock. */
  readonly contentUrlExpiry: string;
}

const keySection = "signing key";

/** The emulator's origin as the caller sees it. */
const originFor = ({ headers, socket }: IncomingMessage): string => {
  const { host = "" } = headers;
  const isHost = /^[\w.-]+(:\d{1,5})?$|^\[[\da-f:.]+\](:\d{1,5})?$/i.test(host);
  const scheme = socket instanceof TLSSocket ? "https" : "http";
  return `${scheme}://${isHost ? host : `127.0.0.1:${socket.localPort}`}`;
};

/** Callers use a few names for the emulator; made-up names must not fill the memory. */
const mostOrigins = 100;

/** Issues and checks signed URLs, which are valid for a limited time and need no token. */
export class SignedUrls {
  readonly #key: Buffer;
  /** The origins of issued URLs. */
  readonly #origins = new Set<string>();

  /**
   * Loads or creates the stored signing key, so that URLs stay valid until they expire, even if the
   * process ends.
   */
  constructor(journal: Journal) {
    const [saved] = journal.read(keySection);
    const text = saved ? String(saved[1]) : randomBytes(32).toString("base64");
    if (!saved) journal.write(keySection, "key", text);
    this.#key = Buffer.from(text, "base64");
  }

  /** @param until when the URL expires, in milliseconds since 1970 */
  make(request: IncomingMessage, method: TransferMethod, id: string, until: number): SignedUrl {
    const origin = originFor(request);
    if (this.#origins.size < mostOrigins) this.#origins.add(origin.toLowerCase());
    return {
      contentUrl: origin + this.path(method, id, until),
      contentUrlExpiry: timestamp(until),
    };
  }

  /** A signed URL relative to the origin, for the emulator's own page. */
  path(method: TransferMethod, id: string, until: number): string {
    const expires = String(Math.floor(until));
    const signature = this.#sign(method, id, expires);
    const query = new URLSearchParams({ method, expires, signature });
    return `${contentPath}/${id}?${query}`;
  }

  /** The ID of the asset that one of the emulator's own URLs refers to; undefined for any other URL. */
  assetIdIn(url: string | undefined, request: IncomingMessage): string | undefined {
    if (url === undefined || !URL.canParse(url)) return undefined;
    const { origin, pathname } = new URL(url);
    const isOwn = this.#origins.has(origin) || origin === originFor(request).toLowerCase();
    return isOwn && pathname.startsWith(`${contentPath}/`)
      ? pathname.slice(contentPath.length + 1)
      : undefined;
  }

  /** Why a URL is not currently valid for this method; undefined if it is valid. */
  problemOf(
    method: string,
    id: string,
    query: URLSearchParams,
    now: number,
  ): "altered" | "expired" | undefined {
    const expires = query.get("expires") ?? "";
    // Compared as text: several texts decode to the same bytes, so an altered one could pass.
    const signature = Buffer.from(query.get("signature") ?? "");
    const own = Buffer.from(this.#sign(method, id, expires));
    const isOwn = signature.length === own.length && timingSafeEqual(signature, own);
    const isWhole = query.size === 3 && query.get("method") === method;
    if (!isOwn || !isWhole) return "altered";
    return Number(expires) > now ? undefined : "expired";
  }

  #sign(method: string, id: string, expires: string): string {
    const signed = `${method}\n${id}\n${expires}`;
    return createHmac("sha256", this.#key).update(signed).digest("base64url");
  }
}

const contentSection = "asset content";
/** Bytes per piece: a whole content as one text would be in memory several times. */
const pieceBytes = 512 * 1024;

/** Contents of assets in the journal, in pieces of base64. */
class ContentJournal {
  constructor(private readonly journal: Journal) {}

  /** The contents by the IDs of their assets. */
  read(): ReadonlyMap<string, Buffer> {
    const pieces = new Map<string, Buffer[]>();
    for (const [key, value] of this.journal.read(contentSection)) {
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
      this.journal.write(contentSection, keyOf(id, place), piece);
    }
  }

  /** @param bytes of the content */
  remove(id: string, bytes: number): void {
    for (const [place] of placesOf(bytes)) this.journal.remove(contentSection, keyOf(id, place));
  }

  clear(): void {
    this.journal.clear(contentSection);
  }
}

const keyOf = (id: string, place: number): string => `${id} ${place}`;

/** Each piece and where it begins. */
const placesOf = (bytes: number): (readonly [place: number, from: number])[] =>
  Array.from({ length: Math.ceil(bytes / pieceBytes) }, (_, place) => [place, place * pieceBytes]);

/** An asset without its content. */
const asset = z.object({
  id: z.string(),
  channelType: z.string(),
  senderType: z.string(),
  /** File name with extension. */
  name: z.string(),
  /** Bytes. */
  size: z.int(),
  /** Follows from the extension. */
  contentType: z.string(),
  created: z.string(),
  /** Its content has been uploaded. */
  uploaded: z.boolean(),
  /** It was used in a message and can no longer be deleted. */
  used: z.boolean(),
});

export type AssetRecord = Readonly<z.infer<typeof asset>>;

/**
 * The members that an asset adds to an attachment that refers to it. The recipient can use the ID
 * to fetch the asset.
 */
export const describeAsset = ({ id, name, contentType, size }: AssetRecord): JsonObject => ({
  id,
  name,
  contentType,
  size,
});

const assetSection = "asset";

const mebibyte = 1024 * 1024;
/** All contents are held in memory. */
const mostContentBytes = 256 * mebibyte;

const decoded = (text: string | undefined): Buffer | undefined =>
  text === undefined ? undefined : Buffer.from(text, "base64");

/**
 * An asset and its content in base64, as a snapshot holds them; the content has the announced size.
 */
const assetDocument = asset
  .extend({ content: z.string().optional() })
  .refine(
    ({ uploaded, size, content }) => decoded(content)?.length === (uploaded ? size : undefined),
  );

export type AssetDocument = Readonly<z.infer<typeof assetDocument>>;

/** Whether part of a snapshot is a valid asset, including any content. */
export const isAssetDocument = (value: unknown): value is AssetDocument =>
  assetDocument.safeParse(value).success;

/** All assets, in order of creation, and their content. */
export class AssetStore {
  readonly #contentJournal: ContentJournal;
  readonly #assets = new Map<string, AssetRecord>();
  readonly #contents = new Map<string, Buffer>();
  /** Bytes stored or in transit. */
  #bytes = 0;

  /** @throws Error if the journal contains anything that is not an asset */
  constructor(
    private readonly journal: Journal,
    private readonly mostBytes = mostContentBytes,
  ) {
    this.#contentJournal = new ContentJournal(journal);
    const contents = this.#contentJournal.read();
    for (const [id, value] of journal.read(assetSection)) {
      const read = asset.safeParse(value);
      const content = contents.get(id);
      if (!read.success || (content && content.length !== read.data.size))
        throw new Error(`${id.slice(0, 60)} is not a valid stored asset`);
      this.#assets.set(id, { ...read.data, uploaded: content !== undefined });
      if (content) this.#hold(id, content);
    }
  }

  get(id: string): AssetRecord | undefined {
    return this.#assets.get(id);
  }

  contentOf(id: string): Buffer | undefined {
    return this.#contents.get(id);
  }

  /** Stores an asset in its new state. */
  put(asset: AssetRecord): void {
    this.journal.write(assetSection, asset.id, asset);
    this.journal.whenKept(() => this.#assets.set(asset.id, asset));
  }

  /**
   * Reserves space for content in transit.
   *
   * @returns a function that releases the space
   * @throws HttpError if there is no space left
   */
  reserve(bytes: number): () => void {
    if (this.#bytes + bytes > this.mostBytes) {
      const limit = Math.floor(this.mostBytes / mebibyte);
      throw new HttpError(
        507,
        "507-100",
        `The emulator stores at most ${limit} MiB of content. Delete assets, or reset the emulator.`,
      );
    }
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
    };
  }

  /** Stores an asset's content. */
  upload(asset: AssetRecord, content: Buffer): void {
    this.journal.together(() => {
      this.#contentJournal.write(asset.id, content);
      this.put({ ...asset, uploaded: true });
    });
    this.#hold(asset.id, content);
  }

  remove(id: string): void {
    const bytes = this.#contents.get(id)?.length ?? 0;
    this.journal.together(() => {
      this.journal.remove(assetSection, id);
      this.#contentJournal.remove(id, bytes);
    });
    this.#bytes -= bytes;
    this.#contents.delete(id);
    this.#assets.delete(id);
  }

  all(): readonly JsonObject[] {
    return [...this.#assets.values()].map((asset) => {
      const content = this.#contents.get(asset.id)?.toString("base64");
      return { ...asset, ...(content === undefined ? {} : { content }) };
    });
  }

  /** Replaces all assets. */
  replaceAll(documents: readonly AssetDocument[]): void {
    this.journal.clear(assetSection);
    this.#contentJournal.clear();
    this.journal.whenKept(() => {
      for (const content of this.#contents.values()) this.#bytes -= content.length;
      this.#contents.clear();
      this.#assets.clear();
    });
    for (const { content: text, ...asset } of documents) {
      this.put(asset);
      const content = decoded(text);
      if (!content) continue;
      this.#contentJournal.write(asset.id, content);
      this.journal.whenKept(() => this.#hold(asset.id, content));
    }
  }

  #hold(id: string, content: Buffer): void {
    this.#contents.set(id, content);
    this.#bytes += content.length;
  }
}
