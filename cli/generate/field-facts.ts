import type { Basis, Field } from "../../provider/definition/field.js";

const sources: Readonly<Record<Basis, string>> = {
  spec: "specification",
  public: "public reference",
  assumed: "assumed",
};

export const sourceOf = (basis: Basis): string => sources[basis];

const span = (least: number | undefined, most: number | undefined, unit: string): string[] => {
  if (least === undefined && most === undefined) return [];
  const number = (value: number) => value.toLocaleString("en-GB");
  if (most === undefined)
    return least === 0 || least === 1 ? [] : [`At least ${number(least ?? 0)} ${unit}.`];
  return [
    least === undefined
      ? `At most ${number(most)} ${unit}.`
      : `${number(least)} to ${number(most)} ${unit}.`,
  ];
};

const formatOf = (field: Field): string[] => {
  if (field.type !== "text" || !field.format) return [];
  return [
    { url: "Absolute http or https address.", email: "E-mail address.", base64: "Base64 text." }[
      field.format
    ],
  ];
};

const sizeOf = (field: Field): string[] => {
  switch (field.type) {
    case "text":
      return field.values ? [] : span(field.min, field.max, "characters");
    case "number":
      return field.integer ? ["Whole number."] : [];
    case "list":
      return span(field.min, field.max, "items");
    case "map":
      return span(field.min, field.max, "entries");
    default:
      return [];
  }
};

/** The rules of a field in short sentences, from its data. */
export const factsOf = (field: Field): string[] => [
  ...sizeOf(field),
  ...formatOf(field),
  ...(field.type === "text" && field.unique ? ["Unique."] : []),
  ...("default" in field && field.default !== undefined ? [`Default: \`${field.default}\`.`] : []),
  ...(field.type === "map" && field.of.secret
    ? ["Values are secret: encrypted in the state, never shown."]
    : []),
  ...(field.secret ? ["Secret: encrypted in the state, never shown."] : []),
];
