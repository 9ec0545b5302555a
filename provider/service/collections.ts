import type { Definition } from "../definition/define.js";
import {
  ConversationError,
  type ConversationErrorCode,
  type ErrorDetails,
  isConversationError,
} from "../kernel/errors.js";
import { assertId } from "../kernel/object-id.js";
import { type DatedAnswer, readCreated, readObject, readTimes } from "./answer.js";
import type { DatedRequest } from "./client.js";
import {
  type FirstPage,
  isTooLarge,
  ListBudget,
  type ListProgress,
  readFirstPage,
  type WireObject,
} from "./lists.js";
import { setUpOperation } from "./operations.js";
import { endpointName, type ServiceTime } from "./pace.js";
import { addressAdvice, type Settings } from "./settings.js";

/** The result of a list operation, with all pages combined. */
export interface Listing {
  /**
   * Objects by ID. An object with an ID that no call can use is included under a key that
   * `assertId` refuses, because its name still counts.
   */
  readonly objects: ReadonlyMap<string, WireObject>;
  /** Whether all pages could be read. If not, absence from the list proves nothing. */
  readonly complete: boolean;
}

interface ListOptions {
  /** Requests the list again. */
  readonly fresh?: boolean;
  /** Called after each page, even of a list that another caller requested. */
  readonly onPage?: (progress: ListProgress) => void;
}

/** The five operations of a collection (specification §4.1). Every failure is a ConversationError. */
export interface Collections {
  /**
   * Reads the list once per collection and connection, unless `fresh` is set. All callers share the
   * list, and the write operations keep it up to date.
   */
  list(definition: Definition, options?: ListOptions): Promise<Listing>;
  /**
   * Finds the object in the list; undefined if the list does not contain it or is too long to be
   * worth reading. In both cases, call `read`.
   */
  find(definition: Definition, id: string): Promise<WireObject | undefined>;
  /**
   * Reads the object; undefined if the service responds with 404. Nothing else counts as absence,
   * and a 404 counts only at a URL known to be the service's; otherwise the call fails with
   * `BAD_RESPONSE`.
   */
  read(definition: Definition, id: string): Promise<WireObject | undefined>;
  /**
   * Creates an object. Never repeats a POST whose effect is unknown. Returns the content of the
   * response, with at least the ID; if the response lacks `created` and `modified`, they are set to
   * the time of the response.
   */
  create(definition: Definition, body: WireObject): Promise<WireObject & { readonly id: string }>;
  /**
   * Replaces an object. Fails with `NOT_FOUND` if the object no longer exists, under the same
   * conditions as `read`. Returns the time of the change or, if the response does not state it, the
   * time of the response.
   */
  replace(
    definition: Definition,
    id: string,
    body: WireObject,
  ): Promise<{ readonly modified?: string }>;
  /** Deletes an object. Succeeds if it no longer exists, under the same conditions as `read`. */
  remove(definition: Definition, id: string): Promise<void>;
  /**
   * Returns the service's time in milliseconds since 1970, accurate to about a second. Until a
   * response shows that time, returns this machine's time, or undefined if the machine's clock was
   * never set.
   */
  now(): number | undefined;
}

/**
 * Whether a change or deletion may have happened although its response did not come from the
 * service, so that only the object itself can show what happened.
 */
export const isUnclear = (error: unknown): boolean =>
  isConversationError(error, "BAD_RESPONSE") && error.effect !== "none";

const goneSince = ({ message, details }: ConversationError): ConversationError =>
  new ConversationError(
    "NOT_FOUND",
    `${message} If it was deleted outside Pulumi, run: pulumi refresh`,
    details,
  );

/** After a failed write its effect is unknown to the caller, and so also to the cache. */
const guarded = async <T>(cache: ListCache, write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!isConversationError(error) || error.effect !== "none") cache.forget();
    throw error;
  }
};

type Watch = (progress: ListProgress) => void;

/** Listeners to the pages of each collection. */
const pageWatchers = () => {
  const watching = new Map<string, Set<Watch>>();
  return {
    listener:
      ({ collection }: Definition): Watch =>
      (progress) => {
        for (const watch of watching.get(collection) ?? []) watch(progress);
      },
    during: async <T>({ collection }: Definition, watch: Watch, work: () => Promise<T>) => {
      const all = watching.get(collection) ?? new Set();
      watching.set(collection, all.add(watch));
      try {
        return await work();
      } finally {
        all.delete(watch);
      }
    },
  };
};

/** The parts that the collections of one connection need besides a way to call. */
interface CollectionParts {
  readonly request: DatedRequest;
  readonly address: ServiceAddress;
  readonly time: ServiceTime;
  /** Maximum total bytes of all lists. Default: derived from the memory of this process. */
  readonly listBytes?: number | undefined;
}

/** Returns the setup collections, accessed over HTTP (specification §4.1). */
export const restCollections = ({
  request,
  address,
  time,
  listBytes,
}: CollectionParts): Collections => {
  const budget = new ListBudget(listBytes);
  const caches = new Map<string, ListCache>();
  const watchers = pageWatchers();
  const firstPage = async (definition: Definition) => {
    const read = budget.reading(definition, request);
    const page = await readFirstPage(read, definition, watchers.listener(definition));
    address.confirm();
    return page;
  };
  const cacheOf = (definition: Definition): ListCache => {
    const known = caches.get(definition.collection);
    const cache = known ?? new ListCache(() => firstPage(definition));
    caches.set(definition.collection, cache);
    return cache;
  };
  const written = async (
    definition: Definition,
    action: "update" | "delete",
    { id, body }: { readonly id: string; readonly body?: WireObject },
  ): Promise<DatedAnswer> => {
    const sent = body && { body, fields: definition.fields };
    const answer = await request(setUpOperation(definition, action), { id, ...sent });
    address.confirm();
    return answer;
  };
  /** Returns the 404 if it is proven to mean absence. */
  const absent = async (definition: Definition, error: unknown): Promise<ConversationError> => {
    if (!isConversationError(error, "NOT_FOUND")) throw error;
    await address.assertAbsent(definition, error, () => cacheOf(definition).answered());
    return error;
  };

  const read = async (definition: Definition, id: string): Promise<WireObject | undefined> => {
    const operation = setUpOperation(definition, "get");
    assertId(id, definition.noun);
    try {
      const object = readObject(operation, await request(operation, { id }));
      address.confirm();
      return object;
    } catch (error) {
      await absent(definition, error);
      return undefined;
    }
  };

  return {
    list: async (definition, { fresh = false, onPage } = {}) => {
      const listing = () => (fresh ? cacheOf(definition).fresh() : cacheOf(definition).get());
      return onPage ? watchers.during(definition, onPage, listing) : listing();
    },

    find: async (definition, id) => cacheOf(definition).find(id),

    read,

    create: (definition, body) =>
      guarded(cacheOf(definition), async () => {
        const operation = setUpOperation(definition, "create");
        const answer = await request(operation, { body, fields: definition.fields });
        const times = readTimes(answer, ["created", "modified"]);
        const created = readCreated(operation, answer);
        address.confirm();
        // Only times from the service: it may refuse a PUT that carries another one.
        cacheOf(definition).wrote(created.id, { ...body, ...created });
        return { ...created, ...times };
      }),

    replace: (definition, id, body) =>
      guarded(cacheOf(definition), async () => {
        assertId(id, definition.noun);
        const gone = async (error: unknown) => {
          throw goneSince(await absent(definition, error));
        };
        const answer = await written(definition, "update", { id, body }).catch(gone);
        const cache = cacheOf(definition);
        const { modified: _, ...kept } = { ...cache.known(id), ...body };
        cache.wrote(id, { ...kept, id });
        return readTimes(answer, ["modified"]);
      }),

    remove: (definition, id) =>
      guarded(cacheOf(definition), async () => {
        assertId(id, definition.noun);
        try {
          await written(definition, "delete", { id });
        } catch (error) {
          // If something else answered instead of the service, only the object can show the effect.
          if (!isUnclear(error)) await absent(definition, error);
          else if (await read(definition, id)) throw error;
        }
        cacheOf(definition).wrote(id, undefined);
      }),

    now: time.now,
  };
};

/** Knowledge of one connection about the server at its address. */
interface ServiceAddress {
  /** Records that the address answered as only the service does. */
  confirm(): void;
  /**
   * Resolves if a 404 for an object means that the object does not exist.
   *
   * @param refusal the 404
   * @param list requests the list of the kind, unless a request is already in progress
   * @throws ConversationError `BAD_RESPONSE` if the address is not the service's, or the reason why
   *   the list cannot be read
   */
  assertAbsent(
    definition: Definition,
    refusal: ConversationError,
    list: () => Promise<unknown>,
  ): Promise<void>;
}

/**
 * Whether a refusal has the form of the service's own: a code that begins with the status, and a
 * message.
 */
const isOwnRefusal = ({ status, serviceCode = "", serviceMessage }: ErrorDetails): boolean =>
  status !== undefined &&
  new RegExp(`^${status}-\\d+$`).test(serviceCode) &&
  serviceMessage !== undefined;

/** Codes that the service's own list never fails with. */
const foreignCodes: readonly ConversationErrorCode[] = ["NOT_FOUND", "BAD_RESPONSE"];

const isRefusal = ({ status = 0 }: ErrorDetails): boolean => status >= 400 && status < 500;

/** Describes how the list failed. */
const failureText = ({ code, details: { status = 0 } }: ConversationError): string => {
  if (code === "NOT_FOUND") return "also returns a 404";
  return status >= 300 ? `is redirected (${status})` : "returns an unusable response";
};

const wrongAddress = (
  definition: Definition,
  settings: Settings,
  refusal: ConversationError,
  failure: ConversationError,
): ConversationError => {
  const list = endpointName(setUpOperation(definition, "list"));
  return new ConversationError(
    "BAD_RESPONSE",
    `${refusal.message} But ${list} ${failureText(failure)}, so this URL does not seem to belong to the service. The object stays in the state. ${addressAdvice(settings)}`,
    { ...refusal.details, permanent: true },
    "none",
    { cause: failure },
  );
};

/**
 * Accepts a 404 only at a URL known to be the service's. A wrong base path returns 404 for
 * everything, and a run that mistook this for absence would empty its state.
 */
export const serviceAddress = (settings: Settings): ServiceAddress => {
  let isService = false;
  return {
    confirm: () => {
      isService = true;
    },
    assertAbsent: async (definition, refusal, list) => {
      // A gateway in front of the service may lack the path of just this kind: only its list shows
      // that.
      const isProven = () => isService && isOwnRefusal(refusal.details);
      if (isProven()) return;
      try {
        await list();
      } catch (error) {
        if (!isConversationError(error)) throw error;
        // Meanwhile another call was answered: only this list fails.
        if (isProven()) return;
        if (foreignCodes.includes(error.code))
          throw wrongAddress(definition, settings, refusal, error);
        // The service itself refuses a client that may not list, and one that asks for a missing
        // object.
        const isOwn = isOwnRefusal(refusal.details) && isOwnRefusal(error.details);
        if (!(isOwn && isRefusal(error.details))) throw error;
      }
    },
  };
};

/** The result of an own write to an object; undefined: it is gone. */
interface Write {
  readonly id: string;
  readonly object: WireObject | undefined;
}

/**
 * A listing is continued for one object by up to this many pages: more objects are likely to be
 * requested.
 */
const pagesForOne = 4;

/**
 * The listing of one collection: requested once, shared by all callers, and updated by own writes.
 * A listing in progress during a write does not undo the result of the write.
 */
class ListCache {
  readonly #first: () => Promise<FirstPage>;
  /**
   * The first page of a listing in progress, or of one whose other pages were not worth their calls
   * so far.
   */
  #begun: Promise<FirstPage> | undefined;
  /** IDs of the objects that were requested. */
  readonly #wanted = new Set<string>();
  #kept: Promise<Listing> | undefined;
  /**
   * The failure of a listing that is too large: reading so much again for each caller would be
   * futile.
   */
  #tooLarge: Promise<Listing> | undefined;
  #running: Promise<Listing> | undefined;
  #following: Promise<Listing> | undefined;
  #objects: Map<string, WireObject> | undefined;
  /** Own writes since the listing in progress started. */
  #writes: Write[] = [];
  #doubtful = false;

  constructor(first: () => Promise<FirstPage>) {
    this.#first = first;
  }

  /** The cached listing, the one in progress, or a new one. */
  get(): Promise<Listing> {
    return this.#kept ?? this.#running ?? this.#tooLarge ?? this.#start();
  }

  /**
   * The first page, cached, in progress, or new: resolves when the service has answered with a list.
   */
  async answered(): Promise<void> {
    await (this.#kept ?? this.#begin());
  }

  /**
   * The object as the listing shows it, or undefined. If the listing is long and few objects are
   * requested, only its first page is read: requesting them one by one is cheaper.
   */
  async find(id: string): Promise<WireObject | undefined> {
    if (!this.#kept && !this.#tooLarge) {
      this.#wanted.add(id);
      const begun = this.#begin();
      const page = await begun;
      const isEnough = page.objects.has(id) || !(this.#running || this.#isWorthReading(page));
      if (isEnough && this.#begun === begun && !this.#doubtful) return this.#shown(page, id);
    }
    return (await this.get()).objects.get(id);
  }

  #begin(): Promise<FirstPage> {
    if (this.#begun) return this.#begun;
    this.#writes = [];
    this.#doubtful = false;
    const begun = this.#first();
    begun.catch((error) => {
      if (this.#begun === begun) this.#begun = undefined;
      // Another request would be refused, too: the refusal is as good an answer as a listing.
      if (isConversationError(error, "FORBIDDEN")) this.#keep(refused(error));
    });
    this.#begun = begun;
    return begun;
  }

  #isWorthReading({ objects, callsLeft }: FirstPage): boolean {
    const elsewhere = [...this.#wanted].filter((id) => !objects.has(id));
    return callsLeft === 0 || callsLeft < pagesForOne * elsewhere.length;
  }

  #shown({ objects }: FirstPage, id: string): WireObject | undefined {
    const written = this.#writes.findLast((write) => write.id === id);
    return written ? written.object : objects.get(id);
  }

  /** A listing that starts after this call; callers in the meantime share it. */
  fresh(): Promise<Listing> {
    if (!this.#running) {
      this.#begun = undefined;
      return this.#start();
    }
    this.#following ??= this.#afterRunning(this.#running);
    return this.#following;
  }

  wrote(id: string, object: WireObject | undefined): void {
    if (this.#begun) this.#writes.push({ id, object });
    if (this.#objects) apply(this.#objects, id, object);
  }

  /** The cached object. */
  known(id: string): WireObject | undefined {
    return this.#objects?.get(id);
  }

  /** A write may or may not have had an effect: the cached content is no longer reliable. */
  forget(): void {
    this.#doubtful = true;
    if (!this.#running) this.#begun = undefined;
    this.#keep(undefined);
  }

  async #afterRunning(running: Promise<Listing>): Promise<Listing> {
    try {
      await running;
    } catch {
      // Its own callers receive the failure; the next listing tries again.
    }
    this.#following = undefined;
    return this.#start();
  }

  #start(): Promise<Listing> {
    this.#tooLarge = undefined;
    const listing = this.#listed(this.#begin());
    this.#running = listing;
    return listing;
  }

  async #listed(begun: Promise<FirstPage>): Promise<Listing> {
    try {
      const { objects, complete } = await (await begun).rest();
      for (const { id, object } of this.#writes) apply(objects, id, object);
      const listing: Listing = { objects, complete };
      if (!this.#doubtful) this.#keep(Promise.resolve(listing), objects);
      return listing;
    } catch (error) {
      if (isTooLarge(error)) this.#tooLarge = refused(error);
      throw error;
    } finally {
      this.#begun = undefined;
      this.#running = undefined;
    }
  }

  #keep(listing: Promise<Listing> | undefined, objects?: Map<string, WireObject>): void {
    this.#kept = listing;
    this.#objects = objects;
  }
}

const refused = (error: unknown): Promise<Listing> => {
  const promise = Promise.reject(error);
  promise.catch(() => undefined);
  return promise;
};

const apply = (
  objects: Map<string, WireObject>,
  id: string,
  object: WireObject | undefined,
): void => {
  if (object) objects.set(id, object);
  else objects.delete(id);
};
