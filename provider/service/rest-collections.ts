import type { Definition } from "../definition/define.js";
import { isObject } from "../definition/json.js";
import { isId } from "../definition/object-id.js";
import type { Answer } from "./answers.js";
import type { Request } from "./client.js";
import type { Collections, WireObject } from "./collections.js";
import { ConversationError, type Effect, isConversationError } from "./errors.js";
import { assertId } from "./identifiers.js";
import { ListCache } from "./list-cache.js";
import { type Operation, setUpOperation } from "./operations.js";
import { readFirstPage } from "./pages.js";
import { secretTexts } from "./secret-texts.js";

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

const objectOf = (operation: Operation, { body, status }: Answer): WireObject => {
  if (isObject(body)) return body;
  throw wrongAnswer(operation, status, "its answer is not a JSON object");
};

/** Without an id that can be used later nobody can tell which object was made, if any. */
const createdOf = (operation: Operation, { body, status }: Answer) => {
  if (isObject(body) && isId(body.id)) return { ...body, id: body.id };
  throw wrongAnswer(operation, status, "its answer holds no usable id", "unknown");
};

/** The caller cannot know what a failed write did, so neither can the cache. */
const guarded = async <T>(cache: ListCache, write: () => Promise<T>): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!isConversationError(error) || error.effect !== "none") cache.forget();
    throw error;
  }
};

/** The set-up collections over HTTP (specification §4.1). */
export const restCollections = (request: Request): Collections => {
  const caches = new Map<string, ListCache>();
  const cacheOf = (definition: Definition): ListCache => {
    const known = caches.get(definition.collection);
    const cache = known ?? new ListCache(() => readFirstPage(request, definition));
    caches.set(definition.collection, cache);
    return cache;
  };

  return {
    list: async (definition, options = {}) =>
      options.fresh ? cacheOf(definition).fresh() : cacheOf(definition).get(),

    find: async (definition, id) => cacheOf(definition).find(id),

    read: async (definition, id) => {
      const operation = setUpOperation(definition, "get");
      try {
        assertId(id, definition.noun);
        return objectOf(operation, await request(operation, { id }));
      } catch (error) {
        if (isConversationError(error, "NOT_FOUND")) return undefined;
        throw error;
      }
    },

    create: (definition, body) =>
      guarded(cacheOf(definition), async () => {
        const operation = setUpOperation(definition, "create");
        const secrets = secretTexts(definition.fields, body);
        const created = createdOf(operation, await request(operation, { body, secrets }));
        cacheOf(definition).wrote(created.id, { ...body, ...created });
        return created;
      }),

    replace: (definition, id, body) =>
      guarded(cacheOf(definition), async () => {
        assertId(id, definition.noun);
        const secrets = secretTexts(definition.fields, body);
        await request(setUpOperation(definition, "update"), { id, body, secrets });
        const cache = cacheOf(definition);
        cache.wrote(id, { ...cache.known(id), ...body, id });
      }),

    remove: (definition, id) =>
      guarded(cacheOf(definition), async () => {
        assertId(id, definition.noun);
        try {
          await request(setUpOperation(definition, "delete"), { id });
        } catch (error) {
          if (!isConversationError(error, "NOT_FOUND")) throw error;
        }
        cacheOf(definition).wrote(id, undefined);
      }),
  };
};
