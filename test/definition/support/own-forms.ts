import fc from "fast-check";
import type { Field, TextField } from "../../../provider/definition/define.js";
import { membersOf, wireName } from "../../../provider/definition/fields.js";
import { toWire } from "../../../provider/definition/wire.js";
import { isObject, type JsonObject, objectOf } from "../../../provider/kernel/json.js";

/** The vendor's own word, in all tests that use one. */
export const vendor = { platformName: "acme" };

const asUrl = (text: string): string[] => [
  text,
  new URL(text).href,
  text.replace("https://", "HTTPS://").replace("example.com", "EXAMPLE.com"),
];

const asEmail = (text: string): string[] => [text, text.toLowerCase(), text.toUpperCase()];

const asIs = (text: string): string[] => [text];

const spellings = { url: asUrl, email: asEmail, base64: asIs, time: asIs } as const;

/** Ways in which a service may write a text that means the same. */
export const spellingsOf = (field: TextField, text: string): readonly unknown[] => {
  if (field.values || field.json) return [text];
  if (field.format) return spellings[field.format](text);
  return [text, text.normalize("NFD"), text.replaceAll("\n", "\r\n"), text.replaceAll("\n", "\r")];
};

const nothing = fc.constantFrom(undefined, null);
/** Members that the service keeps beside those of the program. */
const added = fc.constantFrom<JsonObject>({}, { "x-added": 7, rank: { of: ["service"] } });

const inEnvelope = (key: string, inner: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> =>
  fc.tuple(inner, added).map(([value, more]) => ({ ...more, [key]: value }));

const mapForm = (field: Field & { type: "map" }, value: JsonObject): fc.Arbitrary<unknown> => {
  const { key, value: member } = membersOf(field);
  const entries = Object.entries(value).map(([name, of]) =>
    fc
      .tuple(formOf(field.of, of), added)
      .map(([form, more]) => objectOf(Object.entries({ ...more, [key]: name, [member]: form }))),
  );
  return fc
    .tuple(...entries)
    .chain((list) => fc.shuffledSubarray(list, { minLength: list.length }));
};

const listForm = (field: Field & { type: "list" }, value: readonly unknown[]) => {
  const items = fc.tuple(...value.map((item) => formOf(field.of, item)));
  const ordered: fc.Arbitrary<unknown> = field.unordered
    ? items.chain((list) => fc.shuffledSubarray(list, { minLength: list.length }))
    : items;
  const enveloped = field.envelope ? inEnvelope(field.envelope, ordered) : ordered;
  return value.length === 0 ? fc.oneof(enveloped, nothing) : enveloped;
};

/** Any JSON of the service that means a value of a program. */
export const formOf = (field: Field, value: unknown): fc.Arbitrary<unknown> => {
  if (field.secret) {
    return fc.constantFrom(value, "********", "hidden", "another", "", null, undefined);
  }
  switch (field.type) {
    case "text": {
      const words = spellingsOf(field, String(value)).map((form) =>
        form === value ? toWire({ ...field, envelope: "_" }, value, vendor) : { _: form },
      );
      const inner = fc.constantFrom(...words).map((box) => (isObject(box) ? box._ : box));
      return field.envelope ? inEnvelope(field.envelope, inner) : inner;
    }
    case "number":
      return fc.constant(value);
    case "flag":
      return fc.constantFrom(value, ...(field.default === value ? [null, undefined] : []));
    case "reference":
      return field.plainId ? fc.constant(value) : inEnvelope("id", fc.constant(value));
    case "object":
      return isObject(value) ? objectForm(field.fields, value) : fc.constant(value);
    case "list":
      return Array.isArray(value) ? listForm(field, value) : fc.constant(value);
    case "map":
      return isObject(value)
        ? Object.keys(value).length === 0
          ? nothing
          : mapForm(field, value)
        : fc.constant(value);
  }
};

/** Any JSON of the service that means an object of a program, with members of the service's own. */
export const objectForm = (
  fields: Readonly<Record<string, Field>>,
  values: JsonObject,
): fc.Arbitrary<JsonObject> =>
  fc
    .tuple(
      added,
      ...Object.entries(fields)
        .filter(([name]) => values[name] !== undefined)
        .map(([name, field]) =>
          formOf(field, values[name]).map((form) => objectOf([[wireName(name, field), form]])),
        ),
    )
    .map(([more, ...members]) => Object.assign({}, more, ...members));
