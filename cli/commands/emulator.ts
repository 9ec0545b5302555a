import { planNames } from "../../emulator/service/access.js";
import { type Switch, switchTable } from "../../emulator/service/switches.js";
import { ownCommand } from "../../provider/kernel/package.js";
import {
  CommandFailure,
  choiceOption,
  command,
  numberOption,
  textOption,
  withDefault,
} from "../command.js";
import { indented, wrapped } from "../terminal/columns.js";
import { switchesOption } from "./common-options.js";

const LAST_PORT = 65_535;

const allowed = ({ values }: Switch): string => {
  if (values === "word") return "a word";
  return "min" in values ? `${values.min}–${values.max}` : values.join(" | ");
};

const switchHelp = [
  "Switches for uncertain service behavior:",
  ...Object.entries(switchTable).flatMap(([name, each]) => [
    ...indented(`${name}=${allowed(each)} (default: ${each.default})`, 2),
    ...wrapped(each.doc, 74).map((line) => `      ${line}`),
  ]),
].join("\n");

export const emulatorCommand = command({
  name: "emulator",
  summary: "Run an emulator of the service on this machine.",
  description:
    "Run an emulator of the conversation service until Ctrl-C or SIGTERM, and print what a\n" +
    "program needs to reach it. If a command follows --, the emulator runs it with\n" +
    "CONVERSATION_BASE_URL, the other settings, and CONVERSATION_CONTROL_URL in its\n" +
    "environment. It passes signals on to the command, stops when the command stops, and\n" +
    "returns the command's exit code.\n\n" +
    "The emulator changes nothing elsewhere, but it sends messages to the callbacks of its\n" +
    "client applications.",
  details: switchHelp,
  words: [
    {
      value: "[command...]",
      doc: "The command to run with the emulator, after --.",
    },
  ],
  options: {
    port: numberOption(
      "<number>",
      "The port to listen on; 0 picks a free one (default: 4010, or 0 with a command).",
      0,
      LAST_PORT,
    ),
    host: withDefault(textOption("<address>", "The address to listen on."), "127.0.0.1"),
    plan: choiceOption("<plan>", planNames, "The plan whose rates apply (default: none)."),
    burst: numberOption(
      "<calls>",
      "The number of calls that every endpoint accepts in a burst (default: as documented for the plan).",
      1,
      1_000_000,
    ),
    clock: withDefault(
      choiceOption(
        "<clock>",
        ["real", "manual"],
        "The clock for rates, tokens, and dates; POST /clock advances a manual clock.",
      ),
      "real",
    ),
    data: textOption("<file>", "Keep all data in this file (default: in memory)."),
    switch: switchesOption("Set a switch (repeatable; defaults: see below)."),
    controlSecret: {
      ...textOption(
        "[secret]",
        "Require this secret to control the emulator, and allow it from other hosts; without a value, the emulator generates one.",
      ),
      environment: "CONVERSATION_CONTROL_SECRET",
    },
  },
  jsonDoc: "As the first line, print one JSON object with URLs and credentials.",
  json: async () => (await import("../emulator-schema.js")).emulatorLineSchema,
  exits: {
    0: "stopped",
    1: "could not start",
    else: "the command's exit code (126: not executable; 127: not found; 128 plus the number of the signal that ended the command)",
  },
  work: async (given, session, words) => {
    if (words[0] === "") throw new CommandFailure("The command after -- is empty.", 2);
    if (words[0]?.startsWith("-")) {
      const data = given.data === undefined ? "" : ` --data ${given.data}`;
      throw new CommandFailure(
        `${words[0]} is not a command. Put emulator options before the --. Run: ${ownCommand(`emulator${data} ${words[0]} …`)}`,
        2,
      );
    }
    if (words.length > 0 && given.json)
      throw new CommandFailure("You cannot combine --json with a command.", 2);
    // A command gets the port from its environment, so several can run at once.
    const { port = words.length > 0 ? 0 : 4010, plan = "none" } = given;
    const started = { ...given, port, plan, switch: given.switch ?? {} };
    const { serveEmulator } = await import("../serve-emulator.js");
    await serveEmulator(started, words, session);
    return undefined;
  },
});
