import { type Command, InvalidArgumentError, Option } from "commander";
import { switchTable } from "../../emulator/control/switch-table.js";
import { parseSwitch, type Switches } from "../../emulator/control/switches.js";
import { planNames } from "../../emulator/http/rate-limit.js";
import { messageOf, type RegisterCommand } from "../command.js";
import type { EmulatorArguments } from "../serve-emulator.js";

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
  const lines = Object.entries(switchTable).map(
    ([name, { doc, values, default: fallback }]) =>
      `  ${name}=${allowed(values)}  (default: ${fallback})\n      ${doc}`,
  );
  return ["", "Switches, for what is uncertain about the service:", ...lines].join("\n");
};

/** `emulator`: runs the service on this machine until it is interrupted. */
export const registerEmulator: RegisterCommand = (program, session) => {
  program
    .command("emulator")
    .summary("Run the service on this machine.")
    .description(
      "Runs an emulator of the conversation service until Ctrl-C or SIGTERM.\n" +
        "Prints what a program needs to reach it.",
    )
    .addOption(
      new Option("--port <number>", "Port to listen on; 0 picks a free one.")
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
      ),
    )
    .option("--json", "Print one JSON object with addresses and credentials as the first line.")
    .addHelpText("after", switchHelp)
    .action(async (options: EmulatorArguments, command: Command) => {
      const { likeTenant } = await import("../probe/like-tenant.js");
      const isPlanGiven = command.getOptionValueSource("plan") !== "default";
      const { serveEmulator } = await import("../serve-emulator.js");
      await serveEmulator(likeTenant(options, isPlanGiven), session);
    });
};
