import { CommandFailure, command, flagOption, textOption, textsOption } from "../command.js";
import { optionNotHandedOn } from "../rehearse/pulumi-options.js";
import { planOption, stackOption, switchesOption } from "./common-options.js";

const assertPulumiOptions = (args: readonly string[]): void => {
  const [first] = args;
  if (first === undefined) return;
  const wrong = optionNotHandedOn(args);
  if (wrong !== undefined)
    throw new CommandFailure(
      `${wrong} is not allowed: it would affect the real stack. Put --stack and --json before --; settings come from the stack and the environment.`,
      2,
    );
  if (!first.startsWith("-"))
    throw new CommandFailure(`Unexpected argument ${first}. Put Pulumi options after --.`, 2);
};

/** `rehearse`: says what a run will do to the account by doing it to a copy. */
export const rehearseCommand = command({
  name: "rehearse",
  summary: "Run the program on a copy of the account and the state, and report what happens.",
  description:
    "Read the account, load it into an emulator, copy the stack's state into a private\n" +
    "folder, and run pulumi up for your program there. The report shows what happens, any\n" +
    "refusals and the objects that cause them, and a forecast of the time. The command changes\n" +
    "nothing: it only reads lists from the service, and leaves the state and your files as\n" +
    "they are. Your program runs twice, first in a preview, then in an update: code that it\n" +
    "guards with pulumi.runtime.isDryRun() runs in the update, and so do its resource hooks. To\n" +
    "skip such code, let the program check the variable PULUMI_CONVERSATION_REHEARSAL.",
  words: [{ value: "[options...]", doc: "Options of pulumi up or pulumi destroy, after --." }],
  options: {
    destroy: flagOption("Rehearse pulumi destroy."),
    plan: planOption,
    stack: stackOption("Rehearse this stack (default: the selected one)."),
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
    markdown: flagOption("Print a comment for a pull request."),
  },
  excludes: { json: ["markdown"] },
  uses: {
    usual: {
      json: async () => (await import("../rehearse/rehearsal-schema.js")).rehearsalSchema,
      exits: {
        0: "the run succeeds",
        3: "the service refuses the run",
        130: "interrupted",
      },
    },
  },
  work: async (given, session, args) => {
    const { json: _, markdown, destroy, asScopes, switch: switches = {}, ...others } = given;
    const { withLines } = await import("../terminal/progress.js");
    assertPulumiOptions(args);
    return withLines(session, async (reporting) => {
      const { parseScopes } = await import("../rehearse/accounts.js");
      const { rehearse } = await import("../rehearse/rehearse.js");
      const { rehearsalMarkdown, rehearsalReport } = await import(
        "../rehearse/rehearsal-report.js"
      );
      const rehearsal = await rehearse({
        ...others,
        ...reporting,
        ...(asScopes === undefined ? {} : { asScopes: parseScopes(asScopes) }),
        operation: destroy ? "destroy" : "up",
        args,
        switches,
      });
      return {
        value: rehearsal,
        text: markdown ? rehearsalMarkdown(rehearsal) : rehearsalReport(rehearsal),
        exitCode: rehearsal.outcome.passes ? 0 : 3,
      };
    });
  },
});
