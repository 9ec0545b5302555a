import {
  mustGive,
  type ResourceArgument,
  resourceArguments,
  setByService,
  sourceOf,
} from "../../provider/definition/declarations.js";
import {
  type Definition,
  type Field,
  type Members,
  outputFields,
} from "../../provider/definition/define.js";
import { referencesOf, referencesTo } from "../../provider/definition/kinds.js";
import { scopes, setUpOperation } from "../../provider/service/operations.js";
import { describeSettings } from "../../provider/service/settings.js";
import { endpointName } from "../../provider/service/transport.js";
import { sequences } from "../forecast/planned-steps.js";
import { classFacts, exampleOf } from "./resource-classes.js";

/** A text for a table cell: a bar would end the cell, a line break the row. */
const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll(/\s+/g, " ");

const typeOf = (field: Field): string => {
  switch (field.type) {
    case "text":
      if (field.values) return field.values.map((value) => `\`${value}\``).join(", ");
      return field.json ? "text or object" : "text";
    case "flag":
      return "true or false";
    case "reference":
      return `${field.to.kind} or ID`;
    case "list":
      return `list of ${typeOf(field.of)}`;
    case "map":
      return `map of ${typeOf(field.of)}`;
    default:
      return field.type;
  }
};

const rowOf = (label: string, field: Field, required: boolean): string => {
  // Most fields are seen in a public reference: only what is more or less certain says so.
  const source =
    sourceOf(field.basis) === sourceOf("public") ? [] : [`Source: ${sourceOf(field.basis)}.`];
  const note = [field.doc, ...classFacts(field), ...source].join(" ");
  return `| ${label} | ${cell(typeOf(field))} | ${required ? "yes" : ""} | ${cell(note)} |`;
};

/** The kind's own `name` may be omitted; a nested one may not. */
const rowsOf = ({ fields, rule }: Members, prefix = ""): string[] =>
  Object.entries(fields).flatMap(([name, field]) => {
    const path = prefix + name;
    const required = mustGive(name, field, rule);
    return [rowOf(`\`${path}\``, field, required), ...below(field, path)];
  });

const below = (field: Field, path: string): string[] => {
  if (field.type === "object") return rowsOf(field, `${path}.`);
  if (field.type === "list" && field.of.type === "object") return rowsOf(field.of, `${path}[].`);
  return [];
};

/** What the service sets on every object. */
const outputs = (): string =>
  [
    ...Object.entries(outputFields).map(([name, { doc }]) => `- \`${name}\`: ${doc}`),
    "",
    setByService,
  ].join("\n");

const usesOf = (definition: Definition): string => {
  const kinds = [...new Set(referencesOf(definition).map(({ to }) => to.kind))];
  return kinds.length > 0 ? kinds.join(", ") : "nothing";
};

const deletionOf = (definition: Definition, resources: readonly Definition[]): string => {
  const users = [...new Set(referencesTo(definition, resources).map(({ from }) => from.noun))];
  const held = definition.heldByAny ? ` ${definition.heldByAny.doc}` : "";
  return users.length > 0
    ? `Cannot be deleted while used by: ${users.join(", ")}.${held}`
    : "Nothing refers to it.";
};

const automaticNames = [
  "If you omit `name`, the name consists of the logical name, with `-` for all characters but letters, digits, `-`, and `_`, and a suffix. The suffix depends on the stack's `Ownership`, the kind, the parent types, and the logical name:",
  "it is the same in every run, and different in every other stack. Before a stack's first run, a preview does not know it: the name is unknown or, through the plugin, has another suffix.",
  "The name stays the same even if you rename or move the resource with `aliases`, or rename the stack.",
].join(" ");

const ownership = [
  "## Ownership",
  [
    "Every stack has an additional resource, `Ownership`, which the package registers. It represents no object in the service and makes no calls:",
    "it is a random ID in the state. The marks of the stack's objects contain this ID, so that the objects of two states with the same",
    "project and stack name are never confused. `Ownership` is created first and removed last. It is created only once, even if",
    "component libraries have their own copies of this package.",
  ].join(" "),
  [
    "`pulumi destroy` removes `Ownership` too, and the next `up` creates a new one. If you remove only `Ownership` from the state, that `up` writes the new",
    "mark on all objects that are still in the state. Objects that an earlier run left behind then count as another state's objects.",
  ].join(" "),
  [
    "If the first `up` has targets, it needs `Ownership` too: add `--target '**conversation:Ownership::ownership'` (two asterisks,",
    "because one does not match colons). You do not need this with `--exclude`, or once the stack has its `Ownership`.",
  ].join(" "),
].join("\n\n");

const sectionOf = (definition: Definition, resources: readonly Definition[]): string =>
  [
    `## ${definition.kind}`,
    definition.doc,
    `Collection \`/${definition.collection}\`. Refers to: ${usesOf(definition)}. ${deletionOf(definition, resources)}`,
    `\`\`\`typescript\n${exampleOf(definition)}\n\`\`\``,
    ["| Property | Type | Required | Meaning |", "|---|---|---|---|", ...rowsOf(definition)].join(
      "\n",
    ),
  ].join("\n\n");

const argumentForms: Readonly<Record<ResourceArgument["form"], string>> = {
  flag: "true or false",
  "flag or ID": "true or ID",
  text: "text",
};

const argumentTable = (): string =>
  [
    "| Argument | Type | Meaning |",
    "|---|---|---|",
    ...resourceArguments.map(
      ({ name, form, doc }) => `| \`${name}\` | ${argumentForms[form]} | ${cell(doc.join(" "))} |`,
    ),
  ].join("\n");

/** What Pulumi does with a resource, and the calls that this takes. */
const operations: readonly (readonly [string, keyof typeof sequences])[] = [
  ["create", "create"],
  ["adopt (`adopt`)", "adopt"],
  ["update", "update"],
  ["delete", "delete"],
  ["look up (`get`)", "read"],
];

/** The calls of an operation, with `…` for the collection. */
const callsText = (definition: Definition, step: keyof typeof sequences): string => {
  const calls = sequences[step].map((action) => {
    const operation = setUpOperation(definition, action);
    const any = operation.scopes.map((scope) => `\`${scope.split(".").at(-1)}\``).join(" or ");
    return `\`${endpointName(operation)}\`${action === "list" ? " (once per run)" : ""}: ${any}`;
  });
  return calls.join("; ").replaceAll(`/${definition.collection}`, "/…");
};

/** What most kinds need stands once; a kind that needs something else has a row of its own. */
const callsTable = (resources: readonly Definition[]): string => {
  const rows = operations.flatMap(([what, action]) => {
    const byText = [...Map.groupBy(resources, (definition) => callsText(definition, action))];
    return byText
      .toSorted(([, a], [, b]) => b.length - a.length)
      .map(([text, kinds], place) => {
        const of = place === 0 ? "" : `, ${kinds.map(({ kind }) => kind).join(", ")}`;
        return `| ${what}${of} | ${text} |`;
      });
  });
  return ["| Pulumi | Calls and their scopes |", "|---|---|", ...rows].join("\n");
};

const scopeWords = `Scopes are abbreviated: \`manage\` is \`${scopes.manage}\`, and \`read\` is \`${scopes.read}\`. A list requires one call for each page. \`refresh\` makes the list calls; a preview and a run without changes make no calls.`;

/** Which kind refers to which, as a block of Mermaid. */
const referencesDiagram = (resources: readonly Definition[]): string => {
  const arrows = resources.flatMap((definition) =>
    referencesOf(definition).map(
      ({ to, path }) => `  ${definition.kind} -->|"${path}"| ${to.kind}`,
    ),
  );
  return ["```mermaid", "flowchart TD", ...arrows, "```"].join("\n");
};

/** The reference page: every property of every kind. */
export const resourceReference = (resources: readonly Definition[]): string =>
  [
    "<!-- Generated from provider/resources by `npm run generate`. Change the definitions, not this file. -->",
    "# Resources",
    referencesDiagram(resources),
    "If a property is inside a parent, Required applies only if you set the parent. Each property appears in the vendor's description of the interface, unless its row names another source (specification, public reference, or assumed).",
    automaticNames,
    "## Calls",
    scopeWords,
    callsTable(resources),
    "## Every resource also accepts",
    argumentTable(),
    "## Every resource also has",
    outputs(),
    ownership,
    ...resources.map((definition) => sectionOf(definition, resources)),
    "[`ConversationAccount`](api/index.md#conversationaccount) is a component that declares all that an account needs.",
    "",
  ].join("\n\n");

/** The overview: one row for each kind, in setup order. */
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

export const settingsTable = (): string =>
  [
    "| Config key | Environment | Meaning |",
    "|---|---|---|",
    ...describeSettings().map(
      ({ config, environment, doc, required, secret, default: fallback }) => {
        const notes = [
          required ? "Required." : "",
          secret ? "Secret." : "",
          fallback ? `Default: \`${fallback}\`.` : "",
        ];
        return `| \`${config}\` | \`${environment}\` | ${[doc, ...notes].filter(Boolean).join(" ").replaceAll("|", "\\|")} |`;
      },
    ),
    "",
  ].join("\n");
