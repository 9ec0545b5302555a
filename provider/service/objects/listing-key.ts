import { createHash } from "node:crypto";
import { isId, longestId } from "../../definition/object-id.js";
import type { JsonObject } from "../../kernel/json.js";
import { cleaned } from "../redaction/quoted.js";

const shownCharacters = 40;

const hashOf = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16);

/** Other values, such as objects, are no ids at all. */
const idText = (id: unknown): string | undefined =>
  (typeof id === "string" && id !== "") || typeof id === "number" ? String(id) : undefined;

/** An id that no call can use: as it is where a message may show it, else cut, and told apart by a hash. */
const oddKey = (id: string): string =>
  id.length <= longestId && cleaned(id) === id
    ? id
    : `${cleaned(id.slice(0, shownCharacters))}… (${id.length} characters, ${hashOf(id)})`;

/**
 * Tells what each object of one page goes by: its id, if that is one; else a text that can never be an
 * id, so that nothing can be called with it. The same object on another page goes by the same.
 */
export const listingKeys = (): ((object: JsonObject) => string) => {
  const twins = new Map<string, number>();
  return (object) => {
    const id = idText(object.id);
    if (id !== undefined) return isId(id) ? id : oddKey(id);
    const hash = hashOf(JSON.stringify(object));
    const place = (twins.get(hash) ?? 0) + 1;
    twins.set(hash, place);
    return `(no id, ${hash}, ${place})`;
  };
};
