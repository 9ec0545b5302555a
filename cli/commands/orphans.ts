import type { RegisterCommand } from "../command.js";

interface OrphansFlags {
  readonly json?: true;
  readonly delete?: true;
  readonly profile?: string;
  readonly stack?: string;
}

/** `orphans`: what interrupted runs left behind. */
export const registerOrphans: RegisterCommand = (program, session) => {
  program
    .command("orphans")
    .summary("Find what interrupted runs left behind, and delete it on demand.")
    .description(
      "Lists the objects at the service that carry this stack's mark and that its state does not know:\n" +
        "left-overs of interrupted runs, or objects kept on purpose (retainOnDelete, pulumi state delete).\n" +
        "Run it in the folder of the Pulumi project. Changes nothing without --delete.\n" +
        "Exit code 0; 1 where something could not be read or deleted.",
    )
    .option("--delete", "Delete what is found, users before what they use.")
    .option("--profile <name>", "Use the settings of this profile.")
    .option("--stack <name>", "Use this stack (default: the selected one).")
    .option("--json", "Print one JSON array: [{ kind, name, id, label, deleted?, reason? }].")
    .action(async ({ json, ...options }: OrphansFlags) => {
      const { runOrphans } = await import("../orphans/run-orphans.js");
      const { orphansReport } = await import("../orphans/orphans-report.js");
      const found = await runOrphans(options);
      session.out(json ? `${JSON.stringify(found, null, 2)}\n` : orphansReport(found));
      session.exitCode = found.some(({ deleted }) => deleted === false) ? 1 : 0;
    });
};
