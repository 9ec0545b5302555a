import {
  type Asset,
  type AssetRequest,
  createAsset,
  deleteAsset,
  getAsset,
  type NewAsset,
  type StoredAsset,
} from "./asset-calls.js";
import { type Downloaded, downloadBytes, downloadTo } from "./asset-download.js";
import { type UploadOptions, upload } from "./asset-upload.js";
import type { ContentSource } from "./content-source.js";
import type { DownloadTarget } from "./download-target.js";
import type { ContentParts, TransferOptions } from "./signed-transfer.js";

interface CallOptions {
  readonly signal?: AbortSignal;
}

/** Attachments and their content. Every failure is a ConversationError. */
export interface Assets {
  /**
   * Makes an asset and gives the signed address that its content is to be posted to (specification
   * §4.2). For programs that move the content themselves; else see `upload`.
   *
   * @throws ConversationError `INPUT_INVALID` before anything is sent, `BAD_RESPONSE` for an answer
   * without id or address, else as every call
   * @example
   * const { id, contentUrl } = await hub.assets.create({
   *   channel: "custom.kiosk", sender: "custom_bot", name: "receipt.pdf", size: 48_213,
   * });
   */
  create(asset: AssetRequest, options?: CallOptions): Promise<NewAsset>;
  /**
   * Gives an asset and the signed address that its content comes from (specification §4.2).
   *
   * @throws ConversationError `NOT_FOUND`, `ID_INVALID`, `BAD_RESPONSE` for an answer without
   * address, else as every call
   * @example
   * const { name, size } = await hub.assets.get(assetId);
   */
  get(id: string, options?: CallOptions): Promise<StoredAsset>;
  /**
   * Deletes an asset (specification §4.2).
   *
   * @throws ConversationError `IN_USE` where it has been used in a message, as far as the service's
   * answer tells that from a missing scope
   * @example
   * await hub.assets.delete(assetId);
   */
  delete(id: string, options?: CallOptions): Promise<void>;
  /**
   * Makes an asset and streams its content to the signed address. Name, size and content type are
   * checked before anything is sent. An address that has expired is renewed once, with a new asset;
   * a plain stream can be sent once only, so there this works only before it is read. Where the
   * address fails for a moment (503), files, bytes and functions are sent once more. What goes
   * wrong, takes too long or is given up leaves no asset behind, as far as the service deletes it
   * within 2 s, and no stream open.
   *
   * @returns what a text message takes as an attachment
   * @throws ConversationError `INPUT_INVALID` also for a source or an `onProgress` that fails
   *
   * @example
   * const asset = await hub.assets.upload("receipt.pdf", { channel: "custom.kiosk", sender: "custom_bot" });
   * await hub.messages.reply(message, { type: "text", sender: "custom_bot", attachments: [asset] });
   */
  upload(source: ContentSource, options: UploadOptions): Promise<Asset>;
  /**
   * Fetches the content of an asset and checks its size. An address that has expired is renewed once,
   * one that fails for a moment (503) is asked once more. A target that closes early ends the
   * download; one that got nothing stays open.
   *
   * @throws ConversationError `INPUT_INVALID` also for a target or an `onProgress` that fails
   *
   * @example
   * createServer((_request, response) => {
   *   hub.assets.download(id, response).catch(() => response.destroy());
   * });
   */
  download(
    id: string,
    to?: undefined,
    options?: TransferOptions,
  ): Promise<Downloaded & { readonly bytes: Uint8Array }>;
  download(id: string, to: DownloadTarget, options?: TransferOptions): Promise<Downloaded>;
}

/** The assets of a connection. */
export const assetsOf = (parts: ContentParts): Assets => {
  function download(
    id: string,
    to?: undefined,
    options?: TransferOptions,
  ): Promise<Downloaded & { readonly bytes: Uint8Array }>;
  function download(id: string, to: DownloadTarget, options?: TransferOptions): Promise<Downloaded>;
  function download(
    id: string,
    to?: DownloadTarget,
    options: TransferOptions = {},
  ): Promise<Downloaded> {
    return to === undefined
      ? downloadBytes(parts, id, options)
      : downloadTo(parts, id, to, options);
  }
  return {
    create: (asset, options) => createAsset(parts, asset, options),
    get: (id, options) => getAsset(parts, id, options),
    delete: (id, options) => deleteAsset(parts, id, options),
    upload: (source, options) => upload(parts, source, options),
    download,
  };
};
