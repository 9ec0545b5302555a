import type { Switches } from "../control/switches.js";
import type { StoredObject } from "../objects/store.js";
import { Refusal } from "./refusal.js";

interface Page {
  readonly items: readonly StoredObject[];
  readonly paginationInfo: {
    readonly count: number;
    readonly pagenum: number;
    readonly pagesize: number;
  };
}

/** Query parameters of a sibling service (assumed). */
const spans = { $pagenum: [1, 999], $pagesize: [1, 75] } as const;

const numberOf = (query: URLSearchParams, name: keyof typeof spans, fallback: number): number => {
  const [text, ...more] = query.getAll(name);
  if (text === undefined) return fallback;
  const [min, max] = spans[name];
  const number = /^\d{1,4}$/.test(text) && more.length === 0 ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new Refusal(400, "400-152", `${name} must be a whole number from ${min} to ${max}.`, [
    { key: name, value: `must be ${min} to ${max}` },
  ]);
};

const assertKnown = (query: URLSearchParams): void => {
  const unknown = [...query.keys()].find((name) => !Object.hasOwn(spans, name));
  if (unknown !== undefined) {
    throw new Refusal(
      400,
      "400-101",
      `The query parameter ${unknown.slice(0, 60)} is not supported.`,
    );
  }
};

/** The part of a list that the query asks for. */
export const page = (
  objects: readonly StoredObject[],
  query: URLSearchParams,
  switches: Switches,
): Page => {
  if (switches.unknownQuery === "refuse") assertKnown(query);
  const count = objects.length;
  if (switches.paging === "all") {
    return { items: objects, paginationInfo: { count, pagenum: 1, pagesize: Math.max(1, count) } };
  }
  const pagenum = numberOf(query, "$pagenum", 1);
  const pagesize = numberOf(query, "$pagesize", switches.pageSize);
  const items = objects.slice((pagenum - 1) * pagesize, pagenum * pagesize);
  return { items, paginationInfo: { count, pagenum, pagesize } };
};
