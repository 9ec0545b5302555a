import type { Command } from "commander";
import { z } from "zod";
import type { CommandSpec } from "../command.js";
import { commands, createProgram } from "../program.js";
import { type JsonMember, jsonMembers, jsonShapes, schemaOf } from "../terminal/json-shapes.js";

/** The JSON Schema (2020-12) of what a command prints. */
const jsonSchemaOf = async (command: CommandSpec): Promise<object> =>
  z.toJSONSchema(await schemaOf(command), { io: "output" });

/** The files of docs/schemas, by their paths. */
export const schemaFiles = async (): Promise<Readonly<Record<string, string>>> =>
  Object.fromEntries(
    await Promise.all(
      commands.map(async (command) => [
        `docs/schemas/${command.name}.json`,
        `${JSON.stringify(await jsonSchemaOf(command), null, 2)}\n`,
      ]),
    ),
  );

const row = ({ path, isOptional, type, doc }: JsonMember): string =>
  `| \`${path}${isOptional ? "?" : ""}\` | ${type} | ${doc} |`;

const schemaLines = async (command: CommandSpec): Promise<readonly string[]> => [
  `What \`--json\` prints, as a JSON Schema: [${command.name}.json](schemas/${command.name}.json).`,
  "",
  ...["| Member | Type | Meaning |", "|---|---|---|"],
  ...jsonMembers(await jsonSchemaOf(command)).map(row),
  "",
];

const intro = `# The command line

<!-- Generated from the commands by \`npm run build\`; do not edit. -->

Every command is run as \`npx pulumi-conversation <command>\`, or by its name if \`node_modules/.bin\` is on PATH. For all commands:

- \`--json\` prints one JSON document on standard output, and nothing else goes there. Progress and notes go to standard error.
  Its members and its schema stand with the command; \`?\` behind a name says that the member may be left out. There are no others; later releases may add some.
- Exit codes: 0 done, 1 failed, 2 wrong command line; what other codes mean stands with the command.
- Nothing is written to the service or to a state without an option that says so, such as \`--apply\` or \`--delete\`.
- Colors only on a terminal; \`NO_COLOR\` turns them off, \`FORCE_COLOR\` on. Tables keep to 80 columns.
- \`pulumi-conversation completion bash\` prints a script that completes commands and options; also for zsh and fish.
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
