import { readFileSync } from "node:fs";
import type { Clock } from "../../provider/kernel/clock.js";
import {
  markedObjects,
  type Orphan,
  orphansAmong,
  type StackNames,
} from "../../provider/lifecycle/ownership/orphans.js";
import { resources } from "../../provider/resources/index.js";
import { readSettings } from "../../provider/service/settings/settings.js";
import { type PulumiPlace, queryPulumi } from "../../provider/stacks/pulumi-queries.js";
import { type LockReader, lockReader, type StackLock } from "../../provider/stacks/stack-lock.js";
import {
  readAllStates,
  readOwnState,
  type StackStates,
} from "../../provider/stacks/stack-states.js";
import { CommandFailure } from "../command.js";
import {
  projectFile,
  pulumiPlace,
  readStackConfig,
  stackAdvice,
} from "../pulumi-cli/stack-config.js";
import { changeOrphan, type Purpose } from "./orphan-changes.js";
import { type FoundOrphan, type OrphansResult, shownOrphan } from "./orphans-report.js";
import { chosenAmong, lockRefusal } from "./permission.js";
import { accessService } from "./service-access.js";

/** The states that can be seen, or the own one only. @throws CommandFailure where the own one cannot be read */
const readStates = async (
  place: PulumiPlace,
  read: typeof readOwnState | typeof readAllStates,
): Promise<StackStates> => {
  let reason = "no reason given";
  const states = await read(place, (told) => {
    reason = told;
  });
  if (states) return states;
  throw new CommandFailure(
    `The state of the stack could not be read, so nothing was done: ${reason}\n${stackAdvice(reason)}`,
  );
};

const projectIn = (folder: string): string | undefined => {
  const file = projectFile(folder);
  return file && /^\s*"?name"?\s*:\s*["']?([\w.-]+)/m.exec(readFileSync(file, "utf8"))?.[1];
};

/**
 * The short names of a stack: those of its state, else those of the project file and the CLI.
 *
 * @throws CommandFailure where neither tells them
 */
const namesFor = async (place: PulumiPlace, { own }: StackStates): Promise<StackNames> => {
  if (own.project && own.name) return { project: own.project, stack: own.name };
  const answer = await queryPulumi(place, ["stack", "--show-name"]);
  const stack = "text" in answer ? answer.text.trim().split("/").at(-1) : undefined;
  const project = projectIn(place.folder);
  if (stack && project) return { project, stack };
  throw new CommandFailure(
    "The names of project and stack are not known. Run this in the folder of the Pulumi project.",
  );
};

export interface OrphansOptions {
  readonly stack?: string;
  readonly profile?: string;
  readonly delete?: true;
  readonly release?: true;
  readonly ids?: readonly string[];
  /** Go on where the lock cannot be seen. */
  readonly ignoreLock?: true;
  readonly folder?: string;
  readonly env?: NodeJS.ProcessEnv;
  /** Told when calls have to wait for long. */
  readonly say?: (text: string) => void;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

/** The stack in question, and what is asked of Pulumi about it. */
interface Stack {
  readonly place: PulumiPlace;
  readonly names: StackNames;
  readonly readLock: LockReader;
  readonly ignoreLock: boolean;
}

const stackOf = async (options: OrphansOptions): Promise<Stack> => {
  const { folder = process.cwd(), env = process.env, stack } = options;
  const place = pulumiPlace(folder, env, stack);
  if (!place)
    throw new CommandFailure(
      "There is no pulumi on PATH. Install it, or run this where your stacks are run.",
    );
  const names = await namesFor(place, await readStates(place, readOwnState));
  const readLock = await lockReader(place, names.project, names.stack);
  return { place, names, readLock, ignoreLock: options.ignoreLock === true };
};

const notesOf = (
  { names: { project, stack } }: Stack,
  lock: StackLock,
  { own, complete }: StackStates,
): readonly string[] => {
  const name = `${project}/${stack}`;
  const notes: string[] = [];
  if (lock.state === "locked")
    notes.push(
      `${name} is locked${lock.by ? ` (${lock.by})` : ""}: what a run is making now is listed too.`,
    );
  if (own.ownership === undefined)
    notes.push(
      `The state of ${name} holds no Ownership: it has made nothing yet, or was destroyed. What carries its name is of a former state, or of another one of the same name.`,
    );
  if (!complete)
    notes.push(
      "Not every stack of the backend could be read; one of the others may hold what is listed.",
    );
  return notes;
};

/**
 * Looks once more, right before an object is changed: no run has taken it over in the meantime, and
 * none is at work.
 *
 * @throws CommandFailure where one has or is
 */
const assertStill = async ({ definition, id }: Orphan, stack: Stack): Promise<void> => {
  const states = await readStates(stack.place, readOwnState);
  const holder = states.holdersOf(definition.kind, id)[0];
  if (holder) throw new CommandFailure(`a run has taken it over since: ${holder.urn}`);
  const refusal = lockRefusal(await stack.readLock(), stack.names, stack.ignoreLock);
  if (refusal) throw new CommandFailure(refusal);
};

const purposeOf = ({ delete: remove, release }: OrphansOptions): Purpose | undefined => {
  if (remove) return { done: "deleted", option: "--delete" };
  return release ? { done: "released", option: "--release" } : undefined;
};

/**
 * Finds, and on demand deletes or releases, what carries a stack's mark or name and is in no state.
 * The service is listed before the lock is looked at, and the lock before the states: so whatever a
 * run makes or takes over meanwhile shows in one of the later looks.
 *
 * @throws CommandFailure where a state cannot be read, or where nothing may be changed; ConversationError
 * where the service cannot be listed
 */
export const runOrphans = async (options: OrphansOptions): Promise<OrphansResult> => {
  const { folder = process.cwd(), env = process.env, say = () => undefined, ids } = options;
  const stack = await stackOf(options);
  const { names } = stack;
  const { source } = await readStackConfig(folder, env, options.stack);
  const settings = readSettings(source, options.profile);
  const access = accessService(settings, env, say, options.clock);
  try {
    const objects = await markedObjects(access, resources);
    const lock = await stack.readLock();
    const states = await readStates(stack.place, readAllStates);
    const orphans = orphansAmong(objects, names, states, options.release ? ids : []);
    const notes = notesOf(stack, lock, states);
    const purpose = purposeOf(options);
    if (!purpose) return { names, notes, found: orphans.map(shownOrphan) };
    const refusal = lockRefusal(lock, names, stack.ignoreLock);
    if (refusal) throw new CommandFailure(`Nothing was ${purpose.done}: ${refusal}.`);
    const chosen = chosenAmong(orphans, purpose, states, ids);
    const found: FoundOrphan[] = [];
    for (const orphan of orphans)
      found.push(
        chosen.includes(orphan)
          ? await changeOrphan(orphan, purpose, access, () => assertStill(orphan, stack))
          : shownOrphan(orphan),
      );
    return { names, notes, found };
  } finally {
    await access.close();
  }
};
