import { isObject, type JsonObject, memberOf } from "../../kernel/json.js";
import { below, sameExtra } from "../meaning/same-extra.js";
import { memberPath } from "../paths.js";
import type { Change } from "./changes.js";

const longest = 60;

const shown = (value: unknown): string => {
  const characters = [...JSON.stringify(value)];
  return characters.length > longest
    ? `${characters.slice(0, longest - 1).join("")}…`
    : characters.join("");
};

/**
 * What writing `extra` over a live object changes, as paths from its top.
 *
 * @param secretPaths places of secrets in `extra`; what holds one is shown as `[secret]` as a whole
 */
export const extraChanges = (
  live: unknown,
  extra: JsonObject,
  secretPaths: readonly string[] = [],
): readonly Change[] => {
  const inMember = (there: unknown, value: unknown, path: string, place: string): Change[] => {
    if (value === undefined) return [];
    const isSecret = secretPaths.includes("") || secretPaths.includes(place);
    if (!isSecret && isObject(value) && isObject(there)) return inObject(there, value, path, place);
    if (!isSecret && sameExtra(there, value)) return [];
    const isHidden = isSecret || secretPaths.some((secret) => secret.startsWith(`${place}.`));
    const text = (of: unknown) => (isHidden ? "[secret]" : shown(of));
    const isThere = there !== undefined && there !== null;
    return [{ path, ...(isThere ? { from: text(there) } : {}), to: text(value) }];
  };
  const inObject = (there: unknown, value: JsonObject, path: string, place: string): Change[] =>
    Object.entries(value).flatMap(([name, of]) =>
      inMember(
        isObject(there) ? memberOf(there, name) : undefined,
        of,
        memberPath(path, name),
        below(place, name),
      ),
    );
  return inObject(live, extra, "extra", "");
};
