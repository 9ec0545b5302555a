import { hash } from "node:crypto";
import { join } from "node:path";
import { type JsonObject, sameJson } from "../../provider/kernel/json.js";
import type { StackStates } from "../../provider/lifecycle/stack-states.js";
import type { Settings } from "../../provider/service/settings.js";
import { type AskedStack, CommandFailure } from "../command.js";
import { lockIn, readBackend, type StackLock } from "../pulumi/locks.js";
import { ownCacheFolder, tryLock } from "../pulumi/own-folders.js";
import { runCommand } from "../pulumi/processes.js";
import {
  configuredAccount,
  pulumiPlace,
  readStackConfig,
  type StackConfig,
  stackAdvice,
} from "../pulumi/project-files.js";
import { lightRun, pulumiStops } from "../pulumi/pulumi-cli.js";
import {
  type PulumiAnswer,
  type PulumiPlace,
  queryPulumi,
  runStackCommand,
} from "../pulumi/pulumi-queries.js";
import {
  type Preview,
  previewErrorsIn,
  previewIn,
  resourcesInState,
  type StackExport,
} from "../pulumi/stack-documents.js";
import { exportState, type StateScope, statesAround } from "../pulumi/stack-states.js";

/** The short names of a project and a stack. */
export interface StackNames {
  readonly project: string;
  readonly stack: string;
}

/** Which stack a command is about, and where. */
export interface StackOptions extends AskedStack {
  /** The Pulumi project folder. Default: the current one. */
  readonly folder?: string;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/**
 * A stack of the project in a folder, with everything that commands ask Pulumi about it. Never
 * changed.
 */
export interface OpenStack {
  readonly place: PulumiPlace;
  readonly env: NodeJS.ProcessEnv;
  readonly names: StackNames;
  /** The state as it was when the stack was opened, secrets in plain text: kept in memory only. */
  readonly document: StackExport;
  /** Asks once which backend Pulumi is logged in to. */
  readonly readBackend: () => Promise<PulumiAnswer>;
  /** Looks at the lock, each time anew. */
  readonly readLock: () => Promise<StackLock>;
  /**
   * Reads the state of this stack, or those of all stacks of its backend. @throws CommandFailure if
   * this one's cannot be read
   */
  readonly readStates: (scope: StateScope) => Promise<StackStates>;
  /** Reads the configuration of the stack once. */
  readonly readConfig: () => Promise<StackConfig>;
  /**
   * The settings for the service of this stack.
   *
   * @param profile default: the requested one
   * @throws ConversationError if one is missing or wrong, or would lead a command beside an emulator
   * to another account
   */
  readonly readSettings: (profile?: string) => Promise<Settings>;
}

/** What Pulumi said about a part of a stack that it cannot read, and what to do. */
export const unreadPart = (part: "state" | "configuration", reason: string): CommandFailure =>
  new CommandFailure(
    `Cannot read the stack's ${part}, so nothing was done: ${reason}\n${stackAdvice(reason)}`,
  );

/**
 * Exports the state of a stack.
 *
 * @param secrets `clear` for plain values; default: encrypted
 * @throws CommandFailure if it cannot be read
 */
export const exportStack = async (place: PulumiPlace, secrets?: "clear"): Promise<StackExport> => {
  const read = await exportState(place, secrets);
  if ("reason" in read) throw unreadPart("state", read.reason);
  return read.document;
};

/**
 * Lets Pulumi preview the program of a stack.
 *
 * @param signal ends Pulumi without leaving a lock
 * @throws CommandFailure with what Pulumi reports, if the preview fails
 */
export const previewStack = async (
  { command, folder, env, stack }: PulumiPlace,
  signal?: AbortSignal,
): Promise<Preview> => {
  const args = ["preview", "--json", ...(stack === undefined ? [] : ["--stack", stack])];
  const ended = await runCommand(command, [...args, "--non-interactive"], {
    cwd: folder,
    // Pulumi else checks the whole state after every step, although a preview writes none.
    env: { ...env, ...lightRun(env), PULUMI_SKIP_UPDATE_CHECK: "true" },
    signal,
    stops: pulumiStops,
  });
  signal?.throwIfAborted();
  const preview = ended.code === 0 ? previewIn(ended.stdout) : undefined;
  if (preview) return preview;
  const errors = previewErrorsIn(ended.stdout).map(({ message }) => message);
  const said = (errors.length > 0 ? errors : ended.lastLines).join("\n").trim();
  const advice =
    errors.length > 0
      ? "Fix the program (pulumi preview shows where), then try again."
      : stackAdvice(said);
  throw new CommandFailure(`pulumi ${args.join(" ")} failed. Pulumi reports:\n${said}\n${advice}`);
};

/** @throws CommandFailure if Pulumi does not name the stack */
const namesFor = async (place: PulumiPlace): Promise<StackNames> => {
  const words = ["stack", "--show-name", "--fully-qualify-stack-names"];
  const answer = await queryPulumi(place, words);
  if ("reason" in answer) throw unreadPart("state", answer.reason);
  const [stack, project] = answer.text.trim().split("/").reverse();
  if (stack && project) return { project, stack };
  throw unreadPart("state", "Pulumi does not name its project; pulumi state upgrade gives it one");
};

/**
 * Opens the stack that a command is about.
 *
 * @throws CommandFailure if there is no `pulumi`, or no such stack
 */
export const openStack = async (options: StackOptions): Promise<OpenStack> => {
  const { folder = process.cwd(), env = process.env, stack, profile } = options;
  const place = pulumiPlace(folder, env, stack);
  if (!place)
    throw new CommandFailure(
      "pulumi is not on PATH. Install it, or run the command on the machine that runs your stacks.",
    );
  const [document, names] = await Promise.all([exportStack(place, "clear"), namesFor(place)]);
  let config: Promise<StackConfig> | undefined;
  let backend: Promise<PulumiAnswer> | undefined;
  const readConfig = () => {
    config ??= readStackConfig(folder, env, stack);
    return config;
  };
  const knownBackend = () => {
    backend ??= readBackend(place);
    return backend;
  };
  return {
    place,
    env,
    names,
    document,
    readBackend: knownBackend,
    readLock: async () => lockIn(await knownBackend(), place, names.project, names.stack),
    readStates: async (scope) => statesAround(await exportStack(place), place, scope),
    readConfig,
    readSettings: async (asked = profile) => configuredAccount(await readConfig(), asked),
  };
};

/**
 * @param ignoreLock go on if the backend does not show its locks
 * @throws CommandFailure if a run is, or may be, working on a stack
 */
export const assertNoRun = async (
  { readLock, place, names: { project, stack } }: Pick<OpenStack, "readLock" | "place" | "names">,
  ignoreLock?: boolean,
): Promise<void> => {
  const lock = await readLock();
  const name = `${project}/${stack}`;
  if (lock.state === "locked")
    throw new CommandFailure(
      `Not done: the stack ${name} is locked, so a run may be in progress. ` +
        `Wait until it ends; if it was killed, run pulumi cancel${place.stack ? ` ${place.stack}` : ""}. Then try again.`,
    );
  if (lock.state === "unknown" && !ignoreLock)
    throw new CommandFailure(
      `Not done: the command cannot see whether a run is in progress on the stack ${name}: ${lock.why}. ` +
        "If you are sure that no run is in progress, try again with --ignore-lock.",
    );
};

/**
 * Adds resources to a state, and removes all notes of pending operations. Pulumi itself encrypts,
 * checks, and writes it, under its lock.
 *
 * @throws CommandFailure if the state has changed since the stack was opened, or Pulumi refuses
 */
export const addToState = async (
  { place, document: before }: OpenStack,
  entries: readonly JsonObject[],
): Promise<void> => {
  const now = await exportStack(place, "clear");
  if (!sameJson(now.deployment, before.deployment))
    throw new CommandFailure("the state changed in the meantime; nothing was written. Try again");
  const { pending_operations: _, ...rest } = now.deployment;
  const resources = [...resourcesInState(now), ...entries];
  const written = await runStackCommand(
    place,
    ["stack", "import"],
    JSON.stringify({ ...now, deployment: { ...rest, resources } }),
  );
  if (!written.ok) throw new CommandFailure(`pulumi stack import failed: ${written.said}`);
};

/**
 * Does something that only one command at a time may do to a stack. Pulumi's own lock does not
 * cover them: between one command's decision and its action, the other could remove what the
 * decision is about. The lock file is the same for every process of a user that changes this stack.
 *
 * @throws CommandFailure if another command of this user is doing so on this machine
 */
export const whileAlone = async <R>(
  { env, names: { project, stack }, readBackend }: Pick<OpenStack, "env" | "names" | "readBackend">,
  work: () => Promise<R>,
): Promise<R> => {
  const key = hash("sha256", JSON.stringify([await readBackend(), project, stack]));
  let unlock: ReturnType<typeof tryLock> = () => undefined;
  try {
    unlock = tryLock(join(ownCacheFolder(env), `stack-${key.slice(0, 16)}.lock`));
  } catch {
    // If no lock can be kept, nobody else can hold one.
  }
  if (!unlock)
    throw new CommandFailure(
      `Another repair or orphans command is changing ${project}/${stack}, so nothing was done. Wait until it ends, and then try again.`,
    );
  try {
    return await work();
  } finally {
    unlock();
  }
};
