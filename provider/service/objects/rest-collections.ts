import type { Definition } from "../../definition/define.js";
import { ConversationError, isConversationError } from "../../kernel/errors.js";
import { assertId } from "../../kernel/object-id.js";
import type { DatedAnswer } from "../http/answers.js";
import type { DatedRequest } from "../http/client.js";
import { setUpOperation } from "../http/operations.js";
import type { ServiceAddress } from "./absence.js";
import { answeredObject, createdOf, isUnclear, timesOf } from "./answered-objects.js";
import type { Collections, ListProgress, WireObject } from "./collections.js";
import { ListBudget } from "./list-budget.js";
import { ListCache } from "./list-cache.js";
import { readFirstPage } from "./pages.js";
import type { ServiceTime } from "./service-time.js";

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

/** Who is told of the pages of which collection. */
const pageWatchers = () => {
  const watching = new Map<string, Set<Watch>>();
  return {
    tell:
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
export interface CollectionParts {
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
    const page = await readFirstPage(read, definition, watchers.tell(definition));
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
        // Only what the service told: a PUT that carries another time may be refused.
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
          // Where somebody else answered in place of the service, only the object tells.
          if (!isUnclear(error)) await absent(definition, error);
          else if (await read(definition, id)) throw error;
        }
        cacheOf(definition).wrote(id, undefined);
      }),

    now: time.now,
  };
};
