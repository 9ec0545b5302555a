import { command } from "../command.js";
import { profileOption, stackOption } from "./common-options.js";

export const doctorCommand = command({
  name: "doctor",
  summary: "Check Node.js, Pulumi, settings, token, scopes, and clock.",
  description:
    "Check everything that a run needs, and show how to fix problems. The command changes\n" +
    "nothing, shows no secrets, and makes only a few read-only calls to the service.",
  options: {
    profile: profileOption("Check this profile's settings."),
    stack: stackOption("Read this stack's configuration (default: the selected one)."),
  },
  json: async () => (await import("../doctor/diagnose.js")).diagnosisSchema,
  exits: { 0: "no check failed", 1: "a check failed", 130: "interrupted" },
  work: async (options, { coloured }) => {
    const { diagnose, doctorReport } = await import("../doctor/diagnose.js");
    const { untilSignal } = await import("../interruption.js");
    const { unlessAborted } = await import("../../provider/kernel/clock.js");
    const diagnosis = await untilSignal((signal) => unlessAborted(signal, diagnose(options)));
    return {
      value: diagnosis,
      text: doctorReport(diagnosis, coloured),
      exitCode: diagnosis.ok ? 0 : 1,
    };
  },
});
