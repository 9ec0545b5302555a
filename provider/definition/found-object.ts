import { ConversationError } from "../kernel/errors.js";
import { type JsonObject, memberOf } from "../kernel/json.js";
import { nearestHint } from "../kernel/text.js";
import type { Definition } from "./define.js";
import { wireName } from "./fields.js";

/** Lookup criteria: the values of an object's text properties, by name. */
export type FoundBy = Readonly<Record<string, string>>;

/** Returns the names of the fields by which objects of a kind can be found. */
const searchedFields = ({ fields }: Definition): readonly string[] =>
  Object.keys(fields).filter((name) => fields[name]?.type === "text");

/** Returns the error for invalid lookup criteria; undefined if they are valid. */
export const searchFault = (
  definition: Definition,
  where: Readonly<Record<string, unknown>>,
): string | undefined => {
  const { kind } = definition;
  const texts = searchedFields(definition);
  const found = Object.entries(where);
  if (found.length === 0 || found.some(([, text]) => typeof text !== "string" || text === ""))
    return `${kind}.find: specify a value to search for, as in ${kind}.find({ ${texts[0]}: "…" })`;
  const other = found.map(([name]) => name).find((name) => !texts.includes(name));
  return other === undefined
    ? undefined
    : `${kind}.find: ${other} is not a text property of ${kind}${nearestHint(other, texts)}`;
};

const shown = (where: FoundBy): string =>
  Object.entries(where)
    .map(([key, value]) => `${key} ${JSON.stringify(value)}`)
    .join(" and ");

const failed = (code: "NOT_FOUND" | "AMBIGUOUS" | "BAD_RESPONSE", text: string) =>
  new ConversationError(code, text);

/**
 * Finds the ID of the one object of a kind that has these values.
 *
 * @throws ConversationError if there is none (`NOT_FOUND`, or `BAD_RESPONSE` if the list is
 * incomplete) or several (`AMBIGUOUS`)
 */
export const foundId = (
  { objects, complete }: { objects: ReadonlyMap<string, JsonObject>; complete: boolean },
  { kind, noun, collection, fields }: Definition,
  where: FoundBy,
  profile?: string,
): string => {
  const entries = Object.entries(where).map(([key, value]) => {
    const field = fields[key];
    return [field ? wireName(key, field) : key, value] as const;
  });
  const ids = [...objects]
    .filter(([, object]) => entries.every(([key, value]) => memberOf(object, key) === value))
    .map(([id]) => id);
  const [id] = ids;
  const what = `${kind}.find: `;
  if (ids.length > 1)
    throw failed(
      "AMBIGUOUS",
      `${what}${ids.length} ${noun}s have the ${shown(where)}: ${ids.join(", ")}. Choose one by its ID with ${kind}.get.`,
    );
  if (id !== undefined) return id;
  if (!complete)
    throw failed(
      "BAD_RESPONSE",
      `${what}the service did not return all pages of GET /${collection}, and the returned pages contain no ${noun} with the ${shown(where)}. Try again later.`,
    );
  throw failed(
    "NOT_FOUND",
    `${what}no ${noun} has the ${shown(where)}; the tenant has ${objects.size} in all. Check the value, and make sure that the settings are for the right tenant${profile ? ` (profile ${profile})` : ""}.`,
  );
};
