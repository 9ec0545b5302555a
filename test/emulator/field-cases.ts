import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { unwrapped } from "../../provider/definition/fields.js";
import type { JsonObject } from "../../provider/kernel/json.js";

/** Ids of existing objects, by kind. */
export type Ids = ReadonlyMap<string, string>;

/** A value at a place of a body, and what the service makes of it. */
export interface Case {
  readonly label: string;
  readonly place: readonly (string | number)[];
  /** Undefined: the member is left out. */
  readonly value: unknown;
  /** Undefined: the value is good. */
  readonly code?: string;
  /** Which attribute the refusal names. */
  readonly key: string;
}

type Place = readonly (string | number)[];

export const keyOf = (place: Place): string =>
  place.reduce<string>(
    (key, step) => (typeof step === "number" ? `${key}[${step}]` : key ? `${key}.${step}` : step),
    "",
  );

const formats = { url: "https://x.example.com/y", email: "a@example.com", base64: "QUJD" } as const;

/** Text of exactly so many characters that fits the field. */
const textOf = (field: Field & { type: "text" }, length: number): string => {
  const start = field.format ? formats[field.format] : "x";
  return field.format === "base64"
    ? "A".repeat(length)
    : start.padEnd(length, "x").slice(0, length);
};

/** A valid value of a field on the wire, with all its members. */
export const sample = (field: Field, ids: Ids): unknown => {
  const box = (key: string | undefined, value: unknown) => (key ? { [key]: value } : value);
  switch (field.type) {
    case "text": {
      const start = field.format ? formats[field.format] : "x";
      const plain = textOf(field, Math.max(start.length, field.min ?? 0));
      return box(field.envelope, field.values?.[0] ?? plain);
    }
    case "number":
      return Math.max(1, field.min ?? 1);
    case "flag":
      return false;
    case "reference":
      return box(field.plainId ? undefined : "id", ids.get(field.to.kind));
    case "object":
      return members(field.fields, ids);
    case "list":
      return box(field.envelope, [sample(field.of, ids)]);
    case "map": {
      const { key, value } = field.members ?? { key: "name", value: "value" };
      return [{ [key]: field.keys?.[0] ?? "x", [value]: sample(field.of, ids) }];
    }
  }
};

const members = (fields: Fields, ids: Ids): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).map(([name, field]) => [field.wire ?? name, sample(field, ids)]),
  );

/** Complete valid bodies of a kind: one for each choice where only one of several members may be there. */
export const samples = (definition: Definition, ids: Ids): readonly JsonObject[] => {
  const all = members(definition.fields, ids);
  const { rule } = definition;
  if (!rule || !("exactlyOne" in rule)) return [all];
  const chosen = Object.values(rule.exactlyOne);
  return Object.entries(rule.exactlyOne).map(([choice, kept]) => ({
    ...Object.fromEntries(
      Object.entries(all).filter(([name]) => name === kept || !chosen.includes(name)),
    ),
    [rule.discriminator]: choice,
  }));
};

const wrongTypes: Readonly<Record<string, readonly unknown[]>> = {
  string: [5, true, {}, []],
  number: ["5", true, {}, []],
  flag: ["true", 1, 0, {}, []],
  object: ["x", 5, true, []],
  array: ["x", 5, true, {}],
};

const wrong = (shape: string, place: Place): Case[] =>
  [...(wrongTypes[shape] ?? [])].map((value) => ({
    label: `${JSON.stringify(value)} for ${shape}`,
    place,
    value,
    code: "400-196",
    key: keyOf(place),
  }));

const invalid = (label: string, place: Place, value: unknown, code = "400-196"): Case => ({
  label,
  place,
  value,
  code,
  key: keyOf(place),
});
const good = (label: string, place: Place, value: unknown): Case => ({
  label,
  place,
  value,
  key: keyOf(place),
});

const textCases = (field: Field & { type: "text" }, place: Place): Case[] => {
  const { min, max, values, format } = field;
  if (values) {
    return [
      ...wrong("string", place),
      invalid("a word outside the enum", place, "nothing", "400-196"),
      invalid("an empty word", place, "", "400-196"),
      ...values.map((value) => invalid("other letters", place, `${value}_`, "400-196")),
    ];
  }
  return [
    ...wrong("string", place),
    ...(min ? [invalid("shorter than the least", place, "x".repeat(min - 1))] : []),
    ...(max
      ? [
          good("the greatest length", place, textOf(field, max)),
          invalid("longer than the greatest", place, textOf(field, max + 1), "400-358"),
        ]
      : []),
    ...(format ? [invalid(`no ${format}`, place, "not a $ format")] : []),
  ];
};

const keyAt = (field: Field, number: number): string =>
  (field.type === "map" ? field.keys?.[number] : undefined) ?? `n${number}`;

const sizeCases = (field: Field & { type: "list" | "map" }, place: Place, ids: Ids): Case[] => {
  const { min, max } = field;
  const wire = sample(field, ids);
  const list = field.type === "list" ? unwrapped(field.envelope, wire) : wire;
  const items = Array.isArray(list) ? list : [];
  const key = field.type === "map" ? (field.members?.key ?? "name") : undefined;
  const many = (count: number): unknown[] =>
    Array.from({ length: count }, (_, number) =>
      key ? { ...items[0], [key]: keyAt(field, number) } : items[0],
    );
  // There are fewer languages than a channel may have texts for.
  const hasKeys = field.type === "map" && field.keys !== undefined;
  const unlike = key !== undefined || !(field.type === "list" && field.unique);
  return [
    ...(min ? [invalid("too few", place, [])] : []),
    ...(max && unlike && !hasKeys ? [good("as many as allowed", place, many(max))] : []),
    ...(max ? [invalid("one too many", place, many(max + 1), "400-358")] : []),
  ];
};

const mapCases = (field: Field & { type: "map" }, place: Place, ids: Ids): Case[] => {
  const { key, value } = field.members ?? { key: "name", value: "value" };
  const first = [...place, 0];
  return [
    ...wrong("array", place),
    ...sizeCases(field, place, ids),
    ...wrong("object", first),
    ...wrong("string", [...first, key]),
    invalid("no key", [...first, key], undefined, "400-143"),
    invalid("a key that is null", [...first, key], null, "400-143"),
    invalid("an empty key", [...first, key], ""),
    invalid("no value", [...first, value], undefined, "400-143"),
    ...inner(field.of, [...first, value], ids),
  ];
};

/** What the field itself allows and refuses, below what `presence` says. */
const inner = (field: Field, place: Place, ids: Ids): Case[] => {
  switch (field.type) {
    case "text":
      return field.envelope
        ? [
            ...wrong("object", place),
            ...required([...place, field.envelope]),
            ...textCases(field, [...place, field.envelope]),
          ]
        : textCases(field, place);
    case "number":
      return [
        ...wrong("number", place),
        ...(field.min === undefined
          ? []
          : [
              good("the least", place, field.min),
              invalid("below the least", place, field.min - 1),
            ]),
        ...(field.max === undefined
          ? []
          : [
              good("the greatest", place, field.max),
              invalid("above the greatest", place, field.max + 1),
            ]),
        ...(field.integer
          ? [invalid("a fraction", place, 1.5)]
          : [good("a fraction", place, (field.min ?? 1) + 0.5)]),
      ];
    case "flag":
      return wrong("flag", place);
    case "reference": {
      const at = field.plainId ? place : [...place, "id"];
      const id = ids.get(field.to.kind) ?? "";
      return [
        ...(field.plainId ? [] : [...wrong("object", place), ...required(at)]),
        ...wrong("string", at),
        invalid("an empty id", at, ""),
        invalid("an unknown id", at, "00000000-0000-4000-8000-000000000000"),
        invalid("a longer id", at, `${id}0`, "400-358"),
      ];
    }
    case "object":
      return [...wrong("object", place), ...fieldCases(field.fields, place, ids)];
    case "list": {
      const at = field.envelope ? [...place, field.envelope] : place;
      return [
        ...(field.envelope ? [...wrong("object", place), ...required(at)] : []),
        ...wrong("array", at),
        ...sizeCases(field, at, ids),
        ...inner(field.of, [...at, 0], ids),
      ];
    }
    case "map":
      return mapCases(field, place, ids);
  }
};

const required = (place: Place): Case[] => [
  invalid("left out", place, undefined, "400-143"),
  invalid("null", place, null, "400-143"),
];

/** Everything worth trying with these fields, at every depth. */
export const fieldCases = (fields: Fields, place: Place, ids: Ids): Case[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const at = [...place, field.wire ?? name];
    const presence = field.required
      ? required(at)
      : [good("left out", at, undefined), invalid("null", at, null)];
    return [...presence, ...inner(field, at, ids)];
  });

export const holds = (body: unknown, place: Place): boolean => {
  const [step, ...rest] = place;
  if (step === undefined) return true;
  const next = (body as JsonObject | undefined)?.[step];
  return rest.length === 0 || (next !== undefined && holds(next, rest));
};
