import { z } from "zod";
import type { JsonObject } from "../../../provider/kernel/json.js";
import { HttpError } from "../../http/response.js";
import type { Journal } from "../../journal.js";
import { ContentJournal } from "./content-journal.js";

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
  /** Its content is there. */
  uploaded: z.boolean(),
  /** It was used in a message and cannot be deleted any more. */
  used: z.boolean(),
});

export type AssetRecord = Readonly<z.infer<typeof asset>>;

/** What an asset adds to an attachment that names it: the recipient can fetch it by the id. */
export const describeAsset = ({ id, name, contentType, size }: AssetRecord): JsonObject => ({
  id,
  name,
  contentType,
  size,
});

const section = "asset";

const mebibyte = 1024 * 1024;
/** All contents are held in memory. */
const mostContentBytes = 256 * mebibyte;

const decoded = (text: string | undefined): Buffer | undefined =>
  text === undefined ? undefined : Buffer.from(text, "base64");

/** An asset and its content in base64, as a snapshot holds them; the content has the size that is promised. */
const assetDocument = asset
  .extend({ content: z.string().optional() })
  .refine(
    ({ uploaded, size, content }) => decoded(content)?.length === (uploaded ? size : undefined),
  );

export type AssetDocument = Readonly<z.infer<typeof assetDocument>>;

/** Whether a part of a snapshot is an asset with its content. */
export const isAssetDocument = (value: unknown): value is AssetDocument =>
  assetDocument.safeParse(value).success;

/** All assets, in the order in which they were made, and their contents. */
export class AssetStore {
  readonly #contentJournal: ContentJournal;
  readonly #assets = new Map<string, AssetRecord>();
  readonly #contents = new Map<string, Buffer>();
  /** Bytes that are there, or on their way. */
  #bytes = 0;

  /** @throws Error where the journal holds something that is no asset */
  constructor(
    private readonly journal: Journal,
    private readonly mostBytes = mostContentBytes,
  ) {
    this.#contentJournal = new ContentJournal(journal);
    const contents = this.#contentJournal.read();
    for (const [id, value] of journal.read(section)) {
      const read = asset.safeParse(value);
      const content = contents.get(id);
      if (!read.success || (content && content.length !== read.data.size))
        throw new Error(`${id.slice(0, 60)} is no asset of the service`);
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

  /** Keeps an asset in its new state. */
  put(asset: AssetRecord): void {
    this.journal.write(section, asset.id, asset);
    this.journal.whenKept(() => this.#assets.set(asset.id, asset));
  }

  /**
   * Takes room for a content on its way.
   *
   * @returns gives the room back
   * @throws HttpError where there is no room left
   */
  reserve(bytes: number): () => void {
    if (this.#bytes + bytes > this.mostBytes) {
      const limit = Math.floor(this.mostBytes / mebibyte);
      throw new HttpError(
        507,
        "507-100",
        `The emulator holds at most ${limit} MiB of content. Delete assets, or reset it.`,
      );
    }
    this.#bytes += bytes;
    return () => {
      this.#bytes -= bytes;
    };
  }

  /** Keeps the content of an asset. */
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
      this.journal.remove(section, id);
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

  /** Puts other assets in the place of all. */
  replaceAll(documents: readonly AssetDocument[]): void {
    this.journal.clear(section);
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
