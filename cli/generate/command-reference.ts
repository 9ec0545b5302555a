import type { Command } from "commander";
import { z } from "zod";
import type { CommandSpec } from "../command.js";
import { commands, createProgram } from "../program.js";
import { catalogSchema, failureSchema } from "../terminal/command-catalog.js";
import { type JsonMember, jsonMembers, jsonShapes, schemaOf } from "../terminal/json-shapes.js";

/** The JSON Schema (2020-12) of what a command prints. */
const jsonSchemaOf = async (command: CommandSpec): Promise<object> =>
  z.toJSONSchema(await schemaOf(command), { io: "output" });

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

const memberLine = ({ path, doc }: JsonMember): string => `- \`${path}\`: ${doc}`;

/** The help shows the shape of the JSON; these lines explain what a name does not. */
const schemaLines = async (command: CommandSpec): Promise<readonly string[]> => {
  const explained = jsonMembers(await jsonSchemaOf(command)).filter(({ doc }) => doc !== "");
  return [
    `JSON schema: [${command.name}.json](schemas/${command.name}.json).`,
    "",
    ...explained.map(memberLine),
    ...(explained.length > 0 ? [""] : []),
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

/** docs/cli.md: the help of every command, and the shapes of its JSON. */
export const commandReference = async (): Promise<string> => {
  let text = "";
  const out = (more: string): void => {
    text += more;
  };
  const session = {
    ...{ out, err: out, coloured: false, exitCode: 0 },
    untilInterrupted: () => Promise.resolve(),
  };
  const program = createProgram(session, await jsonShapes(commands));
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
