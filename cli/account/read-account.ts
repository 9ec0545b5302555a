import type { Definition } from "../../provider/definition/define.js";
import { type Clock, systemClock } from "../../provider/kernel/clock.js";
import { withCount } from "../../provider/kernel/columns.js";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { sameJson } from "../../provider/kernel/json.js";
import { wireReferences } from "../../provider/lifecycle/delete.js";
import { objectTime } from "../../provider/lifecycle/ownership/mark.js";
import type { AccountSession } from "../../provider/lifecycle/run.js";
import { burstShare, conversationLimit } from "../../provider/pacing/plan-rates.js";
import { resources } from "../../provider/resources/index.js";
import { setUpOperation } from "../../provider/service/http/operations.js";
import type { ListProgress, WireObject } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/setting-table.js";

/** All objects of one kind, or why they could not be read. */
export interface KindReading {
  readonly definition: Definition;
  /**
   * By ID, as the list shows them. An object whose ID no call can use is stored under a text that
   * is no ID. Empty if the list could not be read.
   */
  readonly objects: ReadonlyMap<string, WireObject>;
  /**
   * Why objects are missing: the list was refused, or not all of its pages came. Absent if none
   * are.
   */
  readonly problem?: string;
  /**
   * Its pages counted different numbers of objects: objects were added or removed between two
   * pages, so one that moved to another page may be missing.
   */
  readonly moved?: true;
  /** The failure, if nothing of the list came. */
  readonly error?: ConversationError;
}

/** Every kind, in the order in which an account is set up. */
export interface AccountLists {
  readonly kinds: readonly KindReading[];
}

/** The kinds that could not be read whole, and why. */
export const unreadAmong = (
  kinds: readonly {
    readonly definition: Definition;
    readonly problem?: string | undefined;
  }[],
): readonly { readonly definition: Definition; readonly problem: string }[] =>
  kinds.flatMap(({ definition, problem }) =>
    problem === undefined ? [] : [{ definition, problem }],
  );

/** A reference to an object that its list does not have. */
interface OpenEnd {
  readonly from: Definition;
  readonly fromId: string;
  /** As a person would write it, such as `roles[0].authentication`. */
  readonly path: string;
  readonly to: Definition;
  readonly id: string;
}

/** References to objects that no list has, among the kinds whose lists are whole. */
const danglingAmong = ({ kinds }: AccountLists): readonly OpenEnd[] => {
  const whole = new Map(
    kinds.filter(({ problem }) => !problem).map((each) => [each.definition.kind, each.objects]),
  );
  return kinds.flatMap(({ definition: from, objects }) =>
    [...objects].flatMap(([fromId, wire]) =>
      wireReferences(from, wire)
        .filter(({ to, id }) => whole.get(to.kind)?.has(id) === false)
        .map(({ path, to, id }) => ({ from, fromId, path, to, id })),
    ),
  );
};

/** How far the reading of an account has come. */
export interface ReadingProgress {
  /** Objects of all kinds that came so far. */
  readonly objects: number;
  /** Calls that are still to be made, as far as the service has said. */
  readonly callsLeft: number;
  /** Kinds whose lists are done, and the number of all kinds. */
  readonly kindsDone: number;
  readonly kinds: number;
  /** Remaining time in milliseconds, as far as known; 0 at the end. */
  readonly remainingMs: number;
}

interface ListState extends ListProgress {
  readonly done: boolean;
  readonly pages: number;
  /** When its last page came, and how long that page took. */
  readonly at: number;
  readonly pageMs: number;
}

/**
 * Milliseconds between two calls of a list at the rate of the plan, and the calls that go at once;
 * no interval if the plan is not known.
 */
const pacingOf = ({ plan, share, burst }: Settings, definition: Definition) => {
  if (!plan) return { interval: 0, atOnce: 0 };
  const limit = conversationLimit(setUpOperation(definition, "list"), plan);
  return { interval: 1000 / (limit.rate * share), atOnce: burstShare(burst ?? limit.burst, share) };
};

/** Tracks the lists of several kinds, which are read in parallel. */
const readingProgress = (
  settings: Settings,
  kinds: readonly Definition[],
  clock: Clock,
  onProgress: (progress: ReadingProgress) => void,
) => {
  const began = clock.now();
  const states = new Map<string, ListState>();
  const remainingOf = (definition: Definition): number => {
    const { interval, atOnce } = pacingOf(settings, definition);
    const state = states.get(definition.kind);
    // A list that has not answered takes at least one call.
    if (!state) return interval;
    if (state.done) return 0;
    const { callsLeft, pageMs, pages } = state;
    // The first calls of a full bucket go at once.
    const waiting = Math.max(0, callsLeft - Math.max(0, atOnce - pages));
    return Math.max(callsLeft * pageMs, waiting * interval);
  };
  const report = (): void => {
    const all = [...states.values()];
    onProgress({
      objects: all.reduce((sum, { objects }) => sum + objects, 0),
      callsLeft: all.reduce((sum, { callsLeft }) => sum + callsLeft, kinds.length - all.length),
      kindsDone: all.filter(({ done }) => done).length,
      kinds: kinds.length,
      remainingMs: Math.max(0, ...kinds.map(remainingOf)),
    });
  };
  return {
    page: ({ kind }: Definition, progress: ListProgress): void => {
      const at = clock.now();
      const pageMs = at - (states.get(kind)?.at ?? began);
      const pages = (states.get(kind)?.pages ?? 0) + 1;
      states.set(kind, { ...progress, done: false, pages, at, pageMs });
      report();
    },
    done: ({ kind }: Definition, objects: number): void => {
      const last = { callsLeft: 0, done: true, pages: 0, at: clock.now(), pageMs: 0 };
      states.set(kind, { ...last, objects });
      report();
    },
  };
};

/** A whole account, read once. */
export interface AccountReading extends AccountLists {
  /** When the reading began: ISO 8601, this machine's time. */
  readonly readAt: string;
  /** Base URL of the tenant. */
  readonly baseUrl: Settings["baseUrl"];
  /**
   * False if the account changed while it was read, so this is not the state of one moment.
   * Detected by references to objects in no list, by the object count on each page, and by the
   * objects' times, accurate to about a second.
   */
  readonly consistent: boolean;
  /** References to objects that no list has; if `consistent` is true, the account itself has them. */
  readonly openEnds: readonly OpenEnd[];
}

/** The service's time is known to about a second. */
const precisionMs = 1000;

const isNewer = ({ created, modified }: WireObject, since: number): boolean =>
  [created, modified].some((time) => objectTime(time) > since + precisionMs);

/** Kinds that hold an object made or changed since a moment in the service's time. */
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
      const problem = `the service did not return all pages of GET /${definition.collection}; it returned ${withCount(objects.size, "object")}`;
      return { ...kind, problem };
    } catch (error) {
      if (!isConversationError(error) || error.code === "CANCELLED") throw error;
      return { definition, objects: new Map(), problem: error.message, error };
    }
  };

interface ReadAccountOptions {
  readonly onProgress?: (progress: ReadingProgress) => void;
  /** Ends the reading with `CANCELLED`; calls under way end with the session. */
  readonly signal?: AbortSignal;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

/** How often lists that look changed are read again. */
const mostRepeats = 2;

const cancelled = (): ConversationError =>
  new ConversationError("CANCELLED", "Reading the account was canceled; nothing was changed.");

/** The same work, or `CANCELLED` as soon as the signal fires. */
const unlessAborted = <T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> => {
  if (!signal) return work;
  return new Promise<T>((resolve, reject) => {
    const stop = () => reject(cancelled());
    signal.addEventListener("abort", stop, { once: true });
    if (signal.aborted) stop();
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
};

/** Kinds that may have changed since a moment in the service's time. */
const doubtfulIn = (lists: AccountLists, since: number): ReadonlySet<string> =>
  new Set([
    ...danglingAmong(lists).flatMap(({ from, to }) => [from.kind, to.kind]),
    ...changedSince(lists, since),
    ...lists.kinds.flatMap(({ definition: { kind }, moved }) => (moved ? [kind] : [])),
  ]);

type ReadKinds = (names?: ReadonlySet<string>) => Promise<readonly KindReading[]>;

/** Reads again what looks changed, until two readings agree. */
const consistentLists = async (
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
 * service gives. A kind that the client may not list is in the result with the reason, never left
 * out.
 *
 * @throws ConversationError if nothing at all could be read, for the first reason; `CANCELLED`
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
  const startOf = (): number => (session.service.now() ?? clock.wall()) - (clock.now() - began);
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
  const outcome = await unlessAborted(signal, consistentLists({ kinds: first }, startOf, read));
  const openEnds = danglingAmong(outcome.lists);
  return {
    ...outcome.lists,
    readAt,
    baseUrl: session.settings.baseUrl,
    openEnds,
    consistent: outcome.consistent,
  };
};
