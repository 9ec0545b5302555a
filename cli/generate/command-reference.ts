import type { Command } from "commander";
import { createProgram } from "../program.js";
import { type JsonMember, jsonMembers } from "./json-members.js";
import { jsonSchemaOf } from "./json-schemas.js";

const row = ({ path, isOptional, type, doc }: JsonMember): string =>
  `| \`${path}${isOptional ? "?" : ""}\` | ${type} | ${doc} |`;

const schemaLines = (command: Command): readonly string[] => {
  const name = command.name();
  const schema = jsonSchemaOf(name);
  const prints = command.options.some(({ long }) => long === "--json");
  if (prints !== (schema !== undefined))
    throw new Error(`${name}: --json and a schema go together (json-schemas.ts)`);
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
