import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import {
  projectDocument,
  projectFile,
  pulumiPlace,
  readStackConfig,
  type StackConfig,
  stackAdvice,
} from "../../provider/pulumi-cli/project-files.js";
import {
  type LockReader,
  lockReader,
  type PulumiPlace,
  queryPulumi,
} from "../../provider/pulumi-cli/pulumi-queries.js";
import { type StackExport, stackExportIn } from "../../provider/pulumi-cli/stack-documents.js";
import {
  readAllStates,
  readOwnState,
  type StackStates,
  type StateScope,
} from "../../provider/pulumi-cli/stack-states.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { readSettings } from "../../provider/service/settings.js";
import { CommandFailure } from "../command.js";

/** Which stack a command is about, and where. */
export interface StackOptions {
  /** Default: the selected one. */
  readonly stack?: string;
  /** Default: the settings without a profile. */
  readonly profile?: string;
  /** Folder of the Pulumi project. Default: the current one. */
  readonly folder?: string;
  /** Default: the environment of this process. */
  readonly env?: NodeJS.ProcessEnv;
}

/** A stack of the project in a folder: whatever commands ask of Pulumi about it. Nothing of it is changed. */
export interface OpenStack {
  readonly place: PulumiPlace;
  readonly env: NodeJS.ProcessEnv;
  readonly names: StackNames;
  /** Looks at the lock, each time anew. */
  readonly readLock: LockReader;
  /** What the state of this stack holds, or those of all stacks of its backend. @throws CommandFailure where this one's cannot be read */
  readonly readStates: (scope: StateScope) => Promise<StackStates>;
  /**
   * The settings for the service of this stack.
   *
   * @param profile default: the one that was asked for
   * @throws ConversationError where one is missing or wrong
   */
  readonly readSettings: (profile?: string) => Promise<Settings>;
}

/** What Pulumi said about a state that it cannot read, and what to do. */
export const unreadState = (reason: string): CommandFailure =>
  new CommandFailure(
    `The state of the stack could not be read, so nothing was done: ${reason}\n${stackAdvice(reason)}`,
  );

/**
 * Exports the state of a stack.
 *
 * @param secrets `clear`: as what they are; default: encrypted
 * @throws CommandFailure where it cannot be read
 */
export const exportStack = async (place: PulumiPlace, secrets?: "clear"): Promise<StackExport> => {
  const options = secrets === "clear" ? ["--show-secrets"] : [];
  const answer = await queryPulumi(place, ["stack", "export", ...options]);
  if ("reason" in answer) throw unreadState(answer.reason);
  const read = stackExportIn(answer.text);
  if (!read) throw unreadState("pulumi stack export printed no state of a stack");
  return read;
};

const statesAt = async (place: PulumiPlace, scope: StateScope): Promise<StackStates> => {
  let reason = "no reason given";
  const read = scope === "own" ? readOwnState : readAllStates;
  const states = await read(place, (told) => {
    reason = told;
  });
  if (states) return states;
  throw unreadState(reason);
};

/** The name of the project in a folder, as its file has it. */
export const projectIn = (folder: string): string | undefined => {
  const file = projectFile(folder);
  return file && projectDocument(file).name;
};

/**
 * The short names of a stack: those of its state, else those of the project file and the CLI.
 *
 * @throws CommandFailure where neither tells them
 */
const namesFor = async (place: PulumiPlace): Promise<StackNames> => {
  const { own } = await statesAt(place, "own");
  if (own.project && own.name) return { project: own.project, stack: own.name };
  const answer = await queryPulumi(place, ["stack", "--show-name"]);
  const stack = "text" in answer ? answer.text.trim().split("/").at(-1) : undefined;
  const project = projectIn(place.folder);
  if (stack && project) return { project, stack };
  throw new CommandFailure(
    "The names of project and stack are not known. Run this in the folder of the Pulumi project.",
  );
};

/**
 * Opens the stack that a command is about. Its state is read once, for its names.
 *
 * @throws CommandFailure where there is no `pulumi`, no such stack, or a state that cannot be read
 */
export const openStack = async (options: StackOptions): Promise<OpenStack> => {
  const { folder = process.cwd(), env = process.env, stack, profile } = options;
  const place = pulumiPlace(folder, env, stack);
  if (!place)
    throw new CommandFailure(
      "There is no pulumi on PATH. Install it, or run this where your stacks are run.",
    );
  const names = await namesFor(place);
  let config: Promise<StackConfig> | undefined;
  return {
    place,
    env,
    names,
    readLock: await lockReader(place, names.project, names.stack),
    readStates: (scope) => statesAt(place, scope),
    readSettings: async (asked = profile) => {
      config ??= readStackConfig(folder, env, stack);
      return readSettings((await config).source, asked);
    },
  };
};
