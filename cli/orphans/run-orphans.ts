import type { Clock } from "../../provider/kernel/clock.js";
import {
  markedObjects,
  type Orphan,
  orphansAmong,
  type StackNames,
} from "../../provider/lifecycle/ownership/orphans.js";
import { resources } from "../../provider/resources/index.js";
import { readSettings } from "../../provider/service/settings/settings.js";
import { lockReader, type StackLock } from "../../provider/stacks/stack-lock.js";
import type { StackStates } from "../../provider/stacks/stack-states.js";
import { readStackConfig } from "../doctor/stack-config.js";
import { Failure } from "../failure.js";
import { type FoundOrphan, shownOrphan } from "./found-orphan.js";
import {
  assertStill,
  chosenAmong,
  deletion,
  lockRefusal,
  type Purpose,
  releasing,
  type Watch,
} from "./permission.js";
import { releaseOrphan } from "./release.js";
import { removeOrphan } from "./removal.js";
import { accessService, type ServiceAccess } from "./service-access.js";
import { namesFor, placeOf, statesFor } from "./stack-in-question.js";

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

/** What the command found and did. */
export interface OrphansResult {
  readonly names: StackNames;
  readonly found: readonly FoundOrphan[];
  /** Sentences about what could not be seen. */
  readonly notes: readonly string[];
}

const notesOf = (
  { project, stack }: StackNames,
  lock: StackLock,
  { own, complete }: StackStates,
): readonly string[] => {
  const name = `${project}/${stack}`;
  return [
    ...(lock.state === "locked"
      ? [
          `${name} is locked${lock.by ? ` (${lock.by})` : ""}: what a run is making now is listed too.`,
        ]
      : []),
    ...(own.ownership === undefined
      ? [
          `The state of ${name} holds no Ownership: it has made nothing yet, or was destroyed. What carries its name is of a former state, or of another one of the same name.`,
        ]
      : []),
    ...(complete
      ? []
      : [
          "Not every stack of the backend could be read; one of the others may hold what is listed.",
        ]),
  ];
};

/** Changes one object, once it is sure that nobody else is at work on it. */
const change = async (
  orphan: Orphan,
  { option }: Purpose,
  access: ServiceAccess,
  watch: Watch,
): Promise<FoundOrphan> => {
  const act = option === "--delete" ? removeOrphan : releaseOrphan;
  const reason = await access.guarded(
    () => assertStill(orphan, watch),
    () => act(orphan, access),
  );
  const ok = reason === undefined;
  return {
    ...shownOrphan(orphan),
    ...(option === "--delete" ? { deleted: ok } : { released: ok }),
    ...(ok ? {} : { reason }),
  };
};

const changeAll = async (
  orphans: readonly Orphan[],
  chosen: readonly Orphan[],
  purpose: Purpose,
  access: ServiceAccess,
  watch: Watch,
): Promise<readonly FoundOrphan[]> => {
  const found: FoundOrphan[] = [];
  for (const orphan of orphans)
    found.push(
      chosen.includes(orphan) ? await change(orphan, purpose, access, watch) : shownOrphan(orphan),
    );
  return found;
};

const purposeOf = ({ delete: remove, release }: OrphansOptions): Purpose | undefined => {
  if (remove) return deletion;
  return release ? releasing : undefined;
};

/**
 * Finds, and on demand deletes or releases, what carries a stack's mark or name and is in no state.
 * The service is listed before the lock is looked at, and the lock before the states: so whatever a
 * run makes or takes over meanwhile shows in one of the later looks.
 *
 * @throws Failure where a state cannot be read, or where nothing may be changed; ConversationError
 * where the service cannot be listed
 */
export const runOrphans = async (options: OrphansOptions): Promise<OrphansResult> => {
  const { folder = process.cwd(), env = process.env, profile, ids } = options;
  const { say = () => undefined, ignoreLock = false } = options;
  const place = placeOf(folder, env, options.stack);
  const names = await namesFor(place, await statesFor(place, "own"));
  const look = await lockReader(place, names.project, names.stack);
  const { values } = await readStackConfig(folder, env, options.stack);
  const settings = readSettings({ environment: env, config: (key) => values.get(key) }, profile);
  const access = accessService({ settings, environment: env, say, clock: options.clock });
  try {
    const objects = await markedObjects(access, resources);
    const lock = await look();
    const states = await statesFor(place, "all");
    const orphans = orphansAmong(objects, names, states, options.release ? ids : []);
    const notes = notesOf(names, lock, states);
    const purpose = purposeOf(options);
    if (!purpose) return { names, notes, found: orphans.map(shownOrphan) };
    const refusal = lockRefusal(lock, names, ignoreLock);
    if (refusal) throw new Failure(`Nothing was ${purpose.done}: ${refusal}.`);
    const chosen = chosenAmong(orphans, purpose, states, ids);
    const watch = { lock: look, states: () => statesFor(place, "own"), names, ignoreLock };
    return { names, notes, found: await changeAll(orphans, chosen, purpose, access, watch) };
  } finally {
    await access.close();
  }
};
