import { hash } from "node:crypto";
import { getHeapStatistics } from "node:v8";
import type { Definition } from "../definition/define.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { isId, longestId } from "../kernel/object-id.js";
import { cleaned } from "../kernel/text.js";
import { resources } from "../resources/index.js";
import type { Answer } from "./answer.js";
import type { DatedRequest, Request } from "./client.js";
import { type Operation, setUpOperation } from "./operations.js";
import { endpointName } from "./pace.js";

/** An object as the service sends it. */
export type WireObject = Readonly<Record<string, unknown>>;

/** How much of a list has been read. */
export interface ListProgress {
  /** Number of objects received so far. */
  readonly objects: number;
  /** Number of calls needed for the remaining pages; 0 if unknown. */
  readonly callsLeft: number;
  /**
   * Total number of objects according to the last page. Absent if the service does not report it.
   */
  readonly count?: number;
}

const mebibyte = 1024 * 1024;

/**
 * The fraction of memory that lists may use, as bytes of the service's answers. Ordinary objects
 * take three times their bytes in memory, the smallest ones five times (measured); lists may be
 * read again while the earlier ones are still in use; and a command builds its own representation
 * of them.
 */
const partOfMemory = 1 / 16;

/** Maximum total bytes of the lists of one connection, given the memory of this process. */
const bytesForLists = (): number => getHeapStatistics().heap_size_limit * partOfMemory;

const inMebibytes = (bytes: number): string => `${(bytes / mebibyte).toFixed(1)} MiB`;

/** Failures that a repeat cannot fix. */
const tooLarge = new WeakSet<object>();

/** Whether an error means that a list was too large to read. */
export const isTooLarge = (error: unknown): boolean =>
  typeof error === "object" && error !== null && tooLarge.has(error);

/**
 * Limits the total size of the lists that one connection reads and keeps. Each list is counted
 * at its last known size. A list that is no larger than the limit divided by the number of kinds is
 * never refused because of the size of other lists.
 */
export class ListBudget {
  readonly #bytes = new Map<string, number>();
  readonly #most: number;

  constructor(most = bytesForLists()) {
    this.#most = most;
  }

  /**
   * Returns a request function that counts a list's pages toward the limit, in place of the list's
   * earlier size.
   *
   * @throws ConversationError from its calls: `BAD_RESPONSE` if the list has become too large
   */
  reading(definition: Definition, request: DatedRequest): Request {
    let [own, pages] = [0, 0];
    return async (operation, options) => {
      const answer = await request(operation, options);
      own += answer.bytes;
      pages += 1;
      this.#bytes.set(definition.collection, own);
      const all = [...this.#bytes.values()].reduce((sum, each) => sum + each, 0);
      if (all <= this.#most || own <= this.#most / resources.length) return answer;
      // No part of it is kept.
      this.#bytes.delete(definition.collection);
      throw this.#exceeded(operation, { own, all, pages });
    };
  }

  #exceeded(
    operation: Operation,
    { own, all, pages }: { readonly own: number; readonly all: number; readonly pages: number },
  ): ConversationError {
    const { method, template, title } = operation;
    const memory = Math.round(this.#most / partOfMemory / mebibyte);
    const came = `${inMebibytes(own)} arrived in ${pages === 1 ? "1 page" : `${pages} pages`}`;
    const beside = all > own ? `, ${inMebibytes(all)} with the lists of other kinds` : "";
    const error = new ConversationError(
      "BAD_RESPONSE",
      `Could not ${title}: the responses to ${endpointName(operation)} are too large to keep. ${came}${beside}; ${memory} MiB of memory has room for ${inMebibytes(this.#most)}. Check what fills the list. If it has to be that large, give Node.js more memory: NODE_OPTIONS=--max-old-space-size=${2 * memory}`,
      { method, template, permanent: true },
    );
    tooLarge.add(error);
    return error;
  }
}

/** All pages of a collection together. */
interface Pages {
  readonly objects: Map<string, WireObject>;
  /** False: absence proves nothing. */
  readonly complete: boolean;
}

/** The first page of a collection, and a way to read the other pages. */
export interface FirstPage {
  readonly objects: ReadonlyMap<string, WireObject>;
  /** Number of calls needed for the other pages; 0 if unknown. */
  readonly callsLeft: number;
  rest(): Promise<Pages>;
}

/** Sibling services number their pages from 1 to 999. */
const mostPages = 999;

const wrong = (operation: Operation, what: string): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${operation.title}: the response to ${operation.method} ${operation.template} ${what}. Check that the base URL belongs to the service.`,
    { method: operation.method, template: operation.template },
  );

/**
 * The key of a list is not certain for every kind, so a single array under another key is accepted.
 */
const itemsOf = (
  definition: Definition,
  operation: Operation,
  body: unknown,
): readonly unknown[] => {
  if (!isObject(body)) throw wrong(operation, "is not a JSON object");
  const named = body[definition.listKey];
  if (Array.isArray(named)) return named;
  const arrays = Object.values(body).filter((value) => Array.isArray(value));
  const [only, ...others] = arrays;
  if (only && others.length === 0) return only;
  // An empty collection may omit its array.
  if (arrays.length === 0 && countOf(body) === 0) return [];
  throw wrong(operation, `has no list named ${definition.listKey}`);
};

/** A number about the paging of a list: undefined if there is none, NaN if it is invalid. */
const pagingOf = (body: unknown, name: "count" | "pagesize"): number | undefined => {
  if (!isObject(body) || body.paginationInfo === undefined) return undefined;
  const given = isObject(body.paginationInfo) ? body.paginationInfo[name] : undefined;
  return typeof given === "number" && Number.isInteger(given) && given >= 0 ? given : Number.NaN;
};

/** The total number of objects. */
const countOf = (body: unknown): number | undefined => pagingOf(body, "count");

const progressOf = (objects: number, callsLeft: number, { body }: Answer): ListProgress => {
  const count = countOf(body);
  const isKnown = count !== undefined && !Number.isNaN(count);
  return { objects, callsLeft, ...(isKnown ? { count } : {}) };
};

/** Adds a page; returns the number of its objects that were new. */
const addPage = (
  objects: Map<string, WireObject>,
  operation: Operation,
  items: readonly unknown[],
): number => {
  const before = objects.size;
  const keyOf = listingKeys();
  for (const item of items) {
    if (!isObject(item)) throw wrong(operation, "contains something that is not an object");
    // A foreign object with a strange id must not block its kind: its name still counts.
    objects.set(keyOf(item), item);
  }
  return objects.size - before;
};

type Query = Readonly<Record<string, number>>;

/** A further page, or undefined if the service refuses to give one. */
const furtherPage = async (
  request: Request,
  operation: Operation,
  query: Query,
): Promise<Answer | undefined> => {
  try {
    return await request(operation, { query });
  } catch (error) {
    if (isConversationError(error, "REJECTED", "NOT_FOUND")) return undefined;
    throw error;
  }
};

/** Whether and by how much a list is longer than its first page, as far as the service says. */
const extentOf = ({ body }: Answer): { readonly count: number; readonly size: number } => ({
  count: countOf(body) || 0,
  size: pagingOf(body, "pagesize") || 0,
});

/**
 * The first page again, with the maximum page size; undefined if that saves nothing or is not
 * available.
 *
 * @param inVain called with a page that is not larger
 */
const widened = async (
  request: Request,
  operation: Operation,
  first: Answer,
  inVain: (page: Answer) => void,
): Promise<Answer | undefined> => {
  const { count, size } = extentOf(first);
  if (size === 0 || !isWorthWidening(count, size)) return undefined;
  const wide = await furtherPage(request, operation, { $pagenum: 1, $pagesize: widestPage });
  if (wide && extentOf(wide).size > size) return wide;
  if (wide) inVain(wide);
  return undefined;
};

export const callsLeft = (first: Answer): number => {
  const { count, size } = extentOf(first);
  return size === 0 ? 0 : listCalls(count, size) - 1;
};

/** Calls still to be made after so many objects have arrived in pages of this size. */
const callsAfter = (answer: Answer, objects: number): number => {
  const { count, size } = extentOf(answer);
  return size === 0 ? 0 : Math.max(0, Math.ceil((count - objects) / size));
};

type OnPage = (progress: ListProgress) => void;

/**
 * Reads the first page of a collection, as specified. `rest` reads the other pages with `$pagenum`
 * (assumed) until as many objects have arrived as the service reports. It requests larger pages
 * with `$pagesize` (assumed) if this saves calls and the service supports it.
 */
export const readFirstPage = async (
  request: Request,
  definition: Definition,
  onPage: OnPage = () => undefined,
): Promise<FirstPage> => {
  const operation = setUpOperation(definition, "list");
  const first = await request(operation);
  const objects = new Map<string, WireObject>();
  addPage(objects, operation, itemsOf(definition, operation, first.body));
  const rest = () => readRest(request, definition, first, objects, onPage);
  onPage(progressOf(objects.size, callsLeft(first), first));
  return { objects, callsLeft: callsLeft(first), rest };
};

const readRest = async (
  request: Request,
  definition: Definition,
  first: Answer,
  shown: ReadonlyMap<string, WireObject>,
  onPage: OnPage,
): Promise<Pages> => {
  const operation = setUpOperation(definition, "list");
  // A copy, because callers that look for an object still use the first page.
  const objects = new Map(shown);
  const add = (answer: Answer): number => {
    const fresh = addPage(objects, operation, itemsOf(definition, operation, answer.body));
    onPage(progressOf(objects.size, callsAfter(answer, objects.size), answer));
    return fresh;
  };
  const wide = await widened(request, operation, first, (page) =>
    onPage(progressOf(objects.size, callsLeft(first), page)),
  );
  let answer: Answer | undefined = wide ?? first;
  let fresh = wide ? add(wide) : objects.size;
  const width = wide ? { $pagesize: widestPage } : {};
  for (let page = 1; answer && page <= mostPages; page++) {
    const count = countOf(answer.body);
    if (count === undefined ? page === 1 : objects.size >= count)
      return { objects, complete: true };
    if (fresh === 0 || count === undefined || Number.isNaN(count) || page === mostPages) break;
    answer = await furtherPage(request, operation, { $pagenum: page + 1, ...width });
    fresh = answer ? add(answer) : 0;
  }
  return { objects, complete: false };
};

/** How many objects a page has if the caller does not ask for a number (vendor). */
export const usualPage = 25;

/** The largest page size that sibling services support (assumed; parameter `$pagesize`). */
const widestPage = 75;

const pagesOf = (count: number, size: number): number => Math.max(1, Math.ceil(count / size));

/**
 * Whether to start again with the largest pages, once the first page has shown how many objects
 * there are. This costs a call, which is wasted if the service does not support larger pages, so it
 * must save two.
 */
const isWorthWidening = (count: number, pageSize: number): boolean =>
  pagesOf(count, pageSize) - (1 + pagesOf(count, widestPage)) >= 2;

/**
 * Number of calls needed to read a list of `count` objects if the service's default page size is
 * `pageSize`.
 */
export const listCalls = (count: number, pageSize: number): number =>
  isWorthWidening(count, pageSize) ? 1 + pagesOf(count, widestPage) : pagesOf(count, pageSize);

const shownCharacters = 40;

const hashOf = (text: string): string => hash("sha256", text).slice(0, 16);

/** Other values, such as objects, are not IDs. */
const idText = (id: unknown): string | undefined =>
  (typeof id === "string" && id !== "") || typeof id === "number" ? String(id) : undefined;

/**
 * The key for an ID that no call can use: the ID itself if a message may show it, otherwise cut and
 * distinguished by a hash.
 */
const oddKey = (id: string): string =>
  id.length <= longestId && cleaned(id) === id
    ? id
    : `${cleaned(id.slice(0, shownCharacters))}… (${id.length} characters, ${hashOf(id)})`;

/**
 * Creates a function that returns the key of an object on one page: its ID or, if that is not
 * valid, a string that no call can use. The same object on another page has the same key.
 */
export const listingKeys = (): ((object: JsonObject) => string) => {
  const twins = new Map<string, number>();
  return (object) => {
    const id = idText(object.id);
    if (id !== undefined) return isId(id) ? id : oddKey(id);
    const hash = hashOf(JSON.stringify(object));
    const place = (twins.get(hash) ?? 0) + 1;
    twins.set(hash, place);
    return `(no id, ${hash}, ${place})`;
  };
};
