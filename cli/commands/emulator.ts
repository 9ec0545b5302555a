import { type Command, InvalidArgumentError, Option } from "commander";
import { planNames } from "../../emulator/http/rate-limit.js";
import { parseSwitch, type Switches, switchTable } from "../../emulator/service/switches.js";
import { CommandFailure, messageOf, type RegisterCommand } from "../command.js";
import type { EmulatorArguments } from "../serve-emulator.js";
import { indented, wrapped } from "../terminal/columns.js";

const LAST_PORT = 65_535;

const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw new InvalidArgumentError(`Allowed is a whole number from ${least} to ${most}.`);
  };

const addSwitch = (text: string, before: Partial<Switches>): Partial<Switches> => {
  const [name = "", ...value] = text.split("=");
  try {
    return { ...before, ...parseSwitch(name, value.join("=")) };
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
};

const allowed = (values: (typeof switchTable)[keyof typeof switchTable]["values"]): string => {
  if ("min" in values) return `${values.min}–${values.max}`;
  return values.length === 0 ? "a word" : values.join(" | ");
};

/** Everything uncertain about the service, as the help lists it. */
const switchHelp = (): string => {
  const lines = Object.entries(switchTable).flatMap(
    ([name, { doc, values, default: fallback }]) => [
      ...indented(`${name}=${allowed(values)} (default: ${fallback})`, 2),
      ...wrapped(doc, 74).map((line) => `      ${line}`),
    ],
  );
  return ["", "Switches, for what is uncertain about the service:", ...lines].join("\n");
};

/** Whether a command, if there is one, can be run. */
const assertCommand = (words: readonly string[], given: EmulatorArguments): void => {
  const [name] = words;
  if (name === undefined) return;
  if (name === "") throw new CommandFailure("The command after -- has an empty name.", 2);
  const other = (["json", "openapi"] as const).find((option) => given[option]);
  if (other)
    throw new CommandFailure(`--${other} goes with no command: the output is the command's.`, 2);
};

/** `emulator`: runs the service on this machine until it is interrupted. */
export const registerEmulator: RegisterCommand = (program, session) => {
  program
    .command("emulator")
    .summary("Run the service on this machine.")
    .description(
      "Runs an emulator of the conversation service until Ctrl-C or SIGTERM, and prints what a program needs " +
        "to reach it. With a command after -- it runs that instead: waits until the emulator is ready, sets " +
        "the environment (CONVERSATION_BASE_URL and the other settings, CONVERSATION_CONTROL_URL), passes " +
        "signals on, stops with the command and hands on its exit code.\n\n" +
        "Changes nothing elsewhere; messages go to the callbacks that its client applications name.\n" +
        "Exit codes: 0 stopped, 1 could not start, 2 wrong command line, else that of the command " +
        "(127 where there is no such command; 128 and the number of the signal that ended it).\n\n" +
        "JSON: { baseUrl, tokenUrl, authUrl, controlUrl, clientId, clientSecret, " +
        "customerAuthUrl, customerTokenUrl, controlSecret?, certificateFile? } as the first line.",
    )
    .argument("[command...]", "Command to run with the emulator; its own options go after --.")
    .addOption(
      new Option("--port <number>", "Port to listen on; 0 picks a free one, as a command has.")
        .argParser(wholeNumber(0, LAST_PORT))
        .default(4010),
    )
    .addOption(new Option("--host <address>", "Address to listen on.").default("127.0.0.1"))
    .addOption(
      new Option("--plan <plan>", "Plan whose rates are kept.").choices(planNames).default("none"),
    )
    .addOption(
      new Option("--burst <calls>", "Calls that a rate allows in a short spike.").argParser(
        wholeNumber(1, 1_000_000),
      ),
    )
    .addOption(
      new Option(
        "--clock <clock>",
        "Clock of rates, tokens and dates; manual: moved by POST /clock.",
      )
        .choices(["real", "manual"])
        .default("real"),
    )
    .addOption(new Option("--data <file>", "Keep the objects in this file (default: in memory)."))
    .addOption(
      new Option("--switch <name=value>", "Set a switch; may be given several times.")
        .argParser(addSwitch)
        .default({}, "see below"),
    )
    .addOption(
      new Option(
        "--like <file>",
        "Behave like the tenant whose findings probe wrote here: switches, plan and burst.",
      ),
    )
    .addOption(
      new Option(
        "--control-secret [secret]",
        "Let other hosts control the emulator, and ask for this secret; left empty: one is made.",
      ).env("CONVERSATION_CONTROL_SECRET"),
    )
    .option("--openapi", "Print the API as an OpenAPI 3.1 document (JSON) and end.")
    .option("--tls-cert <file>", "Serve https with this certificate (PEM).")
    .option("--tls-key <file>", "Key of the certificate (PEM).")
    .option("--json", "Print one JSON object with addresses and credentials as the first line.")
    .addHelpText("after", switchHelp)
    .action(async (words: readonly string[], given: EmulatorArguments, command: Command) => {
      const isGiven = (name: string): boolean => command.getOptionValueSource(name) !== "default";
      assertCommand(words, given);
      const { likeTenant } = await import("../probe/probe-findings.js");
      const options = likeTenant(given, isGiven("plan"));
      if (options.openapi) {
        const { openApiText } = await import("../openapi-text.js");
        session.out(openApiText(options));
        return;
      }
      // A command learns the port from its environment: several may run at once.
      const port = words.length > 0 && !isGiven("port") ? 0 : options.port;
      const { serveEmulator } = await import("../serve-emulator.js");
      await serveEmulator({ ...options, port }, words, session);
    });
};
