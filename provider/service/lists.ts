import { hash } from "node:crypto";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import { isObject, type JsonObject, valueAt } from "../kernel/json.js";
import { isId } from "../kernel/object-id.js";
import type { Answer, Request } from "./client.js";
import type { Operation } from "./operations.js";

/** An object as the service sends it. */
export type WireObject = Readonly<Record<string, unknown>>;

/** The result of a list operation, with all pages combined. */
export interface Listing {
  /**
   * Objects by ID. An object with an ID that no call can use is included under a key that
   * `assertId` refuses, because its name still counts.
   */
  readonly objects: ReadonlyMap<string, WireObject>;
  /** Whether all pages could be read. If not, absence from the list proves nothing. */
  readonly complete: boolean;
  /**
   * Whether its pages counted different numbers of objects: objects were added or removed between
   * two pages, so one that moved to another page may be missing.
   */
  readonly moved: boolean;
}

interface Page {
  readonly items: readonly JsonObject[];
  /** Number of objects on all pages: undefined if there is no paging, NaN if it is not known. */
  readonly count: number | undefined;
  /** Number of objects on a full page; NaN if it is not known. */
  readonly size: number;
}

/** Sibling services number their pages from 1 to 999. */
const mostPages = 999;

/** A listing whose objects own writes change. */
export type OwnListing = Listing & { readonly objects: Map<string, WireObject> };

/** How often a list is read from which objects disappear meanwhile. */
const mostReadings = 3;

/**
 * Reads a list, again if an object was removed meanwhile: another one that moved to an earlier page
 * would be missing.
 */
export const readList = async (
  request: Request,
  operation: Operation,
  listKey: string,
): Promise<OwnListing> => {
  for (let reading = 1; ; reading++) {
    const { hasShrunk, ...listing } = await readPages(request, operation, listKey);
    if (listing.complete || !hasShrunk || reading === mostReadings) return listing;
  }
};

/**
 * Reads a list with all its pages (`$pagenum`, assumed) until as many objects have arrived as the
 * service has reported at most. Requests larger pages (`$pagesize`, assumed) if this saves calls and
 * the service supports it.
 */
const readPages = async (
  request: Request,
  operation: Operation,
  listKey: string,
): Promise<OwnListing & { readonly hasShrunk: boolean }> => {
  const counts = new Set<number | undefined>();
  const read = async (query: Readonly<Record<string, number>> = {}): Promise<Page> => {
    const page = readPage(operation, listKey, await request(operation, { query }));
    counts.add(page.count);
    return page;
  };
  /** A further page, or undefined if the service refuses to give one. */
  const readFurther = async (query: Readonly<Record<string, number>>) => {
    try {
      return await read(query);
    } catch (error) {
      if (isConversationError(error, "REJECTED", "NOT_FOUND")) return undefined;
      throw error;
    }
  };
  const first = await read();
  const isWorthIt = isWorthWidening(first.count ?? 0, first.size);
  const wide = isWorthIt && (await readFurther({ $pagenum: 1, $pagesize: widestPage }));
  const isWider = wide && wide.size > first.size;
  const width = isWider ? { $pagesize: widestPage } : {};
  const objects = new Map<string, WireObject>();
  let page: Page | undefined = isWider ? wide : first;
  let most = 0;
  let hasShrunk = false;
  for (let number = 1; page; number++) {
    const { count, items }: Page = page;
    const before = objects.size;
    // A foreign object with a strange id must not block its kind: its name still counts.
    for (const item of items) objects.set(listingKey(item), item);
    hasShrunk ||= count !== undefined && count < most;
    most = Math.max(most, count ?? 0);
    const isAll = count === undefined ? number === 1 : objects.size >= most;
    if (isAll) return { objects, complete: true, moved: counts.size > 1, hasShrunk };
    const isOver: boolean = objects.size === before || !count || number === mostPages;
    page = isOver ? undefined : await readFurther({ $pagenum: number + 1, ...width });
  }
  return { objects, complete: false, moved: counts.size > 1, hasShrunk };
};

const readPage = (operation: Operation, listKey: string, { body }: Answer): Page => {
  const paging = isObject(body) ? body.paginationInfo : undefined;
  const count = paging === undefined ? undefined : readNumber(valueAt(paging, "count"));
  // An empty collection may omit its array.
  const items = valueAt(body, listKey) ?? (count === 0 ? [] : undefined);
  if (!Array.isArray(items)) throw unusable(operation, `has no list named ${listKey}`);
  if (!items.every(isObject)) throw unusable(operation, "lists something that is not an object");
  return { items, count, size: readNumber(valueAt(paging, "pagesize")) };
};

const readNumber = (value: unknown): number =>
  typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : Number.NaN;

const unusable = ({ title, method, template }: Operation, what: string): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${title}: the response to ${method} ${template} ${what}. Check that the base URL belongs to the service.`,
    { method, template },
  );

/**
 * Returns the key of an object in a list: its ID or, if that is not valid, a text that no call takes
 * for one. The same object on another page has the same key.
 */
const listingKey = (object: JsonObject): string =>
  isId(object.id)
    ? object.id
    : `(unusable ID, ${hash("sha256", JSON.stringify(object)).slice(0, 16)})`;

/** How many objects a page has if the caller does not ask for a number (vendor). */
export const usualPage = 25;

/** The largest page size that sibling services support (assumed; parameter `$pagesize`). */
const widestPage = 75;

const pagesOf = (count: number, size: number): number => Math.max(1, Math.ceil(count / size));

/**
 * Whether to start again with the largest pages, once the first page has shown how many objects
 * there are. This costs a call, which is wasted if the service does not support larger pages, so it
 * must save two. False if a number is unknown.
 */
const isWorthWidening = (count: number, pageSize: number): boolean =>
  pageSize > 0 && pagesOf(count, pageSize) - (1 + pagesOf(count, widestPage)) >= 2;

/**
 * Number of calls needed to read a list of `count` objects if the service's default page size is
 * `pageSize`.
 */
export const listCalls = (count: number, pageSize: number): number =>
  isWorthWidening(count, pageSize) ? 1 + pagesOf(count, widestPage) : pagesOf(count, pageSize);
