import { InvalidArgumentError, Option } from "commander";
import { parseSwitch, type Switches } from "../../emulator/service/switches.js";
import { type Plan, plans } from "../../provider/service/setting-table.js";
import { CommandFailure, messageOf, type RegisterCommand } from "../command.js";
import { optionNotHandedOn } from "../rehearse/run-options.js";
import { scopesNamed, scopesOption } from "./scopes-option.js";

interface RehearseFlags {
  readonly destroy?: true;
  readonly stack?: string;
  readonly plan?: Plan;
  readonly also?: readonly string[];
  readonly switch?: Partial<Switches>;
  readonly asScopes?: string;
  readonly runEffects?: true;
  readonly record?: string;
  readonly json?: true;
  readonly markdown?: true;
}

const addSwitch = (text: string, before: Partial<Switches> = {}): Partial<Switches> => {
  const [name = "", ...value] = text.split("=");
  try {
    return { ...before, ...parseSwitch(name, value.join("=")) };
  } catch (error) {
    throw new InvalidArgumentError(messageOf(error));
  }
};

const gather = (text: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  text,
];

const assertOptions = (args: readonly string[]): void => {
  const wrong = optionNotHandedOn(args);
  if (wrong !== undefined)
    throw new CommandFailure(
      `${wrong} cannot be handed on: it would lead the run away from the copy. --stack and --json are options of this command; settings are those of the stack and of the environment.`,
      2,
    );
  const stray = args[0];
  if (stray !== undefined && !stray.startsWith("-"))
    throw new CommandFailure(`There is no argument ${stray}. Options of Pulumi stand after --`, 2);
};

const details = `
Options after -- go to pulumi up, or to pulumi destroy, such as:
  rehearse -- --target 'urn:pulumi:…' --parallel 16

JSON: { operation, project, stack, plan, parallel,
  outcome: { passes, totalSeconds, totalCalls,
    calls: [{ method, template, id?, profile?, status, seconds }],
    steps: [{ urn, kind, name, operation, calls, fromSeconds, toSeconds }],
    refusals: [{ urn?, kind?, name?, operation, reason, order: [text], later?,
      inTheWay: [{ kind, name, id?, profile?, stack? }] }],
    changes: [{ change, kind, name, id?, profile?, members? }],
    undeclared: [{ kind, name, id, profile? }], leftOut: [urn], objects, settled? },
  otherReadings: [{ switches, passes, differences: [text] }],
  sameEitherWay: [switch], notes: [text] }

Exit code: 0 it goes through; 1 failed; 2 wrong command line; 3 it will be refused;
4 it goes through, but not if the service behaves otherwise than is assumed.`;

/** `rehearse`: says what a run will do to the account, by doing it to a copy. */
export const registerRehearse: RegisterCommand = (program, session) => {
  program
    .command("rehearse")
    .summary("Run the program on a copy of account and state, and say what will happen.")
    .description(
      "Reads the account, loads an emulator with it, copies the state of the stack into a\n" +
        "private folder and runs pulumi up of your program there. Says what is done, in which\n" +
        "order and time, what is refused and who is in the way, and what the account is like\n" +
        "afterwards. Changes nothing: the service gets lists only; state and files stay.\n" +
        "The program sees a dry run: what it guards with pulumi.runtime.isDryRun() is not done,\n" +
        "and resource hooks are not called. What it does unguarded, also in apply, it does.",
    )
    .argument("[options...]", "Options of pulumi up, after --.")
    .option("--destroy", "Rehearse pulumi destroy.")
    .addOption(
      new Option(
        "--plan <plan>",
        "Plan of the tenant (default: CONVERSATION_PLAN, else conversation:plan).",
      ).choices(plans),
    )
    .option("--stack <name>", "Rehearse this stack (default: the selected one).")
    .option(
      "--also <type>",
      "Run resources of this type, too, such as random:index/randomId:RandomId; may be repeated.",
      gather,
    )
    .addOption(
      new Option(
        "--switch <name=value>",
        "Say how the service behaves where that is not certain, as of emulator; may be repeated.",
      ).argParser(addSwitch),
    )
    .addOption(scopesOption())
    .option(
      "--run-effects",
      "Let the program see a real update. Warning: what it guards with isDryRun() is really done, in each run on a copy.",
    )
    .option("--record <file>", "Write a change record for check-record to this file.")
    .option("--json", "Print one JSON object; its shape is below.")
    .option("--markdown", "Print a comment for a pull request.")
    .addHelpText("after", details)
    .action(async (args: readonly string[], flags: RehearseFlags) => {
      assertOptions(args);
      if (flags.json && flags.markdown)
        throw new CommandFailure("Give either --json or --markdown, not both.", 2);
      const { rehearseAndPrint } = await import("../rehearse/rehearse-and-print.js");
      const { switch: switches = {}, destroy, asScopes, ...rest } = flags;
      const operation = destroy ? "destroy" : "up";
      const client = await scopesNamed(asScopes);
      await rehearseAndPrint({ ...rest, ...client, operation, args, switches }, session);
    });
};
