import { basename } from "node:path";
import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { type SettingKey, settingTable } from "../../provider/service/setting-table.js";
import { commercialScope, isCommercial } from "../../provider/service/settings.js";
import { CommandFailure, optionName } from "../command.js";
import { wrappedText } from "../terminal/columns.js";
import { type Pipeline, pipelines } from "./template-project.js";

/** Puts one question to the person at the terminal. */
export type Ask = (question: Question) => Promise<string>;

export interface Question {
  readonly text: string;
  /** Taken if the answer is empty. */
  readonly proposal?: string;
  /** Typed characters are not shown. */
  readonly secret?: true;
  /** What is wrong with an answer, in words; the question is then asked again. */
  readonly problem?: (answer: string) => string | undefined;
}

/** Output that the person sees. */
interface Shown {
  write(text: string | Uint8Array): unknown;
}

/** Where a person is asked, and what ends the asking. */
interface Terminal {
  readonly input: NodeJS.ReadableStream;
  readonly shown: Shown;
  readonly signal: AbortSignal | undefined;
}

const asked = async (
  text: string,
  secret: boolean,
  { input, shown, signal }: Terminal,
): Promise<string> => {
  let isMuted = false;
  const output = new Writable({
    write: (chunk: Buffer, _, done) => {
      if (!isMuted) shown.write(chunk);
      done();
    },
  });
  const lines = createInterface({ input, output, terminal: true });
  const stopped = Promise.withResolvers<never>();
  const stop = () => stopped.reject(new CommandFailure("Interrupted. Nothing was created.", 130));
  lines.once("SIGINT", stop);
  lines.once("close", stop);
  try {
    const answer = lines.question(text, signal ? { signal } : {});
    isMuted = secret;
    return (await Promise.race([answer, stopped.promise])).trim();
  } finally {
    isMuted = false;
    if (secret) shown.write("\n");
    // Only this listener: the others make the interface release the keys, which it would go on
    // showing.
    lines.off("close", stop);
    lines.close();
  }
};

/**
 * Asks a person until the answer is good. Default: at the terminal.
 *
 * @throws CommandFailure with exit code 130 if the person stops; AbortError once the signal is
 * aborted
 */
export const askPerson =
  (
    input: NodeJS.ReadableStream = process.stdin,
    shown: Shown = process.stderr,
    signal?: AbortSignal,
  ): Ask =>
  async ({ text, proposal, secret, problem }) => {
    const question = `${text}${proposal ? ` (${proposal})` : ""}: `;
    for (;;) {
      const given = await asked(question, secret === true, { input, shown, signal });
      const answer = given || (proposal ?? "");
      const wrong = problem?.(answer);
      if (!wrong) return answer;
      shown.write(`${wrappedText(wrong, "  ").join("\n")}\n`);
    }
  };

/** Settings of the service that are asked for, in this order; the others have good defaults. */
const askedSettings = ["baseUrl", "tokenUrl", "clientId", "scope", "plan"] as const;

type AskedSetting = (typeof askedSettings)[number];

/** What the command line gives. */
export type InitFlags = Partial<Readonly<Record<AskedSetting, string>>> & {
  readonly name?: string;
  readonly description?: string;
  readonly stack?: string;
  readonly pipeline?: Pipeline;
  /** The service is an emulator, so nothing is asked about it. */
  readonly emulator?: true;
};

/** Everything that is known about a new project before it is made. */
export interface InitAnswers {
  readonly name: string;
  readonly description: string;
  readonly stack: string;
  readonly pipeline: Pipeline;
  /** Empty if an emulator is used, or if they come later. */
  readonly settings: Partial<Readonly<Record<AskedSetting, string>>>;
  /** Empty if it comes later. */
  readonly clientSecret: string;
}

/** Pulumi's rule for names of projects and stacks. */
const nameProblem = (name: string): string | undefined =>
  /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/.test(name)
    ? undefined
    : `${JSON.stringify(name)} is not a valid name. Use at most 100 letters, digits, "_", "-", and ".", and begin with a letter or digit.`;

const settingProblem =
  (key: SettingKey) =>
  (text: string): string | undefined => {
    const parsed = settingTable[key].parse(text);
    if (!("rule" in parsed)) return undefined;
    // Rules about words already say what was given.
    const rule = parsed.rule.replace(`, not ${JSON.stringify(text)}`, "");
    return `${JSON.stringify(text)} ${rule}.`;
  };

/** If left empty, it can be set later. */
const laterOr =
  (problem: (text: string) => string | undefined) =>
  (text: string): string | undefined =>
    text === "" ? undefined : problem(text);

const oneOfPipelines = (text: string): string | undefined =>
  pipelines.some((one) => one === text)
    ? undefined
    : `Enter one of these: ${pipelines.join(", ")}.`;

/** A project name derived from the folder's. */
const nameFor = (folder: string): string =>
  basename(folder)
    .replace(/[^A-Za-z0-9_.-]+/g, "-")
    .replace(/^[^A-Za-z0-9]+/, "")
    .slice(0, 100) || "conversation";

/** @throws CommandFailure with exit code 2 if a flag is wrong */
const assertFlags = (flags: InitFlags): void => {
  const rules = { name: nameProblem, stack: nameProblem };
  const settings = askedSettings.map((key) => [key, settingProblem(key)] as const);
  for (const [key, problem] of [...Object.entries(rules), ...settings]) {
    const value = Object.entries(flags).find(([name]) => name === key)?.[1];
    const wrong = typeof value === "string" ? problem(value) : undefined;
    if (wrong) throw new CommandFailure(`${optionName(key)}: ${wrong}`, 2);
  }
  if (flags.emulator && askedSettings.some((key) => key !== "plan" && flags[key] !== undefined))
    throw new CommandFailure("Specify either --emulator or the URLs of a service, not both.", 2);
};

/** The scope that the URLs tell; undefined if the default is right, or they are not known. */
const scopeFor = ({ baseUrl, tokenUrl }: InitAnswers["settings"]): string | undefined =>
  baseUrl && tokenUrl && isCommercial(tokenUrl) ? commercialScope(baseUrl) : undefined;

const scopeQuestion =
  "Scope of a commercial tenant, https://<API host>/auth/.default (leave empty for a self-service one)";

const askService = async (
  { emulator, ...flags }: InitFlags,
  ask: Ask,
): Promise<InitAnswers["settings"]> => {
  if (emulator) return {};
  const answers: Partial<Record<AskedSetting, string>> = {};
  for (const key of askedSettings) {
    const later = `${settingTable[key].doc.split(/[.:;,]/)[0]} (leave empty to set it later)`;
    const text = key === "scope" ? scopeQuestion : later;
    const known = flags[key] ?? (key === "scope" ? scopeFor(answers) : undefined);
    const given = known ?? (await ask({ text, problem: laterOr(settingProblem(key)) }));
    if (given !== "") answers[key] = given;
    // Without an address, the rest is meaningless.
    if (key === "baseUrl" && given === "") break;
  }
  return answers;
};

/**
 * The answers for a new project: from the flags, and from questions if there is somebody to ask.
 *
 * @param secret of the environment; asked for if it is missing
 * @param ask undefined if nobody is asked; open questions then get their defaults
 * @throws CommandFailure with exit code 2 if a flag is wrong
 */
export const initAnswers = async (
  flags: InitFlags,
  folder: string,
  secret: string | undefined,
  ask?: Ask,
): Promise<InitAnswers> => {
  assertFlags(flags);
  const text = async (key: "name" | "stack", question: string, proposal: string) =>
    flags[key] ?? (await ask?.({ text: question, proposal, problem: nameProblem })) ?? proposal;
  const name = await text("name", "Project name", nameFor(folder));
  const stack = await text("stack", "First stack", "dev");
  const { description = "A conversation account of the messaging hub" } = flags;
  const given = askedSettings.flatMap((key) => {
    const known = flags[key] ?? (key === "scope" ? scopeFor(flags) : undefined);
    return known === undefined ? [] : [[key, known]];
  });
  const settings = ask ? await askService(flags, ask) : Object.fromEntries(given);
  const later = "Client secret, not shown (leave empty to set it later)";
  const clientSecret =
    secret ?? (settings.clientId && (await ask?.({ text: later, secret: true }))) ?? "";
  const chosen = await ask?.({
    text: `Pipeline (${pipelines.join(", ")})`,
    proposal: "none",
    problem: oneOfPipelines,
  });
  const pipeline = flags.pipeline ?? pipelines.find((one) => one === chosen) ?? "none";
  return { name, description, stack, pipeline, settings, clientSecret };
};
