import { InvalidArgumentError, Option } from "commander";
import type { RegisterCommand } from "../command.js";
import type { ProbeOptions } from "../probe/run-probe.js";

const atLeastOne = (text: string): number => {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new InvalidArgumentError("Allowed is a whole number of at least 1.");
};

const details = `
JSON: { version, probedAt, baseUrl, calls, switches, settings, observed, open }
JSON of --clean: { removed }

Exit code: 0 it ended, whatever stays open; 1 failed, or left something behind;
2 nobody agreed, or wrong command line; 130 interrupted.`;

/** `probe`: finds out, on a tenant, what the specification leaves open. */
export const registerProbe: RegisterCommand = (program, session) => {
  program
    .command("probe")
    .summary("Find out on a tenant what the specification leaves open.")
    .description(
      "Finds out, on the tenant of the settings, what the specification leaves open:\n" +
        "what PUT does to what it leaves out, how secrets come back, which status\n" +
        "refuses, how lists come, plan and burst. Tells the number of calls, and asks.\n" +
        "Makes objects of its own, named pulumi-conversation-probe-…, and removes them\n" +
        "again; what a probe that was killed has begun is removed by the next one, and\n" +
        "by --clean, which does nothing else and asks nothing.\n" +
        "Touches no other object. Writes a file that the setting findings, rehearse and\n" +
        "emulator --like read.",
    )
    .option("--out <file>", "The file to write.", "conversation-findings.json")
    .option("--yes", "Agree to the calls that are told.")
    .option("--clean", "Only remove what a probe that was killed has left.")
    .addOption(
      new Option("--max-calls <calls>", "Ask only as much as so many calls allow.").argParser(
        atLeastOne,
      ),
    )
    .option("--no-burst", "Use up the rate of no endpoint; plan and burst stay open.")
    .option("--assets", "Ask for the life of a signed address, too; see the documentation.")
    .option("--profile <name>", "Use the settings of this profile.")
    .option("--stack <name>", "Read the configuration of this stack (default: the selected one).")
    .option("--json", "Print what is written; its shape is below.")
    .addHelpText("after", details)
    .action(async (options: ProbeOptions) => {
      const { runProbe } = await import("../probe/run-probe.js");
      await runProbe(options, session);
    });
};
