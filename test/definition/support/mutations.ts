import type { Field } from "../../../provider/definition/define.js";
import { defaultIn } from "../../../provider/definition/fields.js";
import { isObject, type JsonObject, objectOf } from "../../../provider/kernel/json.js";

const otherText = (field: Field & { type: "text" }, text: string): unknown[] => {
  if (field.values) return field.values.filter((word) => word !== text);
  if (field.json) return [`[${text}]`, `${text.slice(0, -1)}${text === "{}" ? "" : ","}"more":1}`];
  switch (field.format) {
    case "url":
      return [
        text.replace("https:", "http:"),
        text.replace(".example.com", ".example.org"),
        `${text}${text.includes("?") ? "&" : "?"}z=2`,
        text.replace(/(example\.com(?::\d+)?)\//, "$1/Z/"),
        text.replace(/(example\.com(?::\d+)?)\//, "$1//"),
      ];
    case "email":
      return [`x${text}`, `${text}x`, text.replace("@", "@x.")];
    case "base64":
      return [Buffer.concat([Buffer.from(text, "base64"), Buffer.from([0])]).toString("base64")];
    default:
      return [`${text}x`, ` ${text}`, text.toUpperCase(), `0${text}`, `${text}\n`].filter(
        (other) => other !== text,
      );
  }
};

const inObject = (fieldOf: (name: string) => Field | undefined, value: JsonObject): JsonObject[] =>
  Object.entries(value).flatMap(([name, member]) => {
    const field = fieldOf(name);
    return field ? mutationsOf(field, member).map((other) => ({ ...value, [name]: other })) : [];
  });

/** A member that counts by itself: not empty, and nothing that a service may leave out. */
const without = (value: JsonObject, names: readonly string[]): JsonObject[] =>
  names.map((left) => objectOf(Object.entries(value).filter(([name]) => name !== left)));

const counts = (field: Field, value: unknown): boolean => {
  if (field.secret) return false;
  switch (field.type) {
    case "object":
      return (
        isObject(value) &&
        Object.entries(value).some(([name, of]) => {
          const member = field.fields[name];
          return member !== undefined && counts(member, of);
        })
      );
    case "list":
      return Array.isArray(value) && value.length > 0;
    case "map":
      return isObject(value) && Object.keys(value).length > 0 && field.of.secret !== true;
    default:
      return defaultIn(field) !== value;
  }
};

/** Values that mean something else than the given one; none for a secret, which cannot be compared. */
export const mutationsOf = (field: Field, value: unknown): unknown[] => {
  if (field.secret) return [];
  switch (field.type) {
    case "text":
      return otherText(field, String(value));
    case "number":
      return [Number(value) + 1, Number(value) - 0.5];
    case "flag":
      return [value !== true];
    case "reference":
      return [`${value}0`, `x${value}`];
    case "object": {
      if (!isObject(value)) return [];
      const gone = Object.keys(value).filter((name) => {
        const member = field.fields[name];
        return member !== undefined && holdsNoSecret(member) && counts(member, value[name]);
      });
      return [...inObject((name) => field.fields[name], value), ...without(value, gone)];
    }
    case "list": {
      if (!Array.isArray(value) || value.length === 0) return [];
      const changed = value.flatMap((item, place) =>
        mutationsOf(field.of, item).map((other) => value.with(place, other)),
      );
      const turned = [...value].reverse();
      return [
        ...changed,
        value.slice(1),
        [...value, value[0]],
        ...(value.length > 1 && !field.unordered ? [turned] : []),
      ];
    }
    case "map": {
      if (!isObject(value)) return [];
      const names = Object.keys(value);
      const more = names.slice(0, 1).map((name) => ({ ...value, [`${name}x!`]: value[name] }));
      return [...inObject(() => field.of, value), ...without(value, names), ...more];
    }
  }
};

const holdsNoSecret = (field: Field): boolean => {
  if (field.secret) return false;
  if (field.type === "object") return Object.values(field.fields).every(holdsNoSecret);
  return field.type === "list" || field.type === "map" ? holdsNoSecret(field.of) : true;
};
