import type { Definition } from "../definition/define.js";
import { isObject } from "../definition/json.js";
import { isId } from "../definition/object-id.js";
import type { Answer } from "./answers.js";
import type { Request } from "./client.js";
import type { WireObject } from "./collections.js";
import { ConversationError, isConversationError } from "./errors.js";
import { type Operation, setUpOperation } from "./operations.js";

/** All pages of a collection together. */
export interface Pages {
  readonly objects: Map<string, WireObject>;
  /** False: absence proves nothing. */
  readonly complete: boolean;
}

/** Sibling services number their pages from 1 to 999. */
const mostPages = 999;

const wrong = (operation: Operation, what: string): ConversationError =>
  new ConversationError(
    "BAD_RESPONSE",
    `Could not ${operation.title}: the answer of ${operation.method} ${operation.template} ${what}. Check that the base address is the service's own.`,
    { method: operation.method, template: operation.template },
  );

/** The key of a list is not certain for every kind, so a single array under another key will do. */
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
  // An empty collection may leave its array out.
  if (arrays.length === 0 && countOf(body) === 0) return [];
  throw wrong(operation, `holds no list named ${definition.listKey}`);
};

/** How many objects there are in all: undefined where paging is not spoken of, NaN where it makes no sense. */
const countOf = (body: unknown): number | undefined => {
  if (!isObject(body) || body.paginationInfo === undefined) return undefined;
  const count = isObject(body.paginationInfo) ? body.paginationInfo.count : undefined;
  return typeof count === "number" && Number.isInteger(count) && count >= 0 ? count : Number.NaN;
};

/** Adds a page and tells how many of its objects were new. */
const addPage = (
  objects: Map<string, WireObject>,
  operation: Operation,
  items: readonly unknown[],
): number => {
  const before = objects.size;
  for (const item of items) {
    if (!isObject(item) || !isId(item.id)) {
      throw wrong(operation, "holds an object without a usable id");
    }
    objects.set(item.id, item);
  }
  return objects.size - before;
};

/** A further page, or undefined where the service refuses to give one. */
const furtherPage = async (
  request: Request,
  operation: Operation,
  page: number,
): Promise<Answer | undefined> => {
  try {
    return await request(operation, { query: { $pagenum: page } });
  } catch (error) {
    if (isConversationError(error, "REJECTED", "NOT_FOUND")) return undefined;
    throw error;
  }
};

/**
 * Reads a whole collection: the first page as the specification has it, further ones by `$pagenum`
 * (assumed) for as long as fewer objects came than the service counts.
 */
export const readPages = async (request: Request, definition: Definition): Promise<Pages> => {
  const operation = setUpOperation(definition, "list");
  const objects = new Map<string, WireObject>();
  let answer: Answer | undefined = await request(operation);
  for (let page = 1; answer && page <= mostPages; page++) {
    const fresh = addPage(objects, operation, itemsOf(definition, operation, answer.body));
    const count = countOf(answer.body);
    if (count === undefined ? page === 1 : objects.size >= count)
      return { objects, complete: true };
    if (fresh === 0 || count === undefined || Number.isNaN(count)) break;
    answer = page < mostPages ? await furtherPage(request, operation, page + 1) : undefined;
  }
  return { objects, complete: false };
};
