import type { Basis, Field, NumberField } from "../../provider/definition/define.js";

const sources: Readonly<Record<Basis, string>> = {
  spec: "specification",
  public: "public reference",
  assumed: "assumed",
};

export const sourceOf = (basis: Basis): string => sources[basis];

/** Where the values come from that a program only reads. */
export const answeredByService =
  "Told by the service; right after a creation or an update the time of its answer.";

const shown = (value: number): string => value.toLocaleString("en-GB");

const span = (least: number | undefined, most: number | undefined, unit: string): string[] => {
  if (least === undefined && most === undefined) return [];
  if (most === undefined)
    return least === 0 || least === 1 ? [] : [`At least ${shown(least ?? 0)} ${unit}.`];
  return [
    least === undefined
      ? `At most ${shown(most)} ${unit}.`
      : `${shown(least)} to ${shown(most)} ${unit}.`,
  ];
};

/** What numbers are allowed. Unlike a number of items, a least one of 0 or 1 is a limit of its own. */
const rangeOf = ({ integer, min, max }: NumberField): string[] => {
  const least = min === undefined ? [] : [`at least ${shown(min)}`];
  const most = max === undefined ? [] : [`at most ${shown(max)}`];
  const both = min !== undefined && max !== undefined ? [`${shown(min)} to ${shown(max)}`] : [];
  const facts = [
    ...(integer ? ["whole number"] : []),
    ...(both.length > 0 ? both : [...least, ...most]),
  ].join(", ");
  return facts ? [`${facts.charAt(0).toUpperCase()}${facts.slice(1)}.`] : [];
};

const formatOf = (field: Field): string[] => {
  if (field.type !== "text" || !field.format) return [];
  return [
    {
      url: "Absolute http or https address.",
      email: "E-mail address.",
      base64: 'Base64 text, or a file: `new pulumi.asset.FileAsset("icon.png")`.',
    }[field.format],
  ];
};

const sizeOf = (field: Field): string[] => {
  switch (field.type) {
    case "text":
      return field.values ? [] : span(field.min, field.max, "characters");
    case "number":
      return rangeOf(field);
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
