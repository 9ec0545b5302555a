import { isObject, type JsonObject } from "../../../provider/kernel/json.js";

/** An asset without its content. */
export interface Asset {
  readonly id: string;
  readonly channelType: string;
  readonly senderType: string;
  /** File name with extension. */
  readonly name: string;
  /** Bytes. */
  readonly size: number;
  /** Follows from the extension. */
  readonly contentType: string;
  readonly created: string;
  /** Its content is there. */
  readonly uploaded: boolean;
  /** It was used in a message and cannot be deleted any more. */
  readonly used: boolean;
}

/** Whether something read back is an asset. */
export const isAsset = (value: unknown): value is Asset =>
  isObject(value) &&
  [
    value.id,
    value.channelType,
    value.senderType,
    value.name,
    value.contentType,
    value.created,
  ].every((text) => typeof text === "string") &&
  Number.isInteger(value.size) &&
  typeof value.uploaded === "boolean" &&
  typeof value.used === "boolean";

/** What an asset adds to an attachment that names it: the recipient can fetch it by the id. */
export const describeAsset = ({ id, name, contentType, size }: Asset): JsonObject => ({
  id,
  name,
  contentType,
  size,
});
