import type { Definition } from "../definition/define.js";
import {
  ConversationError,
  type ConversationErrorCode,
  type Effect,
  type ErrorDetails,
  isConversationError,
} from "../kernel/errors.js";
import { isObject } from "../kernel/json.js";
import { assertId, isId } from "../kernel/object-id.js";
import type { Answer, DatedAnswer, ServiceTime } from "./http/call.js";
import type { DatedRequest } from "./http/client.js";
import { endpointName, type Operation, setUpOperation } from "./http/operations.js";
import {
  type FirstPage,
  isTooLarge,
  ListBudget,
  type ListProgress,
  readFirstPage,
  type WireObject,
} from "./lists.js";
import type { Settings } from "./setting-table.js";
import { addressAdvice } from "./settings.js";

/** What the list operation answered, all pages together. */
export interface Listing {
  /**
   * By id. An object whose id no call can use is there under a text that `assertId` refuses, as its
   * name is taken all the same.
   */
  readonly objects: ReadonlyMap<string, WireObject>;
  /** False where the pages could not all be had: absence from the listing then proves nothing. */
  readonly complete: boolean;
}

interface ListOptions {
  /** Asks the service again. */
  readonly fresh?: boolean;
  /** Called after each page, also of a list that another caller asked for. */
  readonly onPage?: (progress: ListProgress) => void;
}

/** The five operations of a collection (specification §4.1). Every failure is a ConversationError. */
export interface Collections {
  /** One paged list per collection and process, shared by all callers and kept up to date by the writes below. */
  list(definition: Definition, options?: ListOptions): Promise<Listing>;
  /** The object as the list shows it; undefined where it does not, or where so much of it is not worth reading: then `read` knows. */
  find(definition: Definition, id: string): Promise<WireObject | undefined>;
  /**
   * The object, or undefined where the service says 404. Nothing else counts as absence, and a 404
   * only at an address that was seen to be the service's: else it fails with `BAD_RESPONSE`.
   */
  read(definition: Definition, id: string): Promise<WireObject | undefined>;
  /**
   * Never repeats a POST whose effect is unknown. Gives back what the answer holds, at least the id;
   * `created` and `modified`, where the answer does not hold them, by the time of the answer.
   */
  create(definition: Definition, body: WireObject): Promise<WireObject & { readonly id: string }>;
  /**
   * Fails with `NOT_FOUND` where the object is gone, believed like that of `read`. Gives back when the
   * object was changed: by its answer, or by the time of the answer.
   */
  replace(
    definition: Definition,
    id: string,
    body: WireObject,
  ): Promise<{ readonly modified?: string }>;
  /** Succeeds where the object is already gone, believed like that of `read`. */
  remove(definition: Definition, id: string): Promise<void>;
  /**
   * The service's time in milliseconds since 1970, good to about a second; this machine's as long as
   * no answer showed another, undefined if that was never set.
   */
  now(): number | undefined;
}

/** Whether a change or deletion may have been made although its answer is none of the service's: only the object shows it. */
export const isUnclear = (error: unknown): boolean =>
  isConversationError(error, "BAD_RESPONSE") && error.effect !== "none";

const goneSince = ({ message, details }: ConversationError): ConversationError =>
  new ConversationError(
    "NOT_FOUND",
    `${message} If it was deleted behind the program's back, run: pulumi refresh`,
    details,
  );

/** The caller cannot know what a failed write did, so neither can the cache. */
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

/** What the collections of one connection need besides a way to call. */
interface CollectionParts {
  readonly request: DatedRequest;
  readonly address: ServiceAddress;
  readonly time: ServiceTime;
  /** Bytes that all lists may take together. Default: by the memory of this process. */
  readonly listBytes?: number | undefined;
}

/** The set-up collections over HTTP (specification §4.1). */
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
  /** The 404 where it is proven to mean absence. */
  const absent = async (definition: Definition, error: unknown): Promise<ConversationError> => {
    if (!isConversationError(error, "NOT_FOUND")) throw error;
    await address.assertAbsent(definition, error, () => cacheOf(definition).answered());
    return error;
  };

  const read = async (definition: Definition, id: string): Promise<WireObject | undefined> => {
    const operation = setUpOperation(definition, "get");
    assertId(id, definition.noun);
    try {
      const object = answeredObject(operation, await request(operation, { id }));
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
        const created = createdOf(operation, answer);
        const times = timesOf(answer, ["created", "modified"]);
        address.confirm();
        // Only what the service showed: a PUT that carries another time may be refused.
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
        return timesOf(answer, ["modified"]);
      }),

    remove: (definition, id) =>
      guarded(cacheOf(definition), async () => {
        assertId(id, definition.noun);
        try {
          await written(definition, "delete", { id });
        } catch (error) {
          // Where somebody else answered in place of the service, only the object shows it.
          if (!isUnclear(error)) await absent(definition, error);
          else if (await read(definition, id)) throw error;
        }
        cacheOf(definition).wrote(id, undefined);
      }),

    now: time.now,
  };
};

/** What a connection knows about the other end of its address. */
interface ServiceAddress {
  /** The address has answered as only the service does. */
  confirm(): void;
  /**
   * Resolves where a 404 for an object means that the object is not there.
   *
   * @param refusal the 404
   * @param list asks for the list of the kind, unless somebody does already
   * @throws ConversationError `BAD_RESPONSE` where the address is not the service's, or why the list
   * cannot be had
   */
  assertAbsent(
    definition: Definition,
    refusal: ConversationError,
    list: () => Promise<unknown>,
  ): Promise<void>;
}

/** Whether a refusal has the form of the service's own: a code that begins with the status, and a message. */
const isOwnRefusal = ({ status, serviceCode = "", serviceMessage }: ErrorDetails): boolean =>
  status !== undefined &&
  new RegExp(`^${status}-\\d+$`).test(serviceCode) &&
  serviceMessage !== undefined;

/** What the list of the service itself is never answered with. */
const foreignCodes: readonly ConversationErrorCode[] = ["NOT_FOUND", "BAD_RESPONSE"];

const isRefusal = ({ status = 0 }: ErrorDetails): boolean => status >= 400 && status < 500;

/** What the list did instead of answering. */
const failureText = ({ code, details: { status = 0 } }: ConversationError): string => {
  if (code === "NOT_FOUND") return "is answered 404, too";
  return status >= 300 ? `is redirected (${status})` : "gives an answer that cannot be used";
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
    `${refusal.message} But ${list} ${failureText(failure)}, so this address does not look like the service. Nothing was taken for gone. ${addressAdvice(settings)}`,
    { ...refusal.details, permanent: true },
    "none",
    { cause: failure },
  );
};

/**
 * Believes a 404 only at an address that was seen to be the service's: a wrong base path answers 404
 * to everything, and a run that took this for absence would empty its state.
 */
export const serviceAddress = (settings: Settings): ServiceAddress => {
  let isService = false;
  return {
    confirm: () => {
      isService = true;
    },
    assertAbsent: async (definition, refusal, list) => {
      // A way in front of the service may lack the path of this one kind: only its list shows that.
      const isProven = () => isService && isOwnRefusal(refusal.details);
      if (isProven()) return;
      try {
        await list();
      } catch (error) {
        if (!isConversationError(error)) throw error;
        // Another call was answered meanwhile: only this list is out of order.
        if (isProven()) return;
        if (foreignCodes.includes(error.code))
          throw wrongAddress(definition, settings, refusal, error);
        // Who may not list is refused by the service itself, as is who asks for what is gone.
        const isOwn = isOwnRefusal(refusal.details) && isOwnRefusal(error.details);
        if (!(isOwn && isRefusal(error.details))) throw error;
      }
    },
  };
};

const wrongAnswer = (
  operation: Operation,
  status: number,
  what: string,
  effect: Effect = "none",
): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${operation.title}: ${operation.method} ${operation.template} was accepted (${status}), but ${what}.`,
    { method: operation.method, template: operation.template, status },
    effect,
  );

/** The object that a GET answers with. */
const answeredObject = (operation: Operation, { body, status }: Answer): WireObject => {
  if (isObject(body)) return body;
  throw wrongAnswer(operation, status, "its answer is not a JSON object");
};

/** What a POST answers with. Without an id that can be used later nobody can know which object was made, if any. */
const createdOf = (operation: Operation, { body, status }: Answer) => {
  if (isObject(body) && isId(body.id)) return { ...body, id: body.id };
  throw wrongAnswer(operation, status, "its answer holds no usable id", "unknown");
};

type Times = { readonly created?: string; readonly modified?: string };

/** When an object was made or changed: as the answer says, else by the time of the answer. */
const timesOf = ({ body, date }: DatedAnswer, names: readonly (keyof Times)[]): Times =>
  Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const given = isObject(body) ? body[name] : undefined;
      if (typeof given === "string") return [[name, given]];
      return date === undefined ? [] : [[name, new Date(date).toISOString()]];
    }),
  );

/** What an own write made of an object; undefined: it is gone. */
interface Write {
  readonly id: string;
  readonly object: WireObject | undefined;
}

/** A listing is read on for one object in so many of its further pages: others are likely to follow. */
const pagesForOne = 4;

/**
 * The listing of one collection: asked for once, shared by all who want it, and kept true by own
 * writes. A listing that was under way during a write does not undo what the write showed.
 */
class ListCache {
  readonly #first: () => Promise<FirstPage>;
  /** The first page of a listing under way, or of one whose other pages were not worth their calls so far. */
  #begun: Promise<FirstPage> | undefined;
  /** Objects that were looked for. */
  readonly #wanted = new Set<string>();
  #kept: Promise<Listing> | undefined;
  /** The failure of a listing that is too large: to read so much again for each caller would be in vain. */
  #tooLarge: Promise<Listing> | undefined;
  #running: Promise<Listing> | undefined;
  #following: Promise<Listing> | undefined;
  #objects: Map<string, WireObject> | undefined;
  /** Own writes since the listing under way was started. */
  #writes: Write[] = [];
  #doubtful = false;

  constructor(first: () => Promise<FirstPage>) {
    this.#first = first;
  }

  /** The listing kept, or the one under way, or a new one. */
  get(): Promise<Listing> {
    return this.#kept ?? this.#running ?? this.#tooLarge ?? this.#start();
  }

  /** The first page, kept, under way or new: resolves where the service has answered with a list. */
  async answered(): Promise<void> {
    await (this.#kept ?? this.#begin());
  }

  /**
   * The object as the listing shows it, or undefined. Where the listing is long and few objects are
   * looked for, only its first page is read: asking for them one by one is cheaper.
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
      // Asking again would be refused again: the refusal is as good an answer as a listing.
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

  /** A listing that starts after this call; callers meanwhile share it. */
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

  /** What is kept of an object. */
  known(id: string): WireObject | undefined {
    return this.#objects?.get(id);
  }

  /** A write may or may not have had an effect: nothing that is kept can be vouched for. */
  forget(): void {
    this.#doubtful = true;
    if (!this.#running) this.#begun = undefined;
    this.#keep(undefined);
  }

  async #afterRunning(running: Promise<Listing>): Promise<Listing> {
    try {
      await running;
    } catch {
      // Its own callers get the failure; the next listing is another try.
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
