import { getHeapStatistics } from "node:v8";
import type { Definition } from "../../definition/define.js";
import { ConversationError } from "../../kernel/errors.js";
import { resources } from "../../resources/index.js";
import type { DatedRequest, Request } from "../http/client.js";
import { endpointName, type Operation } from "../http/operations.js";

const mebibyte = 1024 * 1024;

/**
 * The part of the memory that lists may take as bytes of the service's answers. Ordinary objects take
 * three times their bytes in memory, the smallest ones five times (measured); lists may be read once
 * more while the earlier ones are still in use; and a command makes its own picture of them.
 */
const partOfMemory = 1 / 16;

/** Bytes that the lists of one connection may take together, in the memory that this process has. */
const bytesForLists = (): number => getHeapStatistics().heap_size_limit * partOfMemory;

const inMebibytes = (bytes: number): string => `${(bytes / mebibyte).toFixed(1)} MiB`;

/** Failures that asking again cannot mend. */
const tooLarge = new WeakSet<object>();

/** Whether a list could not be read because it is too large. */
export const isTooLarge = (error: unknown): boolean =>
  typeof error === "object" && error !== null && tooLarge.has(error);

/**
 * The bytes of all lists that one connection reads and keeps, each by its last reading. A list that
 * takes no more than its equal share is never refused because of the others.
 */
export class ListBudget {
  readonly #bytes = new Map<string, number>();
  readonly #most: number;

  constructor(most = bytesForLists()) {
    this.#most = most;
  }

  /**
   * The way to read a list once: what an earlier reading took does not count any more.
   *
   * @throws ConversationError from its calls: `BAD_RESPONSE` where the list has become too large
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
      // Nothing of it is kept.
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
    const came = `${inMebibytes(own)} came in ${pages === 1 ? "1 page" : `${pages} pages`}`;
    const beside = all > own ? `, ${inMebibytes(all)} with the lists of other kinds` : "";
    const error = new ConversationError(
      "BAD_RESPONSE",
      `Could not ${title}: the answers of ${endpointName(operation)} are too large to be kept. ${came}${beside}; in ${memory} MiB of memory there is room for ${inMebibytes(this.#most)}. Look at what fills the list. If it has to be so large, give Node.js more memory: NODE_OPTIONS=--max-old-space-size=${2 * memory}`,
      { method, template, permanent: true },
    );
    tooLarge.add(error);
    return error;
  }
}
