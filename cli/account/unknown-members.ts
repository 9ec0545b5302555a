import type { Definition, Fields } from "../../provider/definition/define.js";
import { memberPath } from "../../provider/definition/paths.js";
import { isSurelyMask } from "../../provider/definition/wire/secret-evidence.js";
import { fieldsByWireName } from "../../provider/definition/wire/wire.js";
import { asText, isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { isAdded, unknownPaths } from "./unknown-paths.js";

/** What no field of a kind knows of an object. */
export interface UnknownMembers {
  /** What `extra` can hold. */
  readonly extra?: JsonObject;
  /**
   * Paths of what it cannot, as a program would write them: members of the items of lists, and what is or
   * may be a secret. A run leaves them as they are.
   */
  readonly undeclared: readonly string[];
}

/** Names that no program may give. */
const isNoName = (name: string): boolean =>
  ["__proto__", "constructor", "prototype"].includes(name);

/** What a member is called; one such as `{ "name": "X-Key", "value": "…" }` by both. */
const titleOf = (holder: JsonObject, name: string): string =>
  name === "value" ? `${asText(holder.name)} ${asText(holder.key)}` : name;

/** Whether a value holds anywhere what no file may have, or no program can say. */
const isKept = (title: string, value: unknown): boolean => {
  if (typeof value === "string") return mayBeSecret(title, value);
  if (Array.isArray(value)) return value.some((item) => isKept(title, item));
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([name, of]) => isNoName(name) || isKept(`${title} ${titleOf(value, name)}`, of),
  );
};

/** A member that is null says that there is none. */
const withoutNull = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutNull);
  if (!isObject(value)) return value;
  const there = Object.entries(value).filter(([, of]) => of !== null);
  return objectOf(there.map(([name, of]) => [name, withoutNull(of)]));
};

/** A value, and the paths of what was left out of it. */
interface Part {
  readonly value?: unknown;
  readonly undeclared: readonly string[];
}

/** The parts of an object as one; nothing, where nothing is left of it. */
const joined = (parts: readonly (readonly [string, Part])[]): Part => {
  const value = objectOf(parts.map(([name, part]) => [name, part.value]));
  const undeclared = parts.flatMap(([, part]) => part.undeclared);
  return Object.keys(value).length > 0 ? { value, undeclared } : { undeclared };
};

/** Only an object is given in part. */
const unknownValue = (name: string, title: string, value: unknown, path: string): Part => {
  if (value === null) return { undeclared: [] };
  if (isNoName(name)) return { undeclared: [path] };
  if (!isKept(title, value)) return { value: withoutNull(value), undeclared: [] };
  if (!isObject(value)) return { undeclared: [path] };
  return joined(
    Object.entries(value).map(([inner, of]) => [
      inner,
      unknownValue(inner, `${title} ${titleOf(value, inner)}`, of, memberPath(path, inner)),
    ]),
  );
};

/** What a file may have of a member that no field knows; undefined for nothing. */
export const publicUnknown = (name: string, value: unknown): unknown =>
  unknownValue(name, name, value, "").value;

const unknownIn = (fields: Fields, wire: JsonObject, path: string): Part =>
  joined(
    Object.entries(wire).map(([name, value]) => {
      const [own, field] = fieldsByWireName(fields).get(name) ?? [];
      if (!own || !field) return [name, unknownValue(name, name, value, memberPath(path, name))];
      const at = memberPath(path, own);
      if (field.type === "object" && isObject(value))
        return [name, unknownIn(field.fields, value, at)];
      return [name, { undeclared: unknownPaths(field, value, at) }];
    }),
  );

/** The members of an object that no field of its kind knows. */
export const unknownMembers = ({ fields }: Definition, wire: JsonObject): UnknownMembers => {
  const own = objectOf(Object.entries(wire).filter(([name]) => !isAdded(name)));
  const { value, undeclared } = unknownIn(fields, own, "");
  return { undeclared, ...(isObject(value) ? { extra: value } : {}) };
};

/** Words in the names of members that hold secrets. */
const named =
  /passw|passphrase|secret|token|credential|authori[sz]ation|bearer|signature|((api|access|auth|client|encryption|private|shared|signing|session)[-_. ]?keys?\b)/i;

/** A scheme of HTTP with its credentials, a private key, a signed token, an address with a password. */
const formed =
  /^(basic|bearer)\s+\S+$|-----BEGIN [A-Z ]*PRIVATE KEY|^eyJ[\w-]+\.[\w-]+\.|^[a-z][\w+.-]*:\/\/[^/\s:@]*:[^/\s@]+@/i;

/**
 * Whether a text of which no field knows anything may be a secret, or stands in the place of one. A text
 * that is taken for one by mistake stays out of files, and nothing is lost by it.
 */
const mayBeSecret = (name: string, text: string): boolean =>
  text !== "" && (isSurelyMask(text) || named.test(name) || formed.test(text.trim()));
