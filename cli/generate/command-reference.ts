import type { Command } from "commander";
import { z } from "zod";
import type { CommandSpec } from "../command.js";
import { commands, createProgram } from "../program.js";
import { catalogSchema, failureSchema } from "../terminal/command-catalog.js";

/** The JSON Schema (2020-12) of what a command prints. */
const jsonSchemaOf = async ({ json }: CommandSpec): Promise<object> =>
  z.toJSONSchema(await json(), { io: "output" });

/** The files of docs/schemas, by their paths. */
export const schemaFiles = async (): Promise<Readonly<Record<string, string>>> => {
  const schemas = await Promise.all(
    commands.map(async (command) => [command.name, await jsonSchemaOf(command)] as const),
  );
  const others = [
    ["help", z.toJSONSchema(catalogSchema, { io: "output" })],
    ["failure", z.toJSONSchema(failureSchema, { io: "output" })],
  ] as const;
  return Object.fromEntries(
    [...schemas, ...others].map(([name, schema]) => [
      `docs/schemas/${name}.json`,
      `${JSON.stringify(schema, null, 2)}\n`,
    ]),
  );
};

/** The parts of a JSON Schema that this package's schemas use. */
const shape = z.object({
  description: z.string().default(""),
  properties: z.record(z.string(), z.unknown()).default({}),
  items: z.unknown().optional(),
  additionalProperties: z.unknown().optional(),
  anyOf: z.array(z.unknown()).default([]),
  oneOf: z.array(z.unknown()).default([]),
});

/**
 * What the members of a JSON Schema mean, by path, such as `changed[].id`; keys of a map are
 * `<name>`. Members that explain themselves are left out.
 */
const explainedMembers = (schema: unknown, path = ""): readonly (readonly [string, string])[] => {
  const { items, additionalProperties: entry, anyOf, oneOf, properties } = shape.parse(schema);
  return [
    ...(items === undefined ? [] : explainedMembers(items, `${path}[]`)),
    ...(typeof entry === "object" ? explainedMembers(entry, `${path}.<name>`) : []),
    ...[...anyOf, ...oneOf].flatMap((each) => explainedMembers(each, path)),
    ...Object.entries(properties).flatMap(([name, member]) => {
      const own = path === "" ? name : `${path}.${name}`;
      const { description } = shape.parse(member);
      const doc = description === "" ? [] : [[own, description] as const];
      return [...doc, ...explainedMembers(member, own)];
    }),
  ];
};

const schemaLines = async (command: CommandSpec): Promise<readonly string[]> => {
  const byPath = Map.groupBy(explainedMembers(await jsonSchemaOf(command)), ([path]) => path);
  const lines = [...byPath].map(
    ([path, same]) => `- \`${path}\`: ${[...new Set(same.map(([, doc]) => doc))].join("; ")}`,
  );
  return [
    `JSON schema: [${command.name}.json](schemas/${command.name}.json).`,
    "",
    ...lines,
    ...(lines.length > 0 ? [""] : []),
  ];
};

const intro = `# The command line

<!-- Generated from the commands by \`npm run build\`; do not edit. -->

Run every command as \`npx pulumi-conversation <command>\`, or, if \`node_modules/.bin\` is on PATH, as \`pulumi-conversation <command>\`. The following applies to all commands:

- \`--json\` prints one JSON document, and nothing else, on standard output. Progress and notes go to standard error.
  \`?\` after a member means that it can be absent. Later releases may add members.
- If a command with \`--json\` fails before it prints anything, it prints
  \`{ error: { code, message, advice, exitCode } }\`: [failure.json](schemas/failure.json).
- \`pulumi-conversation help --json\` lists all commands with their options, exit codes, and schemas: [help.json](schemas/help.json).
- Exit codes: 0 (done), 1 (failed), and 2 (invalid command line). Each command's section lists its other codes.
- A command writes to the service or to a state only with an explicit option, such as \`--apply\` or \`--delete\`.
- Output has colors only on a terminal; \`NO_COLOR\` turns them off, and \`FORCE_COLOR\` turns them on. Tables fit within 80 columns.
`;

/** docs/cli.md: the help of every command, and what its JSON means. */
export const commandReference = async (): Promise<string> => {
  let text = "";
  const out = (more: string): void => {
    text += more;
  };
  const session = {
    ...{ out, err: out, coloured: false, exitCode: 0 },
    untilInterrupted: () => Promise.resolve(),
  };
  const program = createProgram(session);
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
      .filter((line) => !line.startsWith("  -h, --help "))
      .map((line) => line.trimEnd())
      .join("\n")
      .trimEnd();
  };
  const sections = commands.map(async (spec) => {
    const command = program.commands.find((each) => each.name() === spec.name);
    return [
      ...[`## ${spec.name}`, "", "```text", command ? helpOf(command) : "", "```", ""],
      ...(await schemaLines(spec)),
    ];
  });
  return `${[intro, ...(await Promise.all(sections)).flat()].join("\n").trimEnd()}\n`;
};
