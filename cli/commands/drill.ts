import { Option } from "commander";
import { type Plan, plans } from "../../provider/service/setting-table.js";
import type { RegisterCommand } from "../command.js";
import { scopesNamed, scopesOption } from "./scopes-option.js";

interface DrillFlags {
  readonly stack?: string;
  readonly plan?: Plan;
  readonly also?: readonly string[];
  readonly asScopes?: string;
  readonly runEffects?: true;
  readonly json?: true;
}

const gather = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  text,
];

const details = `
Secrets are not compared; references are, by what they stand for.

JSON: { project, stack, plan, parallel, liveObjects,
  outcome: { passes, totalSeconds, totalCalls, objects, settled?,
    steps: [{ urn, kind, name, operation, calls, fromSeconds, toSeconds }],
    refusals: [{ urn?, kind?, name?, operation, reason, inTheWay, order,
      later? }],
    leftOut: [urn] },
  lost: [{ kind, name, id, profile?, stack?, members? }], notes: [text] }
  lost with members: the program makes the object, but without these as they are.

Exit code: 0 the program makes all that is in the account; 1 failed; 2 wrong command
line; 3 the program cannot make everything anew; 4 the account holds more than it makes.`;

/** `drill`: says what making the account anew would take, and what would be lost. */
export const registerDrill: RegisterCommand = (program, session) => {
  program
    .command("drill")
    .summary("Make everything anew on an empty copy: how long it takes, and what is lost.")
    .description(
      "Runs the program on an emulator with nothing in it, as after the loss of the account,\n" +
        "and compares with the account: how long it takes on the tenant's plan, what the program\n" +
        "cannot make, and what is in the account but not in the program.\n" +
        "Changes nothing: the service gets lists only; state and files stay. The program sees\n" +
        "a dry run: what it guards with pulumi.runtime.isDryRun() is not done.",
    )
    .option("--stack <name>", "Use the program of this stack (default: the selected one).")
    .addOption(
      new Option(
        "--plan <plan>",
        "Plan of the tenant (default: CONVERSATION_PLAN, else conversation:plan).",
      ).choices(plans),
    )
    .option(
      "--also <type>",
      "Run resources of this type, too, such as random:index/randomId:RandomId; may be repeated.",
      gather,
    )
    .addOption(scopesOption())
    .option(
      "--run-effects",
      "Let the program see a real update. Warning: what it guards with isDryRun() is really done.",
    )
    .option("--json", "Print one JSON object; its shape is below.")
    .addHelpText("after", details)
    .action(async ({ json, asScopes, ...flags }: DrillFlags) => {
      const { runDrill } = await import("../drill/run-drill.js");
      const { drillReport } = await import("../drill/drill-report.js");
      const { untilSignal } = await import("../process/until-signal.js");
      const say = (text: string): void => session.err(`${text}\n`);
      const client = await scopesNamed(asScopes);
      const drill = await untilSignal((signal) => runDrill({ ...flags, ...client, say, signal }));
      session.out(json ? `${JSON.stringify(drill, null, 2)}\n` : drillReport(drill));
      session.exitCode = !drill.outcome.passes ? 3 : drill.lost.length > 0 ? 4 : 0;
    });
};
