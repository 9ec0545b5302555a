import type { Command } from "commander";
import { z } from "zod";
import { comparisonSchema, savedSchema } from "../compare/comparison-schema.js";
import { completionSchema } from "../completion/completion-schema.js";
import { diagnosisSchema } from "../doctor/diagnose.js";
import { driftSchema } from "../drift/drift.js";
import { drillSchema } from "../drill/drill-schema.js";
import { emulatorLineSchema } from "../emulator-schema.js";
import { explanationSchema } from "../explain/explanation.js";
import { exportSchema } from "../export/run-export.js";
import { printedForecastSchema } from "../forecast/forecast-schema.js";
import { importFileSchema, importSchema } from "../import/import-schema.js";
import { newProjectSchema } from "../init/run-init.js";
import { orphansSchema } from "../orphans/orphans-schema.js";
import { cleanedSchema, findingsSchema } from "../probe/probe-findings.js";
import { createProgram } from "../program.js";
import { rehearsalSchema } from "../rehearse/outcome/outcome.js";
import { checkedRecordSchema } from "../rehearse/record/checked-record-schema.js";
import { repairSchema } from "../repair/repair-schema.js";

/** Shape of what each command prints with `--json`, by its name. */
export const jsonSchemas: Readonly<Record<string, z.ZodType>> = {
  init: newProjectSchema,
  emulator: emulatorLineSchema,
  doctor: diagnosisSchema,
  forecast: printedForecastSchema,
  explain: explanationSchema,
  drift: driftSchema,
  compare: z.union([comparisonSchema, savedSchema]),
  orphans: orphansSchema,
  repair: repairSchema,
  export: exportSchema,
  rehearse: rehearsalSchema,
  "check-record": checkedRecordSchema,
  drill: drillSchema,
  completion: completionSchema,
  probe: z.union([findingsSchema, cleanedSchema]),
  import: importSchema,
  "import-file": importFileSchema,
};

/** The JSON Schema (2020-12) of what a command prints; undefined if it prints no JSON. */
const jsonSchemaOf = (command: string): object | undefined => {
  const schema = jsonSchemas[command];
  return schema && z.toJSONSchema(schema, { io: "output" });
};

/** The files of docs/schemas, by their paths. */
export const schemaFiles = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.keys(jsonSchemas).map((command) => [
      `docs/schemas/${command}.json`,
      `${JSON.stringify(jsonSchemaOf(command), null, 2)}\n`,
    ]),
  );

/** What is read of a JSON Schema. */
const shape = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  description: z.string().default(""),
  enum: z.array(z.unknown()).optional(),
  const: z.unknown().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).default([]),
  items: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
  anyOf: z.array(z.unknown()).optional(),
  oneOf: z.array(z.unknown()).optional(),
});

type Shape = z.output<typeof shape>;

/** A member of what a command prints. */
interface JsonMember {
  /** From the top, such as `changed[].id`; keys of a map are `<name>`. */
  readonly path: string;
  /** Whether it may be left out. */
  readonly isOptional: boolean;
  readonly type: string;
  readonly doc: string;
}

const words: Readonly<Record<string, string>> = {
  string: "text",
  integer: "whole number",
  number: "number",
  boolean: "true or false",
  object: "object",
};

const alternativesOf = ({ anyOf, oneOf }: Shape): readonly Shape[] | undefined =>
  (anyOf ?? oneOf)?.map((each) => shape.parse(each));

const itemOf = ({ items }: Shape): Shape | undefined =>
  items === undefined ? undefined : shape.parse(items);

/** What all keys of a map lead to; undefined if it is none. */
const entryOf = ({ properties, additionalProperties: entry }: Shape): Shape | undefined =>
  !properties && typeof entry === "object" ? shape.parse(entry ?? {}) : undefined;

const typeOf = (of: Shape): string => {
  const item = itemOf(of);
  if (item) return `list of ${typeOf(item)}s`.replace(/(text|s)s$/, "$1");
  if (of.enum) return of.enum.map((value) => `\`${String(value)}\``).join(", ");
  if (of.const !== undefined) return `\`${String(of.const)}\``;
  if (entryOf(of)) return "map";
  const alternatives = alternativesOf(of);
  if (alternatives) return [...new Set(alternatives.map(typeOf))].join(" or ");
  const types = [of.type ?? []].flat().map((type) => words[type] ?? type);
  return types.length === 0 ? "any value" : types.join(" or ");
};

/** Members of the same name of several alternatives as one; what not all have may be left out. */
const merged = (alternatives: readonly (readonly JsonMember[])[]): readonly JsonMember[] => {
  const byPath = Map.groupBy(alternatives.flat(), ({ path }) => path);
  return [...byPath].map(([path, same]) => ({
    path,
    isOptional: same.length < alternatives.length || same.some(({ isOptional }) => isOptional),
    type: [...new Set(same.map(({ type }) => type))].join(", "),
    doc: [...new Set(same.map(({ doc }) => doc).filter((doc) => doc !== ""))].join("; "),
  }));
};

const below = (of: Shape, path: string): readonly JsonMember[] => {
  const item = itemOf(of);
  if (item) return below(item, `${path}[]`);
  const entry = entryOf(of);
  if (entry) return below(entry, `${path}.<name>`);
  const alternatives = alternativesOf(of);
  if (alternatives) return merged(alternatives.map((each) => below(each, path)));
  return Object.entries(of.properties ?? {}).flatMap(([name, schema]) => {
    const member = shape.parse(schema);
    const own = path === "" ? name : `${path}.${name}`;
    const isOptional = !of.required.includes(name);
    return [
      { path: own, isOptional, type: typeOf(member), doc: member.description },
      ...below(member, own),
    ];
  });
};

/** Every member of a JSON Schema, each after what it is in. */
export const jsonMembers = (schema: unknown): readonly JsonMember[] =>
  below(shape.parse(schema), "");

const row = ({ path, isOptional, type, doc }: JsonMember): string =>
  `| \`${path}${isOptional ? "?" : ""}\` | ${type} | ${doc} |`;

const schemaLines = (command: Command): readonly string[] => {
  const name = command.name();
  const schema = jsonSchemaOf(name);
  const prints = command.options.some(({ long }) => long === "--json");
  if (prints !== (schema !== undefined))
    throw new Error(`${name}: --json and a schema go together (jsonSchemas)`);
  if (!schema) return [];
  return [
    `What \`--json\` prints, as a JSON Schema: [${name}.json](schemas/${name}.json).`,
    "",
    ...["| Member | Type | Meaning |", "|---|---|---|"],
    ...jsonMembers(schema).map(row),
    "",
  ];
};

const intro = `# The command line

<!-- Generated from the commands by \`npm run build\`; do not edit. -->

Every command is run as \`npx pulumi-conversation <command>\`, or by its name where \`node_modules/.bin\` is on PATH. What holds for all:

- \`--json\` prints one JSON document on standard output, and nothing else goes there. Progress and notes go to standard error.
  Its members and its schema stand with the command; \`?\` behind a name says that the member may be left out. There are no others; later releases may add some.
- Exit codes: 0 done, 1 failed, 2 wrong command line; what other codes mean stands with the command.
- Nothing is written to the service or to a state without an option that says so, such as \`--apply\` or \`--delete\`.
- Colours only on a terminal; \`NO_COLOR\` turns them off, \`FORCE_COLOR\` on. Tables keep to 80 columns.
- \`pulumi-conversation completion bash\` prints a script that completes commands and options; also for zsh and fish.
`;

/** docs/cli.md: the help of every command, and the shapes of its JSON. */
export const commandReference = (): string => {
  let text = "";
  const out = (more: string): void => {
    text += more;
  };
  const program = createProgram({
    out,
    err: out,
    coloured: false,
    untilInterrupted: () => Promise.resolve(),
    exitCode: 0,
  });
  const helpOf = (command: Command): string => {
    text = "";
    command.configureOutput({
      writeOut: out,
      getOutHelpWidth: () => 100,
      getOutHasColors: () => false,
    });
    command.outputHelp();
    return text
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  };
  const sections = program.commands.flatMap((command) => [
    `## ${command.name()}`,
    "",
    "```text",
    helpOf(command),
    "```",
    "",
    ...schemaLines(command),
  ]);
  return `${[intro, ...sections].join("\n").trimEnd()}\n`;
};
