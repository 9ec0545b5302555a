import {
  markedObjects,
  type Orphan,
  orphansAmong,
  type StackNames,
} from "../../provider/lifecycle/ownership/orphans.js";
import { resources } from "../../provider/resources/index.js";
import type { StackLock } from "../../provider/stacks/stack-lock.js";
import type { StackStates } from "../../provider/stacks/stack-states.js";
import { accessService } from "../account/open-account.js";
import { CommandFailure } from "../command.js";
import { type OpenStack, openStack, type StackOptions } from "../stack/open-stack.js";
import type { StackAccountOptions } from "../stack/stack-accounts.js";
import { whileAlone } from "../stack/while-alone.js";
import { changeOrphan, type Purpose } from "./orphan-changes.js";
import { type FoundOrphan, type OrphansResult, shownOrphan } from "./orphans-report.js";
import { chosenAmong } from "./permission.js";

export interface OrphansOptions extends StackOptions, StackAccountOptions {
  readonly delete?: true;
  readonly release?: true;
  readonly ids?: readonly string[];
  /** Go on where the lock cannot be seen. */
  readonly ignoreLock?: true;
  /** Ends it; what was not done by then has that as its reason. */
  readonly signal?: AbortSignal;
}

const atWork = ({ project, stack }: StackNames, by: string | undefined): string =>
  `the stack ${project}/${stack} is locked${by ? ` (${by})` : ""}, so a run may be at work on these objects. ` +
  "Wait until it has ended; if it was killed, run: pulumi cancel. Then try again";

/** Why the lock forbids to change anything; undefined where it does not. */
const lockRefusal = (
  lock: StackLock,
  names: StackNames,
  ignoreLock: boolean,
): string | undefined => {
  if (lock.state === "locked") return atWork(names, lock.by);
  if (lock.state === "free" || ignoreLock) return undefined;
  return (
    `whether a run is at work on the stack ${names.project}/${names.stack} cannot be seen: ${lock.why}. ` +
    "Make sure that none is, then try again with --ignore-lock"
  );
};

const notesOf = (
  { names: { project, stack } }: OpenStack,
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
const assertStill = async (
  { definition, id }: Orphan,
  stack: OpenStack,
  ignoreLock: boolean,
): Promise<void> => {
  const states = await stack.readStates("own");
  const holder = states.holdersOf(definition.kind, id)[0];
  if (holder) throw new CommandFailure(`a run has taken it over since: ${holder.urn}`);
  const refusal = lockRefusal(await stack.readLock(), stack.names, ignoreLock);
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
  const stack = await openStack(options);
  const orphans = () => orphansOf(stack, options);
  return purposeOf(options) ? whileAlone(stack, orphans) : orphans();
};

const orphansOf = async (stack: OpenStack, options: OrphansOptions): Promise<OrphansResult> => {
  const { say = () => undefined, ids, clock, signal } = options;
  const { names } = stack;
  const ignoreLock = options.ignoreLock === true;
  const access = accessService(await stack.readSettings(), {
    ...{ environment: stack.env, say, clock, signal },
  });
  try {
    const objects = await markedObjects(access, resources);
    const lock = await stack.readLock();
    const states = await stack.readStates("all");
    const orphans = orphansAmong(objects, names, states, options.release ? ids : []);
    const notes = notesOf(stack, lock, states);
    const purpose = purposeOf(options);
    if (!purpose) return { names, notes, found: orphans.map(shownOrphan) };
    const refusal = lockRefusal(lock, names, ignoreLock);
    if (refusal) throw new CommandFailure(`Nothing was ${purpose.done}: ${refusal}.`);
    const chosen = chosenAmong(orphans, purpose, states, ids);
    const found: FoundOrphan[] = [];
    for (const orphan of orphans)
      found.push(
        chosen.includes(orphan)
          ? await changeOrphan(orphan, purpose, access, () =>
              assertStill(orphan, stack, ignoreLock),
            )
          : shownOrphan(orphan),
      );
    return { names, notes, found };
  } finally {
    await access.close();
  }
};
