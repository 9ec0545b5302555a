import { hash } from "node:crypto";
import { z } from "zod";
import { isObject } from "../../../provider/kernel/json.js";

/** SHA-256 in hexadecimal. */
export const digestSchema = z.string().regex(/^[0-9a-f]{64}$/);

/** JSON whose members are in one order, so that the same content is the same text. */
const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((name) => [name, canonical(value[name])]),
  );
};

/** SHA-256 of a text or of bytes, in hexadecimal. */
export const digestOf = (content: string | Uint8Array): string => hash("sha256", content);

/** The digest of a JSON value, whatever the order of its members. */
export const jsonDigest = (value: unknown): string =>
  digestOf(JSON.stringify(canonical(value)) ?? "undefined");
