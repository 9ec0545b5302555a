import { CommandFailure, command, flagOption, textOption, textsOption } from "../command.js";
import { optionNotHandedOn } from "../rehearse/pulumi-options.js";
import { planOption, stackOption, switchesOption } from "./common-options.js";

const assertPulumiOptions = (args: readonly string[], isAlone: boolean): void => {
  const [first] = args;
  if (first === undefined) return;
  if (isAlone)
    throw new CommandFailure("Options of Pulumi go neither with --check nor with --from-empty.", 2);
  const wrong = optionNotHandedOn(args);
  if (wrong !== undefined)
    throw new CommandFailure(
      `${wrong} is not allowed: it would affect the real stack. --stack and --json are options of this command; settings are those of the stack and of the environment.`,
      2,
    );
  if (!first.startsWith("-"))
    throw new CommandFailure(`Unexpected argument ${first}. Put Pulumi options after --.`, 2);
};

const interrupted = { 130: "interrupted" };

/** `rehearse`: says what a run will do to the account by doing it to a copy. */
export const rehearseCommand = command({
  name: "rehearse",
  summary: "Run the program on a copy of account and state, and say what will happen.",
  description:
    "Reads the account, loads an emulator with it, copies the state of the stack into a\n" +
    "private folder and runs pulumi up of your program there. Says what is done, in which\n" +
    "order and time, what is refused and who is in the way, and what the account is like\n" +
    "afterwards. Changes nothing: the service gets lists only; state and files stay.\n" +
    "The program sees a dry run: what it guards with pulumi.runtime.isDryRun() is not done,\n" +
    "and resource hooks are not called. What it does unguarded, also in apply, it does.\n\n" +
    "With --check nothing is run: it looks whether program, settings, state, account and\n" +
    "record are as they were when --record wrote the file, so that a pipeline runs only\n" +
    "what was rehearsed. With --from-empty the emulator has nothing in it, as after the loss\n" +
    "of the account: how long making everything anew takes on the tenant's plan, what the\n" +
    "program cannot make, and what is in the account but not in the program.",
  details: `
Options after -- go to pulumi up, or to pulumi destroy, such as:
  rehearse -- --target 'urn:pulumi:…' --parallel 16

With --from-empty secrets are not compared; references are, by what they stand for. What is
lost with members is made by the program, but without these as they are.`,
  words: [{ value: "[options...]", doc: "Options of pulumi up, after --." }],
  options: {
    destroy: flagOption("Rehearse pulumi destroy."),
    fromEmpty: flagOption(
      "Make everything anew on an empty copy: how long it takes, and what is lost.",
    ),
    record: textOption("<file>", "Write a change record for --check to this file."),
    check: textOption("<file>", "Say whether this change record still holds; run nothing."),
    plan: planOption,
    stack: stackOption(
      "Rehearse this stack (default: the selected one; with --check that of the record).",
    ),
    also: textsOption(
      "<type>",
      "Run resources of this type, too, such as random:index/randomId:RandomId; may be repeated.",
    ),
    switch: switchesOption(
      "Say how the service behaves where that is not certain, as for emulator; may be repeated.",
    ),
    asScopes: textOption(
      "<scopes>",
      "Scopes of the client that will deploy, such as manage (default: those of the client in use, or all if it may only read).",
    ),
    runEffects: flagOption(
      "Let the program see a real update. Warning: what it guards with isDryRun() is really done, in each run on a copy.",
    ),
    markdown: flagOption("Print a comment for a pull request."),
  },
  excludes: {
    json: ["markdown"],
    check: [
      ...["destroy", "fromEmpty", "record", "plan", "also", "switch", "asScopes", "runEffects"],
      "markdown",
    ],
    fromEmpty: ["destroy", "record", "switch", "markdown"],
  },
  uses: {
    usual: {
      json: async () => (await import("../rehearse/rehearsal-schema.js")).rehearsalSchema,
      exits: {
        0: "it goes through",
        3: "it will be refused",
        4: "it goes through, but not if the service behaves otherwise than is assumed",
        ...interrupted,
      },
    },
    check: {
      json: async () => (await import("../rehearse/rehearsal-schema.js")).checkedRecordSchema,
      exits: {
        0: "it holds",
        2: "wrong command line, or no change record of this stack",
        3: "something has changed since, or the rehearsal did not go through: do not run it",
        ...interrupted,
      },
    },
    fromEmpty: {
      json: async () => (await import("../rehearse/rehearsal-schema.js")).fromEmptySchema,
      exits: {
        0: "the program makes all that is in the account",
        3: "the program cannot make everything anew",
        4: "the account holds more than it makes",
        ...interrupted,
      },
    },
  },
  work: async (given, session, args) => {
    const {
      json: _,
      check,
      fromEmpty,
      markdown,
      record,
      destroy,
      switch: set = {},
      ...rest
    } = given;
    const { withLines } = await import("../terminal/progress.js");
    assertPulumiOptions(args, fromEmpty === true || check !== undefined);
    const { asScopes, stack: name, ...others } = rest;
    const place = name === undefined ? {} : { stack: name };
    return withLines(session, async (reporting) => {
      const means = { ...place, ...reporting };
      if (check !== undefined) {
        const { checkedRecordText, runCheckRecord } = await import("../rehearse/change-record.js");
        const checked = await runCheckRecord({ file: check, ...means });
        return {
          value: checked,
          text: checkedRecordText(checked),
          exitCode: checked.holds ? 0 : 3,
        };
      }
      const { parseScopes } = await import("../rehearse/accounts.js");
      const named = asScopes === undefined ? {} : { asScopes: parseScopes(asScopes) };
      const options = { ...others, ...named, ...means };
      const { fromEmptyReport, rehearsalMarkdown, rehearsalReport } = await import(
        "../rehearse/rehearsal-report.js"
      );
      if (fromEmpty) {
        const { rehearseFromEmpty } = await import("../rehearse/from-empty.js");
        const rebuilt = await rehearseFromEmpty(options);
        const { outcome, lost } = rebuilt;
        return {
          value: rebuilt,
          text: fromEmptyReport(rebuilt),
          exitCode: !outcome.passes ? 3 : lost.length > 0 ? 4 : 0,
        };
      }
      const { rehearse } = await import("../rehearse/rehearse.js");
      const operation = destroy ? "destroy" : "up";
      const rehearsal = await rehearse({ ...options, operation, args, switches: set }, record);
      const { outcome, alternatives } = rehearsal;
      const depends = alternatives.some(({ passes }) => !passes);
      return {
        value: rehearsal,
        text: markdown ? rehearsalMarkdown(rehearsal) : rehearsalReport(rehearsal),
        exitCode: !outcome.passes ? 3 : depends ? 4 : 0,
      };
    });
  },
});
