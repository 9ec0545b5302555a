import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import type { z } from "zod";
import { messageOf } from "../command.js";
import type { Printed } from "../printed.js";
import { type Ended, runCommand } from "../process/run-command.js";
import { findProgram } from "../pulumi-cli/pulumi-cli.js";
import type { Progress } from "../terminal/progress.js";
import type { Ask } from "./ask.js";
import { type InitAnswers, type InitFlags, initAnswers } from "./init-answers.js";
import type { newProjectSchema } from "./init-schema.js";
import { assertRoom, writeProject } from "./project-folder.js";
import { templateProject } from "./template-project.js";

export interface InitOptions extends InitFlags {
  readonly folder: string;
  /** Whether npm fetches the packages. */
  readonly install: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  /** Left out: nobody is asked. */
  readonly ask?: Ask | undefined;
}

/** What was made, and what is left to do. */
export type NewProject = Printed<z.output<typeof newProjectSchema>>;

/** Runs one of the commands that make the project whole; why it did not work, or undefined. */
type Step = (
  command: string,
  args: readonly string[],
  input?: string,
) => Promise<string | undefined>;

const reasonOf = ({ code, lastLines }: Ended): string | undefined =>
  code === 0
    ? undefined
    : (lastLines.filter((line) => line.trim() !== "").at(-1) ?? "no reason given");

const stepsIn =
  ({ env }: InitOptions, folder: string): Step =>
  async (command, args, input) => {
    const settings = { cwd: folder, env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" } };
    const limits = { ...settings, timeoutMs: 600_000, ...(input === undefined ? {} : { input }) };
    return runCommand(command, args, limits).then(reasonOf, messageOf);
  };

/** Secrets go through standard input: a command line can be read by every process of the machine. */
const configure = async (
  step: Step,
  pulumi: string,
  answers: InitAnswers,
): Promise<string | undefined> => {
  const { name, stack, settings, clientSecret } = answers;
  const plain = Object.entries(settings).map(([key, value]) => [`conversation:${key}`, value]);
  const secrets = [
    ...(clientSecret ? [["conversation:clientSecret", clientSecret]] : []),
    [`${name}:callbackSecret`, randomBytes(24).toString("base64url")],
  ];
  const set = (key = "", value = "", ...more: readonly string[]) =>
    step(pulumi, ["config", "set", key, "--stack", stack, ...more, "--non-interactive"], value);
  for (const [key, value] of plain) {
    const reason = await set(key, value);
    if (reason) return reason;
  }
  for (const [key, value] of secrets) {
    const reason = await set(key, value, "--secret");
    if (reason) return reason;
  }
  return undefined;
};

const makeStack = async (
  step: Step,
  answers: InitAnswers,
  { env, progress }: InitOptions,
): Promise<boolean> => {
  const pulumi = findProgram("pulumi", env.PATH);
  if (!pulumi) {
    progress.note("There is no pulumi on PATH: the stack is yours to make.");
    return false;
  }
  const doing = progress.step(`Making stack ${answers.stack}`);
  const made = ["stack", "init", answers.stack, "--non-interactive"];
  const reason = (await step(pulumi, made)) ?? (await configure(step, pulumi, answers));
  if (reason) doing.failed(`Stack ${answers.stack} was not made whole: ${reason}`);
  else doing.done(`Stack ${answers.stack}, with its secrets encrypted`);
  return reason === undefined;
};

const installed = async (step: Step, { env, install, progress }: InitOptions): Promise<boolean> => {
  const npm = findProgram("npm", env.PATH);
  if (!install || !npm) return false;
  const doing = progress.step("Fetching packages (npm install)");
  const reason = await step(npm, ["install", "--no-fund", "--no-audit"]);
  if (reason) doing.failed(`npm install failed: ${reason}`);
  else doing.done("Packages");
  return reason === undefined;
};

const nextSteps = (
  { name, stack, settings, clientSecret }: InitAnswers,
  { emulator }: InitOptions,
  done: { readonly packages: boolean; readonly stack: boolean },
): readonly string[] => {
  const set = (key: string, ...more: readonly string[]) =>
    ["pulumi config set", key, ...more, "--stack", stack].join(" ");
  const service = emulator
    ? []
    : (["baseUrl", "tokenUrl", "clientId"] as const)
        .filter((key) => settings[key] === undefined || !done.stack)
        .map((key) => set(`conversation:${key}`, settings[key] ?? "<value>"));
  const secret =
    emulator || (clientSecret && done.stack) ? [] : [set("conversation:clientSecret", "--secret")];
  return [
    ...(done.packages ? [] : ["npm install"]),
    ...(done.stack
      ? []
      : [`pulumi stack init ${stack}`, set(`${name}:callbackSecret`, "--secret")]),
    ...service,
    ...secret,
    "npm test",
    emulator ? "npm run emulator -- pulumi up" : "pulumi up",
  ];
};

/**
 * Makes a new Pulumi project with a conversation account: files, packages, stack and configuration.
 * What does not work is said and becomes a next step; what was made stays.
 *
 * @throws CommandFailure where a flag is wrong, the folder is not empty, or the person stops
 */
export const runInit = async (options: InitOptions): Promise<NewProject> => {
  const folder = resolve(options.folder);
  assertRoom(folder);
  const secret = options.emulator ? undefined : options.env.CONVERSATION_CLIENT_SECRET;
  const answers = await initAnswers(options, folder, secret, options.ask);
  const files = templateProject(answers);
  writeProject(folder, files);
  options.progress.note(`${files.length} files in ${folder}`);
  const step = stepsIn(options, folder);
  const packages = await installed(step, options);
  const stackMade = await makeStack(step, answers, options);
  const next = nextSteps(answers, options, { packages, stack: stackMade });
  const { name, stack } = answers;
  return { folder, name, stack, files: files.map(({ path }) => path), stackMade, next };
};
