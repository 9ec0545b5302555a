import { planNames } from "../../emulator/http/rate-limit.js";
import { switchTable } from "../../emulator/service/switches.js";
import { indented, wrapped } from "../../provider/kernel/columns.js";
import {
  CommandFailure,
  choiceOption,
  command,
  flagOption,
  numberOption,
  textOption,
  withDefault,
} from "../command.js";
import { switchesOption } from "./common-options.js";

const LAST_PORT = 65_535;

const allowed = (values: (typeof switchTable)[keyof typeof switchTable]["values"]): string => {
  if ("min" in values) return `${values.min}–${values.max}`;
  return values.length === 0 ? "a word" : values.join(" | ");
};

/** All uncertainties about the service, as the help lists them. */
const switchHelp = [
  "Switches, for what is uncertain about the service:",
  ...Object.entries(switchTable).flatMap(([name, { doc, values, default: fallback }]) => [
    ...indented(`${name}=${allowed(values)} (default: ${fallback})`, 2),
    ...wrapped(doc, 74).map((line) => `      ${line}`),
  ]),
].join("\n");

/** `emulator`: runs the service on this machine until it is interrupted. */
export const emulatorCommand = command({
  name: "emulator",
  summary: "Run the service on this machine.",
  description:
    "Runs an emulator of the conversation service until Ctrl-C or SIGTERM, and prints what a program needs " +
    "to reach it. With a command after -- it runs that instead: waits until the emulator is ready, sets " +
    "the environment (CONVERSATION_BASE_URL and the other settings, CONVERSATION_CONTROL_URL), passes " +
    "signals on, stops with the command and hands on its exit code.\n\n" +
    "Changes nothing elsewhere; messages go to the callbacks that its client applications name.",
  details: switchHelp,
  words: [
    {
      value: "[command...]",
      doc: "Command to run with the emulator; its own options go after --.",
    },
  ],
  options: {
    port: numberOption(
      "<number>",
      "Port to listen on; 0 picks a free one, as a command has (default: 4010).",
      0,
      LAST_PORT,
    ),
    host: withDefault(textOption("<address>", "Address to listen on."), "127.0.0.1"),
    plan: choiceOption("<plan>", planNames, "Plan whose rates are kept (default: none)."),
    burst: numberOption("<calls>", "Calls that a rate allows in a short burst.", 1, 1_000_000),
    clock: withDefault(
      choiceOption(
        "<clock>",
        ["real", "manual"],
        "Clock of rates, tokens and dates; manual: moved by POST /clock.",
      ),
      "real",
    ),
    data: textOption("<file>", "Keep the objects in this file (default: in memory)."),
    switch: switchesOption("Set a switch; may be given several times (default: see below)."),
    like: textOption(
      "<file>",
      "Behave like the tenant whose findings probe wrote here: switches, plan and burst.",
    ),
    controlSecret: {
      ...textOption(
        "[secret]",
        "Let other hosts control the emulator, and ask for this secret; left empty: one is made.",
      ),
      environment: "CONVERSATION_CONTROL_SECRET",
    },
    openapi: flagOption("Print the API as an OpenAPI 3.1 document (JSON) and end."),
    tlsCert: textOption("<file>", "Serve https with this certificate (PEM)."),
    tlsKey: textOption("<file>", "Key of the certificate (PEM)."),
  },
  jsonDoc: "Print one JSON object with addresses and credentials as the first line.",
  uses: {
    usual: {
      json: async () => (await import("../emulator-schema.js")).emulatorLineSchema,
      exits: {
        0: "stopped",
        1: "could not start",
        else: "that of the command (127: there is no such command; 128 and the number of the signal that ended it)",
      },
    },
  },
  work: async (given, session, words) => {
    if (words[0] === "") throw new CommandFailure("The command after -- has an empty name.", 2);
    const other = (["json", "openapi"] as const).find((name) => given[name]);
    if (words.length > 0 && other)
      throw new CommandFailure(`--${other} goes with no command: the output is the command's.`, 2);
    const { likeTenant } = await import("../probe/probe-findings.js");
    const options = likeTenant(given);
    // A command gets the port from its environment, so several can run at once.
    const { port = words.length > 0 ? 0 : 4010, plan = "none" } = options;
    const started = { ...options, port, plan, switch: options.switch ?? {} };
    const { openApiText, serveEmulator } = await import("../serve-emulator.js");
    if (options.openapi) session.out(openApiText(started));
    else await serveEmulator(started, words, session);
    return undefined;
  },
});
