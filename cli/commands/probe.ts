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
  summary: "Test a tenant to find out what the specification does not define.",
  description:
    "Test the tenant in the settings to find out what the specification does not define.\n" +
    "Examples are what PUT does to omitted members, how the service returns secrets, which\n" +
    "status indicates a refusal, how lists work, and what the plan and burst are. The command\n" +
    "shows how many calls it will make, and asks before it starts. It creates its own objects,\n" +
    "named pulumi-conversation-probe-…, and then removes them. If a probe is killed, the next\n" +
    "one removes what is left; --clean does only that, without asking. The command changes no\n" +
    "other objects. It writes its findings to a file for the findings setting, rehearse, and\n" +
    "emulator --like.",
  options: {
    out: withDefault(textOption("<file>", "The file to write."), "conversation-findings.json"),
    yes: flagOption("Make the calls without asking."),
    clean: flagOption("Only remove what a killed probe left behind."),
    maxCalls: numberOption("<calls>", "Make at most this many calls.", 1, 999_999),
    burst: negatedOption("Do not use up any endpoint's rate; the plan and burst stay unknown."),
    assets: flagOption("Also find out how long a signed URL lasts; see the documentation."),
    profile: profileOption(),
    stack: stackOption("Read this stack's configuration (default: the selected one)."),
  },
  jsonDoc: "Print the file's content in the format shown below.",
  uses: {
    usual: {
      json: async () => (await import("../probe/probe-findings.js")).findingsSchema,
      exits: {
        0: "finished, even if questions remain open",
        1: "failed, or left something behind",
        2: "not confirmed, or invalid command line",
        130: "interrupted",
      },
    },
    clean: {
      json: async () => (await import("../probe/probe-findings.js")).cleanedSchema,
      exits: { 0: "nothing is left", 1: "failed, or left something behind", 130: "interrupted" },
    },
  },
  work: async ({ json: _, ...options }, session) => {
    const { runProbe } = await import("../probe/run-probe.js");
    return runProbe(options, session);
  },
});
