import {
  command,
  flagOption,
  negatedOption,
  numberOption,
  textOption,
  withDefault,
} from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

/** `probe`: finds out, on a tenant, what the specification leaves open. */
export const probeCommand = command({
  name: "probe",
  summary: "Find out on a tenant what the specification leaves open.",
  description:
    "Finds out, on the tenant of the settings, what the specification leaves open:\n" +
    "what PUT does to what it leaves out, how secrets come back, which status\n" +
    "refuses, how lists come, plan and burst. Says how many calls it makes, and asks.\n" +
    "Makes objects of its own, named pulumi-conversation-probe-…, and removes them\n" +
    "again; what a probe that was killed has begun is removed by the next one, and\n" +
    "by --clean, which does nothing else and asks nothing.\n" +
    "Touches no other object. Writes a file that the setting findings, rehearse and\n" +
    "emulator --like read.",
  options: {
    out: withDefault(textOption("<file>", "The file to write."), "conversation-findings.json"),
    yes: flagOption("Agree to the calls."),
    clean: flagOption("Only remove what a probe that was killed has left."),
    maxCalls: numberOption("<calls>", "Ask only as much as so many calls allow.", 1, 999_999),
    burst: negatedOption("Use up the rate of no endpoint; plan and burst stay open."),
    assets: flagOption("Ask for the life of a signed address, too; see the documentation."),
    profile: profileOption(),
    stack: stackOption("Read the configuration of this stack (default: the selected one)."),
  },
  jsonDoc: "Print what is written; its shape is below.",
  uses: {
    usual: {
      json: async () => (await import("../probe/probe-findings.js")).findingsSchema,
      exits: {
        0: "it ended, whatever stays open",
        1: "failed, or left something behind",
        2: "nobody agreed, or wrong command line",
        130: "interrupted",
      },
    },
    clean: {
      json: async () => (await import("../probe/probe-findings.js")).cleanedSchema,
      exits: { 0: "nothing is left", 1: "failed, or something is left", 130: "interrupted" },
    },
  },
  work: async ({ json: _, ...options }, session) => {
    const { runProbe } = await import("../probe/run-probe.js");
    return runProbe(options, session);
  },
});
