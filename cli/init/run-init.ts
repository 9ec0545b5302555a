import { randomBytes } from "node:crypto";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { z } from "zod";
import { makeFolders } from "../../provider/kernel/files.js";
import type { Printed } from "../../provider/kernel/json.js";
import { ownCommand } from "../../provider/kernel/package.js";
import {
  configOption,
  environmentOfPackages,
  withoutSecretSettings,
} from "../../provider/service/settings.js";
import { CommandFailure, messageOf } from "../command.js";
import { cachedPulumi } from "../get-pulumi/get-pulumi.js";
import { type PackedPackage, packedPackage } from "../packed-package.js";
import { oldNodeNote } from "../program-node.js";
import { type Ended, runCommand } from "../pulumi/processes.js";
import { environmentWith, findProgram } from "../pulumi/pulumi-cli.js";
import { wrapped } from "../terminal/columns.js";
import type { Progress } from "../terminal/progress.js";
import { type Ask, type InitAnswers, type InitFlags, initAnswers } from "./init-answers.js";
import { type ProjectFile, templateProject } from "./template-project.js";

/** Files that a folder may hold before a project is made there. */
const harmless = new Set([".git", ".gitattributes", "LICENSE", "LICENSE.md"]);

/** @throws CommandFailure if something is in the way; nothing has been made by then */
const assertRoom = (folder: string): void => {
  const isFile = existsSync(folder) && !statSync(folder).isDirectory();
  if (isFile)
    throw new CommandFailure(
      `${folder} is a file, not a folder. Nothing was created. Specify a new folder: ${ownCommand("init <folder>")}`,
    );
  const found = existsSync(folder) ? readdirSync(folder).filter((name) => !harmless.has(name)) : [];
  if (found.length === 0) return;
  const named = found.slice(0, 5).join(", ") + (found.length > 5 ? ", …" : "");
  throw new CommandFailure(
    `${folder} is not empty (${named}). Nothing was created. Specify a new folder: ${ownCommand("init <folder>")}`,
  );
};

/** Writes the files of a project. @throws CommandFailure if the folder cannot be written */
const writeProject = (folder: string, files: readonly ProjectFile[]): void => {
  try {
    for (const { path, text, executable } of files) {
      const file = join(folder, path);
      makeFolders(dirname(file));
      writeFileSync(file, text, { mode: executable ? 0o755 : 0o644, flag: "wx" });
    }
  } catch (error) {
    throw new CommandFailure(
      `Cannot write the project to ${folder}: ${messageOf(error)}. Specify another folder: ${ownCommand("init <folder>")}`,
    );
  }
};

/** Runs one of the commands that complete a project; returns why it did not work, or undefined. */
type ProjectStep = (
  command: string,
  args: readonly string[],
  input?: string,
) => Promise<string | undefined>;

/** npm gives its reason first, after a code; the path of its log comes last. */
const npmReason = (lines: readonly string[]): string | undefined =>
  lines
    .filter((line) => /^npm (error|ERR!) /.test(line))
    .map((line) => line.replace(/^npm \S+ /, "").trim())
    .find((line) => !/^code |^\d+$/.test(line));

const reasonOf = ({ code, lastLines }: Ended): string | undefined => {
  if (code === 0) return undefined;
  const said = lastLines.map((line) => line.trim()).filter((line) => line !== "");
  return npmReason(said) ?? said.at(-1) ?? "no reason given";
};

const LONGEST_MS = 600_000;

/** Steps in the folder of a project. */
const projectSteps =
  (cwd: string, env: NodeJS.ProcessEnv, signal: AbortSignal | undefined): ProjectStep =>
  (command, args, input = "") =>
    runCommand(command, args, {
      cwd,
      input,
      signal,
      timeoutMs: LONGEST_MS,
      env: { ...env, PULUMI_SKIP_UPDATE_CHECK: "true" },
    }).then(reasonOf, messageOf);

/** How far the stack of a new project is set up. */
interface StackStanding {
  /** Whether it exists in Pulumi. */
  readonly made: boolean;
  /** Whether its configuration is complete as well. */
  readonly configured: boolean;
  /** What Pulumi said if something failed; undefined also if there is no Pulumi. */
  readonly refusal?: string | undefined;
  /** Folder of a Pulumi that is not on PATH; the next steps need it there. */
  readonly bin?: string | undefined;
}

/** Secrets go through standard input: every process of the machine can read a command line. */
const configure = async (
  step: ProjectStep,
  pulumi: string,
  answers: InitAnswers,
): Promise<string | undefined> => {
  const { name, stack, settings, clientSecret } = answers;
  const values = [
    // Without --plaintext, Pulumi refuses what looks like a secret to it, such as a token URL.
    ...Object.entries(settings).map(([key, value]) => [
      `conversation:${key}`,
      value,
      "--plaintext",
    ]),
    ...(clientSecret ? [["conversation:clientSecret", clientSecret, "--secret"]] : []),
    [`${name}:callbackSecret`, randomBytes(24).toString("base64url"), "--secret"],
  ];
  for (const [key = "", value, how = ""] of values) {
    const args = ["config", "set", key, "--stack", stack, how, "--non-interactive"];
    const reason = await step(pulumi, args, value);
    if (reason) return reason;
  }
  return undefined;
};

/**
 * What a person has to do first if Pulumi refused a stack for lack of it: usual on a new machine.
 */
const missingFirst = (refusal = ""): "login" | "passphrase" | undefined => {
  if (/PULUMI_ACCESS_TOKEN|log ?in/i.test(refusal)) return "login";
  return /passphrase must be set/.test(refusal) ? "passphrase" : undefined;
};

const laterFor = {
  login: "you are not logged in to Pulumi",
  passphrase: "it needs a passphrase",
} as const;

const noPulumi =
  "pulumi is not on PATH. Install it (https://www.pulumi.com/docs/install/), and then create the stack.";

/** Makes the first stack of a project with its configuration; reports what does not work. */
const makeStack = async (
  answers: InitAnswers,
  folder: string,
  { env, signal, progress }: InitOptions,
): Promise<StackStanding> => {
  const onPath = findProgram("pulumi", env.PATH);
  const pulumi = onPath ?? cachedPulumi(env);
  if (pulumi === undefined) {
    progress.note(wrapped(noPulumi, 80).join("\n"));
    return { made: false, configured: false };
  }
  const bin = dirname(pulumi);
  const step = projectSteps(folder, environmentWith(bin, env), signal);
  const doing = progress.step(`Creating stack ${answers.stack}`);
  const init = await step(pulumi, ["stack", "init", answers.stack, "--non-interactive"]);
  const refusal = init ?? (await configure(step, pulumi, answers));
  const missing = missingFirst(refusal);
  if (missing) {
    doing.end();
    const text = `Stack ${answers.stack} was not created: ${laterFor[missing]}. See the next steps.`;
    progress.note(wrapped(text, 80).join("\n"));
  } else if (refusal) doing.failed(`Stack ${answers.stack} is incomplete: ${refusal}`);
  else doing.done(`Created stack ${answers.stack} with encrypted secrets`);
  return {
    made: init === undefined,
    configured: refusal === undefined,
    refusal,
    bin: onPath === undefined ? bin : undefined,
  };
};

/** What of a new project is done, and what is left. */
interface ProjectStanding {
  readonly stack: StackStanding;
  /** Commands that fetch the packages; empty if that is done. */
  readonly packages: readonly string[];
  /** Whether the program is to run on an emulator. */
  readonly emulator: boolean;
}

const passphrase = 'export PULUMI_CONFIG_PASSPHRASE="your own passphrase"';

/** Commands that make Pulumi accept a stack that it refused, as far as its refusal shows. */
const beforeTheStack = ({ stack, emulator }: ProjectStanding): readonly string[] => {
  const missing = missingFirst(stack.refusal);
  const path = stack.bin ? [`export PATH="${stack.bin}:$PATH"`] : [];
  if (missing === "login")
    return [
      ...path,
      ...(emulator ? ["pulumi login --local --non-interactive", passphrase] : ["pulumi login"]),
    ];
  return missing === "passphrase" ? [...path, passphrase] : path;
};

const theStack = (
  { name, stack }: InitAnswers,
  { made, configured, refusal = "" }: StackStanding,
): readonly string[] => {
  if (configured) return [];
  // The stack of an earlier project of this name: using it is safe, as its objects stay its own.
  const verb = /already exists/.test(refusal) ? "select" : "init";
  return [
    ...(made ? [] : [`pulumi stack ${verb} ${stack}`]),
    `pulumi config set ${name}:callbackSecret --secret --stack ${stack}`,
  ];
};

/**
 * Commands for settings of the service that the stack does not hold yet. Pulumi asks for missing
 * values.
 */
const theSettings = (
  { name, stack, settings, clientSecret }: InitAnswers,
  { stack: { configured } }: ProjectStanding,
): readonly string[] => {
  const set = (...words: readonly string[]) =>
    ["pulumi config set", ...words, "--stack", stack].join(" ");
  const plain = (["baseUrl", "tokenUrl", "clientId", "scope"] as const)
    .filter((key) => (settings[key] === undefined ? key !== "scope" : !configured))
    .map((key) => {
      const words = [configOption(key), `conversation:${key}`, settings[key]];
      return set(...words.flatMap((word) => (word ? [word] : [])));
    });
  return [
    ...["callbackHost", "notificationEmail"].map((key) => set(`${name}:${key}`)),
    ...plain,
    ...(clientSecret && configured ? [] : [set("conversation:clientSecret", "--secret")]),
  ];
};

/** The kind of tenant shows in its token URL; without it, the person has to know. */
const scopeNote =
  "If your tenant is a commercial one, also set conversation:scope, to https://<API host>/auth/.default.";

/** The commands that are left to do, in order. */
const nextSteps = (answers: InitAnswers, standing: ProjectStanding): readonly string[] => [
  ...standing.packages,
  ...beforeTheStack(standing),
  ...theStack(answers, standing.stack),
  ...(standing.emulator ? [] : theSettings(answers, standing)),
  "npm test",
  standing.emulator ? "npm run emulator -- pulumi up" : "pulumi up",
];

/** Shape of what `init --json` prints. */
export const newProjectSchema = z.strictObject({
  folder: z.string(),
  name: z.string(),
  stack: z.string(),
  files: z.array(z.string()),
  stackMade: z.boolean().describe("Whether the stack and its configuration were created"),
  next: z.array(z.string()).describe("The remaining commands, in order"),
});

export interface InitOptions extends InitFlags {
  readonly folder: string;
  /** Whether npm fetches the packages. */
  readonly install: boolean;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  /** Absent if nobody is asked. */
  readonly ask?: Ask | undefined;
  /** Ends the commands that complete the project. */
  readonly signal?: AbortSignal | undefined;
}

/** What was made, and what is left to do. */
type NewProject = Printed<z.output<typeof newProjectSchema>>;

/** Fetches the packages; returns the commands for it if that was not asked for or failed. */
const fetchPackages = async (
  folder: string,
  { env, install, progress, signal }: InitOptions,
  packed: PackedPackage | undefined,
): Promise<readonly string[]> => {
  const fetch = ["install", "--no-fund", "--no-audit"];
  const [commands, npm] = [[...(packed ? [packed.pack] : []), fetch], findProgram("npm", env.PATH)];
  const left = [...(packed ? [packed.command] : []), "npm install"];
  if (!install || !npm) return left;
  const doing = progress.step("Installing packages (npm install)");
  const step = projectSteps(folder, environmentOfPackages(env), signal);
  for (const args of commands) {
    const reason = await step(npm, args);
    if (reason === undefined) continue;
    doing.failed(`npm ${args[0]} failed: ${reason}`);
    return left;
  }
  doing.done("Installed the packages");
  return [];
};

/** @throws CommandFailure with exit code 130 if the person wants the command to end */
const assertOngoing = ({ signal }: InitOptions, folder: string): void => {
  if (signal?.aborted)
    throw new CommandFailure(
      `Interrupted. The project in ${folder} is incomplete. Remove it before you run the command again.`,
      130,
    );
};

/**
 * Makes a new Pulumi project with a conversation account: files, packages, stack, and configuration.
 * What does not work is reported and becomes a next step; what was made stays.
 *
 * @throws CommandFailure if a flag is wrong, the folder is not empty, or the person stops
 */
export const runInit = async (options: InitOptions): Promise<NewProject> => {
  const folder = resolve(options.folder);
  assertRoom(folder);
  const secret = options.emulator ? undefined : options.env.CONVERSATION_CLIENT_SECRET;
  const answers = await initAnswers(options, folder, secret, options.ask);
  const packed = packedPackage();
  const files = templateProject({ ...answers, dependency: packed?.dependency });
  writeProject(folder, files);
  options.progress.note(`Wrote ${files.length} files to ${folder}`);
  const { env, progress, emulator = false } = options;
  const packages = await fetchPackages(folder, options, packed);
  assertOngoing(options, folder);
  const standing = await makeStack(answers, folder, {
    ...options,
    env: withoutSecretSettings(env),
  });
  assertOngoing(options, folder);
  const tooOld = await oldNodeNote(env);
  if (tooOld !== undefined) progress.note(tooOld);
  if (!emulator && answers.settings.tokenUrl === undefined)
    progress.note(wrapped(scopeNote, 80).join("\n"));
  const next = nextSteps(answers, { packages, stack: standing, emulator });
  const { name, stack } = answers;
  const paths = files.map(({ path }) => path);
  return { folder, name, stack, files: paths, stackMade: standing.configured, next };
};
