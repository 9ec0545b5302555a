import { z } from "zod";
import type { Printed } from "../../provider/kernel/json.js";
import { packageVersion } from "../../provider/kernel/package.js";
import { type CommandSpec, exitsOf, type OptionSpec, optionName } from "../command.js";

/** Shape of what `--json` prints if a command fails before it has printed anything. */
export const failureSchema = z.strictObject({
  error: z.strictObject({
    code: z
      .string()
      .describe(
        "`USAGE`: the command line is invalid; `STOPPED`: the command was interrupted; `FAILED`: another failure; or the code of a service failure, such as `NOT_FOUND`",
      ),
    message: z.string().describe("A complete message, without secrets"),
    advice: z.string().describe("What to do, or where to read more"),
    exitCode: z.int(),
  }),
});

/** Shape of what `help --json` prints. */
export const catalogSchema = z.strictObject({
  version: z.string(),
  commands: z.array(
    z.strictObject({
      name: z.string(),
      summary: z.string(),
      description: z.string(),
      arguments: z.array(
        z.strictObject({
          value: z.string().describe("`<required>`, `[optional]`, or `[several...]`"),
          doc: z.string(),
        }),
      ),
      options: z.array(
        z.strictObject({
          name: z.string().describe("Option name, such as `--out`"),
          value: z.exactOptional(z.string()).describe("Absent if the option takes no value"),
          doc: z.string(),
          choices: z.exactOptional(z.array(z.string())),
          default: z.exactOptional(z.unknown()),
          required: z.boolean(),
          environment: z
            .exactOptional(z.string())
            .describe("Environment variable to read if the option is absent"),
        }),
      ),
      excludes: z
        .record(z.string(), z.array(z.string()))
        .describe("By option: other options that you cannot combine with it"),
      exitCodes: z.record(z.string(), z.string()).describe("Meaning of each exit code"),
      output: z.unknown().describe("JSON Schema of what `--json` prints"),
    }),
  ),
  failure: z.unknown().describe("JSON Schema of what `--json` prints if a command fails"),
});

type Catalog = Printed<z.output<typeof catalogSchema>>;
const optionOf = ([key, spec]: readonly [string, OptionSpec<unknown>]) => {
  const { doc, value, choices, fallback, environment, isRequired } = spec;
  return {
    name: optionName(key),
    ...(value === undefined ? {} : { value }),
    doc,
    ...(choices ? { choices: [...choices] } : {}),
    ...(fallback === undefined ? {} : { default: fallback }),
    required: isRequired ?? false,
    ...(environment === undefined ? {} : { environment }),
  };
};

const commandOf = async (spec: CommandSpec): Promise<Catalog["commands"][number]> => ({
  name: spec.name,
  summary: spec.summary,
  description: spec.description,
  arguments: [...(spec.words ?? [])],
  options: [
    ...Object.entries(spec.options).map(optionOf),
    { name: "--json", doc: spec.jsonDoc ?? "Print one JSON object.", required: false },
  ],
  excludes: Object.fromEntries(
    Object.entries(spec.excludes ?? {}).map(([one, others]) => [
      optionName(one),
      others.map(optionName),
    ]),
  ),
  exitCodes: { ...exitsOf(spec) },
  output: z.toJSONSchema(await spec.json(), { io: "output" }),
});

/** Commands with their arguments, options, exit codes, and schemas, as data. */
export const commandCatalog = async (commands: readonly CommandSpec[]): Promise<Catalog> => ({
  version: packageVersion(),
  commands: await Promise.all(commands.map(commandOf)),
  failure: z.toJSONSchema(failureSchema, { io: "output" }),
});
