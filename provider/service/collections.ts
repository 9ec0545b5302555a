import type { Definition } from "../definition/define.js";
import {
  ConversationError,
  type Effect,
  type ErrorDetails,
  isConversationError,
} from "../kernel/errors.js";
import { isObject } from "../kernel/json.js";
import { assertId, isId } from "../kernel/object-id.js";
import type { DatedAnswer, Request } from "./client.js";
import { type Listing, type OwnListing, readList, type WireObject } from "./lists.js";
import { type Operation, type SetUpAction, setUpOperation } from "./operations.js";
import { addressAdvice, type Settings } from "./settings.js";
import { endpointName, type ServiceTime } from "./transport.js";

/** The five operations of a collection (specification §4.1). Every failure is a ConversationError. */
export interface Collections {
  /**
   * Reads the list once per collection and connection, unless `fresh` is set. All callers share the
   * list, and the write operations keep it up to date.
   */
  list(definition: Definition, options?: { readonly fresh?: boolean }): Promise<Listing>;
  /** Finds the object in the list; if the list does not contain it, call `read`. */
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
  create(
    definition: Definition,
    body: WireObject,
  ): Promise<WireObject & Times & { readonly id: string }>;
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

interface CollectionParts {
  readonly request: Request;
  readonly address: ServiceAddress;
  readonly time: ServiceTime;
}

interface Kind {
  readonly operations: Readonly<Record<SetUpAction, Operation>>;
  readonly cache: ListCache;
}

/** Returns the setup collections, accessed over HTTP (specification §4.1). */
export const restCollections = ({ request, address, time }: CollectionParts): Collections => {
  const kinds = new Map<string, Kind>();

  const prepareKind = (definition: Definition): Kind => {
    const operation = (action: SetUpAction) => setUpOperation(definition, action);
    const list = operation("list");
    const cache = new ListCache(async () => {
      const listing = await readList(request, list, definition.listKey);
      address.confirm();
      return listing;
    });
    const operations = {
      list,
      create: operation("create"),
      get: operation("get"),
      update: operation("update"),
      delete: operation("delete"),
    };
    return { operations, cache };
  };

  const kindOf = (definition: Definition): Kind => {
    let kind = kinds.get(definition.collection);
    if (!kind) {
      kind = prepareKind(definition);
      kinds.set(definition.collection, kind);
    }
    return kind;
  };

  /** Returns the 404 if it is proven to mean absence. */
  const assertAbsent = async ({ operations, cache }: Kind, error: unknown) => {
    if (!isConversationError(error, "NOT_FOUND")) throw error;
    await address.assertAbsent(operations.list, error, () => cache.get());
    return error;
  };

  const read = async (definition: Definition, id: string): Promise<WireObject | undefined> => {
    const kind = kindOf(definition);
    const operation = kind.operations.get;
    assertId(id, definition.noun);
    try {
      const { body, status } = await request(operation, { id });
      if (!isObject(body)) throw wrongAnswer(operation, status, "is not a JSON object");
      address.confirm();
      return body;
    } catch (error) {
      await assertAbsent(kind, error);
      return undefined;
    }
  };

  return {
    list: async (definition, { fresh = false } = {}) => {
      const { cache } = kindOf(definition);
      return fresh ? cache.fresh() : cache.get();
    },

    find: async (definition, id) => (await kindOf(definition).cache.get()).objects.get(id),

    read,

    create: async (definition, body) => {
      const { operations, cache } = kindOf(definition);
      const { create } = operations;
      return cache.during(async () => {
        const answer = await request(create, { body, fields: definition.fields });
        const made = answer.body;
        // Without an ID it is unknown which object was created, if any.
        if (!isObject(made) || !isId(made.id))
          throw wrongAnswer(create, answer.status, "has no usable ID", "unknown");
        address.confirm();
        const created = { ...made, id: made.id };
        // Only times from the service: it may refuse a PUT that carries another one.
        cache.wrote(made.id, { ...body, ...created });
        return { ...created, ...readTimes(answer, ["created", "modified"]) };
      });
    },

    replace: async (definition, id, body) => {
      const kind = kindOf(definition);
      const { operations, cache } = kind;
      return cache.during(async () => {
        assertId(id, definition.noun);
        try {
          const sent = { id, body, fields: definition.fields };
          const answer = await request(operations.update, sent);
          address.confirm();
          const { modified: _, ...kept } = { ...cache.known(id), ...body };
          cache.wrote(id, { ...kept, id });
          return readTimes(answer, ["modified"]);
        } catch (error) {
          const { message, details } = await assertAbsent(kind, error);
          throw new ConversationError(
            "NOT_FOUND",
            `${message} If it was deleted outside Pulumi, run: pulumi refresh`,
            details,
          );
        }
      });
    },

    remove: async (definition, id) => {
      const kind = kindOf(definition);
      return kind.cache.during(async () => {
        assertId(id, definition.noun);
        try {
          await request(kind.operations.delete, { id });
          address.confirm();
        } catch (error) {
          // If something else answered instead of the service, only the object can show the effect.
          if (!isUnclear(error)) await assertAbsent(kind, error);
          else if (await read(definition, id)) throw error;
        }
        kind.cache.wrote(id, undefined);
      });
    },

    now: time.now,
  };
};

/**
 * Whether a change or deletion may have happened although its response did not come from the
 * service, so that only the object itself can show what happened.
 */
export const isUnclear = (error: unknown): boolean =>
  isConversationError(error, "BAD_RESPONSE") && error.effect !== "none";

const wrongAnswer = (
  { title, method, template }: Operation,
  status: number,
  what: string,
  effect: Effect = "none",
): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${title}: ${method} ${template} was accepted (${status}), but the response ${what}.`,
    { method, template, status },
    effect,
  );

type Times = { readonly created?: string; readonly modified?: string };

/**
 * When an object was created or changed: the time that the response contains, otherwise the
 * response's arrival time. Absent if neither is known.
 */
const readTimes = ({ body, date }: DatedAnswer, names: readonly (keyof Times)[]): Times =>
  Object.fromEntries(
    names.flatMap((name): [string, string][] => {
      const given = isObject(body) ? body[name] : undefined;
      if (typeof given === "string") return [[name, given]];
      return date === undefined ? [] : [[name, new Date(date).toISOString()]];
    }),
  );

/** Knowledge of one connection about the server at its address. */
interface ServiceAddress {
  /** Records that the address answered as only the service does. */
  confirm(): void;
  /**
   * Resolves if a 404 for an object means that the object does not exist.
   *
   * @param list operation that lists the kind
   * @param refusal the 404
   * @param readList requests the list, unless it is known or a request is in progress
   * @throws ConversationError `BAD_RESPONSE` if the address is not the service's, or the reason why
   *   the list cannot be read
   */
  assertAbsent(
    list: Operation,
    refusal: ConversationError,
    readList: () => Promise<unknown>,
  ): Promise<void>;
}

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
    assertAbsent: async (list, refusal, readList) => {
      // A gateway in front of the service may lack the path of just this kind: only its list shows
      // that.
      if (isService && isOwnRefusal(refusal.details)) return;
      try {
        await readList();
      } catch (error) {
        // Codes that the service's own list never fails with.
        if (isConversationError(error, "NOT_FOUND", "BAD_RESPONSE"))
          throw wrongAddress(settings, list, refusal, error);
        // The service itself refuses a client that may not list.
        const isOwn =
          isConversationError(error, "FORBIDDEN") &&
          [refusal, error].every(({ details }) => isOwnRefusal(details));
        if (!isOwn) throw error;
      }
    },
  };
};

/**
 * Whether a refusal has the form of the service's own: a code that begins with the status, and a
 * message.
 */
const isOwnRefusal = ({ status, serviceCode = "", serviceMessage }: ErrorDetails): boolean =>
  status !== undefined &&
  new RegExp(`^${status}-\\d+$`).test(serviceCode) &&
  serviceMessage !== undefined;

const wrongAddress = (
  settings: Settings,
  list: Operation,
  refusal: ConversationError,
  cause: ConversationError,
): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `${refusal.message} But ${endpointName(list)} is not answered as by the service, so this URL does not seem to belong to the service. The object stays in the state. ${addressAdvice(settings)}`,
    { ...refusal.details, permanent: true },
    "none",
    { cause },
  );

/**
 * The listing of one collection: requested once, shared by all callers, and updated by own writes.
 * A listing in progress during a write does not undo the result of the write.
 */
class ListCache {
  readonly #read: () => Promise<OwnListing>;
  #kept: OwnListing | undefined;
  /** Another request would be refused, too. */
  #refusal: ConversationError | undefined;
  #running: Promise<Listing> | undefined;
  #following: Promise<Listing> | undefined;
  /** Objects by ID as own writes left them since the listing in progress started. */
  readonly #written = new Map<string, WireObject | undefined>();
  /** A write since then may or may not have had an effect. */
  #isDoubtful = false;

  constructor(read: () => Promise<OwnListing>) {
    this.#read = read;
  }

  /** The cached listing, the one in progress, or a new one. */
  async get(): Promise<Listing> {
    if (this.#refusal) throw this.#refusal;
    return this.#kept ?? this.#running ?? this.#start();
  }

  /** A listing that starts after this call; callers in the meantime share it. */
  fresh(): Promise<Listing> {
    if (!this.#running) return this.#start();
    this.#following ??= this.#startAfter(this.#running);
    return this.#following;
  }

  async #startAfter(running: Promise<Listing>): Promise<Listing> {
    // Its own callers receive a failure; the next listing tries again.
    await running.catch(() => undefined);
    this.#following = undefined;
    return this.#start();
  }

  #start(): Promise<Listing> {
    this.#refusal = undefined;
    this.#isDoubtful = false;
    this.#written.clear();
    this.#running = this.#readNow();
    return this.#running;
  }

  async #readNow(): Promise<Listing> {
    try {
      const listing = await this.#read();
      for (const [id, object] of this.#written) setObject(listing, id, object);
      this.#kept = this.#isDoubtful ? undefined : listing;
      return listing;
    } catch (error) {
      if (isConversationError(error, "FORBIDDEN")) this.#refusal = error;
      throw error;
    } finally {
      this.#running = undefined;
    }
  }

  /** Runs a write. After a failed one, whose effect may be unknown, the cache is no longer reliable. */
  async during<T>(write: () => Promise<T>): Promise<T> {
    try {
      return await write();
    } catch (error) {
      if (!isConversationError(error) || error.effect !== "none") {
        this.#isDoubtful = true;
        this.#kept = undefined;
      }
      throw error;
    }
  }

  wrote(id: string, object: WireObject | undefined): void {
    this.#written.set(id, object);
    if (this.#kept) setObject(this.#kept, id, object);
  }

  known(id: string): WireObject | undefined {
    return this.#kept?.objects.get(id);
  }
}

const setObject = ({ objects }: OwnListing, id: string, object: WireObject | undefined): void => {
  if (object) objects.set(id, object);
  else objects.delete(id);
};
