import { z } from "zod";
import { diagnosisSchema } from "../doctor/check.js";
import { explanationSchema } from "../explain/explanation.js";
import { createProgram } from "../program.js";

/** Commands whose JSON has a schema in the code. */
const schemas: Readonly<Record<string, z.ZodType>> = {
  doctor: diagnosisSchema,
  explain: explanationSchema,
};

const schemaLines = (name: string): readonly string[] => {
  const schema = schemas[name];
  if (!schema) return [];
  const { $schema: _, ...shape } = z.toJSONSchema(schema, { io: "output" });
  return [
    "<details><summary>JSON Schema of <code>--json</code></summary>",
    "",
    "```json",
    JSON.stringify(shape, null, 2),
    "```",
    "",
    "</details>",
    "",
  ];
};

const intro = `# The command line

<!-- Generated from the commands by \`npm run build\`; do not edit. -->

Every command is run as \`npx pulumi-conversation <command>\`, or by its name where \`node_modules/.bin\` is on PATH. What holds for all:

- \`--json\` prints one JSON document on standard output, and nothing else goes there. Progress and notes go to standard error.
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
  const helpOf = (command: (typeof program.commands)[number]): string => {
    text = "";
    command.configureOutput({
      writeOut: out,
      getOutHelpWidth: () => 100,
      getOutHasColors: () => false,
    });
    command.outputHelp();
    return text.replace(/[ \t]+$/gm, "").trimEnd();
  };
  const sections = program.commands.flatMap((command) => [
    `## ${command.name()}`,
    "",
    "```text",
    helpOf(command),
    "```",
    "",
    ...schemaLines(command.name()),
  ]);
  return `${[intro, ...sections].join("\n").trimEnd()}\n`;
};
