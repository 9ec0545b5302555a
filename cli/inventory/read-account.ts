import type { Definition } from "../../provider/definition/define.js";
import { type Clock, systemClock, unlessAborted } from "../../provider/kernel/clock.js";
import { ConversationError, isConversationError } from "../../provider/kernel/errors.js";
import { sameJson } from "../../provider/kernel/json.js";
import { wireReferences } from "../../provider/lifecycle/delete.js";
import { objectTime } from "../../provider/lifecycle/ownership.js";
import type { AccountSession } from "../../provider/lifecycle/run.js";
import { resources } from "../../provider/resources/index.js";
import type { WireObject } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/settings.js";
import { withCount } from "../terminal/columns.js";

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

/** The same for JSON, and for messages that name the kind. */
export const unreadKinds = (
  kinds: Parameters<typeof unreadAmong>[0],
): readonly { readonly kind: string; readonly problem: string }[] =>
  unreadAmong(kinds).map(({ definition: { kind }, problem }) => ({ kind, problem }));

/** Kinds with references to objects that no list has, among the kinds whose lists are whole, and those kinds. */
const danglingAmong = ({ kinds }: AccountLists): readonly string[] => {
  const whole = new Map(
    kinds.filter(({ problem }) => !problem).map((each) => [each.definition.kind, each.objects]),
  );
  return kinds.flatMap(({ definition, objects }) =>
    [...objects.values()].flatMap((wire) =>
      wireReferences(definition, wire)
        .filter(({ to, id }) => whole.get(to.kind)?.has(id) === false)
        .flatMap(({ to }) => [definition.kind, to.kind]),
    ),
  );
};

/** A whole account, read once. */
export interface AccountReading extends AccountLists {
  /** When the reading began: ISO 8601, this machine's time. */
  readonly readAt: string;
  readonly baseUrl: Settings["baseUrl"];
  /**
   * False if the account changed while it was read, so this is not the state of one moment.
   * Detected by references to objects in no list, by the object count on each page, and by the
   * objects' times, accurate to about a second.
   */
  readonly consistent: boolean;
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

/** Reads all objects of one kind; a refusal is an answer, a cancellation is not. */
const readKind = async (
  { service }: AccountSession,
  definition: Definition,
): Promise<KindReading> => {
  try {
    const { objects, complete, moved } = await service.list(definition, { fresh: true });
    const kind = { definition, objects: new Map(objects), ...(moved ? { moved } : {}) };
    if (complete) return kind;
    const problem = `the service did not return all pages of GET /${definition.collection}; it returned ${withCount(objects.size, "object")}`;
    return { ...kind, problem };
  } catch (error) {
    if (!isConversationError(error) || error.code === "CANCELLED") throw error;
    return { definition, objects: new Map(), problem: error.message, error };
  }
};

interface ReadAccountOptions {
  /** Gets the number of objects of all kinds that came so far. */
  readonly onProgress?: (objects: number) => void;
  /** Ends the reading with `CANCELLED`; calls under way end with the session. */
  readonly signal?: AbortSignal;
  /** Tests pass their own. */
  readonly clock?: Clock;
}

/** How often lists that look changed are read again. */
const mostRepeats = 2;

/** Kinds that may have changed since a moment in the service's time. */
const doubtfulIn = (lists: AccountLists, since: number): ReadonlySet<string> =>
  new Set([
    ...danglingAmong(lists),
    ...changedSince(lists, since),
    ...lists.kinds.flatMap(({ definition: { kind }, moved }) => (moved ? [kind] : [])),
  ]);

/**
 * Reads every object of every kind: lists only, all of them at once, each in as few pages as the
 * service gives. Lists that look changed are read again, until two readings agree. A kind that the
 * client may not list is in the result with the reason, never left out.
 *
 * @throws ConversationError if nothing at all could be read, for the first reason; `CANCELLED`
 * @example
 * const { kinds, consistent } = await readAccount(access);
 * for (const { definition, objects } of kinds) console.log(definition.kind, objects.size);
 */
export const readAccount = async (
  session: AccountSession,
  { clock = systemClock, signal, onProgress = () => undefined }: ReadAccountOptions = {},
): Promise<AccountReading> => {
  const readAt = new Date(clock.wall()).toISOString();
  const { baseUrl } = session.settings;
  /** Reads kinds, and says when that began. */
  const readKinds = async (wanted: readonly Definition[]) => {
    const began = clock.now();
    let count = 0;
    const kinds = await Promise.all(
      wanted.map(async (definition) => {
        const kind = await readKind(session, definition);
        count += kind.objects.size;
        onProgress(count);
        return kind;
      }),
    );
    // The service's own time is known only once it has answered.
    const since = (session.service.now() ?? clock.wall()) - (clock.now() - began);
    return { kinds, since };
  };
  const readAll = async (): Promise<AccountReading> => {
    let { kinds, since } = await readKinds(resources);
    const failure = kinds.every(({ error }) => error) ? kinds[0]?.error : undefined;
    if (failure) throw failure;
    for (let repeat = 0; ; repeat += 1) {
      const doubtful = doubtfulIn({ kinds }, since);
      const consistent = doubtful.size === 0;
      if (consistent || repeat === mostRepeats) return { kinds, readAt, baseUrl, consistent };
      const again = await readKinds(resources.filter(({ kind }) => doubtful.has(kind)));
      const before = kinds;
      kinds = before.map(
        (each) => again.kinds.find(({ definition }) => definition === each.definition) ?? each,
      );
      const isSame = kinds.every(
        (each, place) => !each.moved && sameObjects(before[place] ?? each, each),
      );
      if (isSame) return { kinds, readAt, baseUrl, consistent: true };
      ({ since } = again);
    }
  };
  return unlessAborted(
    signal,
    readAll(),
    () =>
      new ConversationError("CANCELLED", "Reading the account was canceled; nothing was changed."),
  );
};
