import type { Definition } from "../../provider/definition/define.js";
import { outputFields } from "../../provider/definition/define.js";
import type { Field, Fields } from "../../provider/definition/field.js";
import { referencesOf, referencesTo } from "../../provider/definition/references.js";
import { factsOf, sourceOf } from "./field-facts.js";

const cell = (text: string): string => text.replaceAll("|", "\\|");

const typeOf = (field: Field): string => {
  switch (field.type) {
    case "text":
      if (field.values) return field.values.map((value) => `\`${value}\``).join(", ");
      return field.json ? "text or object" : "text";
    case "flag":
      return "true or false";
    case "reference":
      return `${field.to.kind} or id`;
    case "list":
      return `list of ${typeOf(field.of)}`;
    case "map":
      return `map of ${typeOf(field.of)}`;
    default:
      return field.type;
  }
};

const rowsOf = (fields: Fields, prefix: string): string[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const path = prefix + name;
    const note = [field.doc, ...factsOf(field)].join(" ");
    const row = `| \`${path}\` | ${cell(typeOf(field))} | ${field.required ? "yes" : ""} | ${cell(note)} | ${sourceOf(field.basis)} |`;
    return [row, ...below(field, path)];
  });

const below = (field: Field, path: string): string[] => {
  if (field.type === "object") return rowsOf(field.fields, `${path}.`);
  if (field.type === "list" && field.of.type === "object")
    return rowsOf(field.of.fields, `${path}[].`);
  return [];
};

const exampleOf = ({ kind, example }: Definition): string => {
  const json = JSON.stringify(example, undefined, 2);
  const source = json
    .replace(/"([A-Za-z_$][\w$]*)":/g, "$1:")
    .replace(
      /"\$\{(\w+)\}"/g,
      (_, referred: string) => referred.charAt(0).toLowerCase() + referred.slice(1),
    );
  return `\`\`\`typescript\nnew ${kind}("example", ${source});\n\`\`\``;
};

const usesOf = (definition: Definition): string => {
  const kinds = [...new Set(referencesOf(definition).map(({ to }) => to.kind))];
  return kinds.length > 0 ? kinds.join(", ") : "nothing";
};

const deletionOf = (definition: Definition, resources: readonly Definition[]): string => {
  const users = [...new Set(referencesTo(definition, resources).map(({ from }) => from.noun))];
  const held = definition.heldByAny ? ` ${definition.heldByAny.doc}` : "";
  return users.length > 0
    ? `Refused while used by: ${users.join(", ")}.${held}`
    : "Nothing refers to it.";
};

const sectionOf = (definition: Definition, resources: readonly Definition[]): string =>
  [
    `## ${definition.kind}`,
    definition.doc,
    `Collection \`/${definition.collection}\`. Refers to: ${usesOf(definition)}. Deletion: ${deletionOf(definition, resources)}`,
    exampleOf(definition),
    [
      "| Property | Type | Required | Meaning | Source |",
      "|---|---|---|---|---|",
      ...rowsOf(definition.fields, ""),
      ...rowsOf(outputFields, "").map((row) => row.replace("| `", "| *output* `")),
    ].join("\n"),
  ].join("\n\n");

/** The reference page: every property of every kind. */
export const resourceReference = (resources: readonly Definition[]): string =>
  [
    "<!-- Generated from provider/resources by `npm run generate`. Change the definitions, not this file. -->",
    "# Resources",
    "Every resource also takes `adopt`, `extra` and `profile` (see the [README](../README.md)). Required means required inside its parent, where the parent is there; a `name` may be left out. The source says how certain a property is: stated in the specification, seen in a public reference of a service of this shape, or assumed.",
    ...resources.map((definition) => sectionOf(definition, resources)),
    "",
  ].join("\n\n");

/** The overview: one row for each kind, in set-up order. */
export const resourceTable = (resources: readonly Definition[]): string =>
  [
    "| Resource | What it is | Refers to | Cannot be deleted while used by |",
    "|---|---|---|---|",
    ...resources.map((definition) => {
      const users = [...new Set(referencesTo(definition, resources).map(({ from }) => from.kind))];
      return `| [\`${definition.kind}\`](docs/resources.md#${definition.kind.toLowerCase()}) | ${cell(definition.doc)} | ${usesOf(definition)} | ${users.join(", ") || "–"} |`;
    }),
    "",
  ].join("\n");
