import type { Definition } from "../../provider/definition/define.js";
import { type Clock, systemClock } from "../../provider/kernel/clock.js";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { sameJson } from "../../provider/kernel/json.js";
import { objectTime } from "../../provider/lifecycle/ownership/mark.js";
import type { AccountSession } from "../../provider/lifecycle/run.js";
import { resources } from "../../provider/resources/index.js";
import type { ListProgress, WireObject } from "../../provider/service/collections.js";
import type { Settings } from "../../provider/service/setting-table.js";
import {
  type AccountLists,
  danglingAmong,
  type KindReading,
  type OpenEnd,
} from "./account-lists.js";
import { type ReadingProgress, readingProgress } from "./reading-progress.js";

/** A whole account, read once. */
export interface AccountReading extends AccountLists {
  /** When the reading began: ISO 8601, this machine's time. */
  readonly readAt: string;
  /** Base address of the tenant. */
  readonly baseUrl: Settings["baseUrl"];
  /**
   * False where the account changed while it was read, so that this is not the answer of one moment, as
   * far as it shows: by references to what no list has, by the number of objects that each page counts,
   * and by the times of objects, good to about a second.
   */
  readonly consistent: boolean;
  /** References to objects that no list has; where `consistent` is true, the account itself has them. */
  readonly openEnds: readonly OpenEnd[];
}

/** The service's time is known to about a second. */
const precisionMs = 1000;

const isNewer = ({ created, modified }: WireObject, since: number): boolean =>
  [created, modified].some((time) => objectTime(time) > since + precisionMs);

/** Kinds that hold an object made or changed since a moment of the service's time. */
const changedSince = ({ kinds }: AccountLists, since: number): readonly string[] =>
  kinds
    .filter(({ objects }) => [...objects.values()].some((wire) => isNewer(wire, since)))
    .map(({ definition }) => definition.kind);

/** Whether two readings of a kind show the same. */
const sameObjects = (a: KindReading, b: KindReading): boolean =>
  a === b ||
  (a.problem === b.problem &&
    a.objects.size === b.objects.size &&
    [...a.objects].every(([id, wire]) => sameJson(wire, b.objects.get(id))));

type ReadKind = (
  definition: Definition,
  onPage: (progress: ListProgress) => void,
) => Promise<KindReading>;

/** Reads all objects of one kind; a refusal is an answer, a cancellation is not. */
const kindReader =
  ({ service }: AccountSession): ReadKind =>
  async (definition, onPage) => {
    const counts = new Set<number>();
    const follow = (progress: ListProgress): void => {
      if (progress.count !== undefined) counts.add(progress.count);
      onPage(progress);
    };
    try {
      const { objects, complete } = await service.list(definition, {
        fresh: true,
        onPage: follow,
      });
      const moved = counts.size > 1 ? { moved: true as const } : {};
      const kind = { definition, objects: new Map(objects), ...moved };
      if (complete) return kind;
      const problem = `the service did not give all pages of GET /${definition.collection}; ${objects.size} objects came`;
      return { ...kind, problem };
    } catch (error) {
      if (!isConversationError(error) || error.code === "CANCELLED") throw error;
      return { definition, objects: new Map(), problem: error.message, error };
    }
  };

export interface ReadAccountOptions {
  readonly onProgress?: (progress: ReadingProgress) => void;
  /** Ends the reading with `CANCELLED`; calls under way end with the session. */
  readonly signal?: AbortSignal;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

/** Lists that look changed are read again so many times. */
const mostRepeats = 2;

const cancelled = (): ConversationError =>
  new ConversationError("CANCELLED", "Reading the account was cancelled; nothing was changed.");

/** The same, or `CANCELLED` as soon as the signal is given. */
const unlessAborted = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> => {
  if (!signal) return work;
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(cancelled());
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
};

/** Kinds that look as if they had changed since a moment of the service's time. */
const doubtfulIn = (lists: AccountLists, since: number): ReadonlySet<string> =>
  new Set([
    ...danglingAmong(lists).flatMap(({ from, to }) => [from.kind, to.kind]),
    ...changedSince(lists, since),
    ...lists.kinds.flatMap(({ definition: { kind }, moved }) => (moved ? [kind] : [])),
  ]);

type ReadKinds = (names?: ReadonlySet<string>) => Promise<readonly KindReading[]>;

/** Reads again what looks changed, until it comes out as before. */
const settled = async (
  first: AccountLists,
  startOf: () => number,
  read: ReadKinds,
): Promise<{ readonly lists: AccountLists; readonly consistent: boolean }> => {
  let lists = first;
  let since = startOf();
  for (let repeat = 0; repeat <= mostRepeats; repeat++) {
    const doubtful = doubtfulIn(lists, since);
    if (doubtful.size === 0) return { lists, consistent: true };
    if (repeat === mostRepeats) break;
    const again = new Map((await read(doubtful)).map((each) => [each.definition.kind, each]));
    const next = lists.kinds.map((each) => again.get(each.definition.kind) ?? each);
    const isSame = lists.kinds.every(
      (each, place) => next[place]?.moved !== true && sameObjects(each, next[place] ?? each),
    );
    lists = { kinds: next };
    if (isSame) return { lists, consistent: true };
    since = startOf();
  }
  return { lists, consistent: false };
};

/**
 * Reads every object of every kind: lists only, all of them at once, each in as few pages as the
 * service gives. What the client may not list is in the answer with the reason; it never is left out.
 *
 * @throws ConversationError where nothing at all could be read, for the first reason; `CANCELLED`
 * @example
 * const { kinds, consistent } = await readAccount(access);
 * for (const { definition, objects } of kinds) console.log(definition.kind, objects.size);
 */
export const readAccount = async (
  session: AccountSession,
  options: ReadAccountOptions = {},
): Promise<AccountReading> => {
  const { clock = systemClock, signal, onProgress = () => undefined } = options;
  const readAt = new Date(clock.wall()).toISOString();
  const readOne = kindReader(session);
  // The service's own time is known only once it has answered.
  let began = clock.now();
  const startOf = (): number => session.service.now() - (clock.now() - began);
  const read: ReadKinds = (names) => {
    began = clock.now();
    const wanted = resources.filter(({ kind }) => !names || names.has(kind));
    const progress = readingProgress(session.settings, wanted, clock, onProgress);
    return Promise.all(
      wanted.map(async (definition) => {
        const one = await readOne(definition, (page: ListProgress) =>
          progress.page(definition, page),
        );
        progress.done(definition, one.objects.size);
        return one;
      }),
    );
  };
  const first = await unlessAborted(signal, read());
  const failure = first.every(({ error }) => error) ? first[0]?.error : undefined;
  if (failure) throw failure;
  const outcome = await unlessAborted(signal, settled({ kinds: first }, startOf, read));
  const openEnds = danglingAmong(outcome.lists);
  return {
    ...outcome.lists,
    readAt,
    baseUrl: session.settings.baseUrl,
    openEnds,
    consistent: outcome.consistent,
  };
};
