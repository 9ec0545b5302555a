import { CommandFailure, command, flagOption, textOption, textsOption } from "../command.js";
import { optionNotHandedOn } from "../rehearse/pulumi-options.js";
import { planOption, stackOption, switchesOption } from "./common-options.js";

const assertPulumiOptions = (args: readonly string[], isAlone: boolean): void => {
  const [first] = args;
  if (first === undefined) return;
  if (isAlone)
    throw new CommandFailure("You cannot combine Pulumi options with --check or --from-empty.", 2);
  const wrong = optionNotHandedOn(args);
  if (wrong !== undefined)
    throw new CommandFailure(
      `${wrong} is not allowed: it would affect the real stack. Put --stack and --json before --; settings come from the stack and the environment.`,
      2,
    );
  if (!first.startsWith("-"))
    throw new CommandFailure(`Unexpected argument ${first}. Put Pulumi options after --.`, 2);
};

const interrupted = { 130: "interrupted" };

/** `rehearse`: says what a run will do to the account by doing it to a copy. */
export const rehearseCommand = command({
  name: "rehearse",
  summary: "Run the program on a copy of the account and the state, and report what happens.",
  description:
    "Read the account, load it into an emulator, copy the stack's state into a private\n" +
    "folder, and run pulumi up for your program there. The report shows the steps and their\n" +
    "times, any refusals and the objects that cause them, and the resulting account. The command\n" +
    "changes nothing: it only reads lists from the service, and leaves the state and your\n" +
    "files as they are. Your program sees a dry run: code that it guards with\n" +
    "pulumi.runtime.isDryRun() does not run, and Pulumi does not call resource hooks.\n" +
    "Unguarded code runs, including code in apply.\n\n" +
    "With --check, the command runs nothing. It checks whether the program, settings, state,\n" +
    "account, and record are as they were when --record wrote the file, so that a pipeline runs\n" +
    "only what you rehearsed. With --from-empty, the emulator starts empty, as if the account\n" +
    "were lost. The report shows how long it takes to create everything again on the\n" +
    "tenant's plan, what the program cannot create, and what exists only in the account.",
  details: `
Options after -- go to pulumi up or to pulumi destroy, for example:
  rehearse -- --target 'urn:pulumi:…' --parallel 16

With --from-empty, the command does not compare secrets, and compares references by what
they refer to. If a lost object is listed with members, the program creates the object, but
those members differ.`,
  words: [{ value: "[options...]", doc: "Pulumi options, after --." }],
  options: {
    destroy: flagOption("Rehearse pulumi destroy."),
    fromEmpty: flagOption(
      "Create everything again on an empty copy; report how long it takes and what is lost.",
    ),
    record: textOption("<file>", "Write a change record for --check to this file."),
    check: textOption("<file>", "Check whether this change record is still valid; run nothing."),
    plan: planOption,
    stack: stackOption(
      "Rehearse this stack (default: the selected one; with --check, the one in the record).",
    ),
    also: textsOption(
      "<type>",
      "Also run resources of this type, such as random:index/randomId:RandomId (repeatable).",
    ),
    switch: switchesOption(
      "Set a switch for uncertain service behavior (see emulator --help; repeatable).",
    ),
    asScopes: textOption(
      "<scopes>",
      "The deploying client's scopes, such as manage (default: the current client's scopes, or all scopes if these lack manage).",
    ),
    runEffects: flagOption(
      "Let the program see a real update. Warning: code that it guards with isDryRun() then takes effect in every run on a copy.",
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
        0: "the run succeeds",
        3: "the service refuses the run",
        4: "the run succeeds only if the service behaves as assumed",
        ...interrupted,
      },
    },
    check: {
      json: async () => (await import("../rehearse/rehearsal-schema.js")).checkedRecordSchema,
      exits: {
        0: "the record is valid",
        2: "invalid command line, or not a change record for this stack",
        3: "something has changed since the rehearsal, or the rehearsal failed: do not run the change",
        ...interrupted,
      },
    },
    fromEmpty: {
      json: async () => (await import("../rehearse/rehearsal-schema.js")).fromEmptySchema,
      exits: {
        0: "the program creates everything that is in the account",
        3: "the program cannot create everything again",
        4: "the account contains more than the program creates",
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
