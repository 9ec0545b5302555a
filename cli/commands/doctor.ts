import type { RegisterCommand } from "../command.js";
import type { DiagnoseOptions } from "../doctor/diagnose.js";

interface DoctorFlags extends DiagnoseOptions {
  readonly json?: true;
}

const details = `
JSON: { ok, checks: [{ name, status, message, advice }] }

Exit code: 0 nothing failed; 1 something did; 2 wrong command line.`;

/** `doctor`: looks at everything that a run needs and says what to do. */
export const registerDoctor: RegisterCommand = (program, session) => {
  program
    .command("doctor")
    .summary("Check Node, Pulumi, settings, token, scopes and clock.")
    .description(
      "Checks everything that a run needs and says what to do about what is wrong.\n" +
        "Changes nothing, shows no secret, and makes a few calls to the service that only read.",
    )
    .option("--profile <name>", "Look at the settings of this profile.")
    .option("--stack <name>", "Read the configuration of this stack (default: the selected one).")
    .option("--json", "Print one JSON object; its shape is below.")
    .addHelpText("after", details)
    .action(async ({ json, ...options }: DoctorFlags) => {
      const { diagnose, doctorReport } = await import("../doctor/diagnose.js");
      const diagnosis = await diagnose(options);
      session.out(
        json
          ? `${JSON.stringify(diagnosis, null, 2)}\n`
          : doctorReport(diagnosis, session.coloured),
      );
      session.exitCode = diagnosis.ok ? 0 : 1;
    });
};
