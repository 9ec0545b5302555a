import { AssertionError } from "node:assert";
import type { DeliveryEntry } from "../../../emulator/index.js";
import { differences, shown } from "./differences.js";
import type { HubCall } from "./hub-records.js";

/** How many calls of each endpoint, such as `{ "POST /participants": 2 }`. */
export type ExpectedCalls = Readonly<Record<string, number>>;

/** Calls by endpoint; refused ones count like others. */
export const countsOf = (calls: readonly HubCall[]): ExpectedCalls => {
  const groups = Map.groupBy(calls, ({ endpoint }) => endpoint);
  return Object.fromEntries([...groups].map(([endpoint, own]) => [endpoint, own.length]));
};

const times = (count: number): string =>
  count === 0 ? "no call" : count === 1 ? "1 call" : `${count} calls`;

/**
 * Exactly these calls; endpoints that are not named must not have been called.
 *
 * @throws AssertionError with a line for each endpoint that differs
 */
export const assertCalls = (calls: readonly HubCall[], expected: ExpectedCalls): void => {
  const actual = countsOf(calls);
  const names = [...new Set([...Object.keys(expected), ...Object.keys(actual)])];
  const wrong = names.filter((name) => (expected[name] ?? 0) !== (actual[name] ?? 0));
  if (wrong.length === 0) return;
  const lines = wrong.map(
    (name) => `  ${name}: expected ${times(expected[name] ?? 0)}, made ${times(actual[name] ?? 0)}`,
  );
  throw new AssertionError({
    message: ["The calls to the service are not those expected:", ...lines].join("\n"),
    actual,
    expected,
    operator: "expectCalls",
  });
};

/** What is expected of one delivery; what is left out may be anything. */
export interface ExpectedDelivery {
  /** The callback, without its query. */
  readonly url?: string | RegExp;
  /** Such as `text`. */
  readonly type?: string | RegExp;
  /** What the callback answered. Default: any 2xx. */
  readonly status?: number;
  /** The sender's own id of the message. */
  readonly messageId?: string | RegExp;
}

/** The first try to deliver that is as expected. */
export const deliveryLike = (
  tries: readonly DeliveryEntry[],
  { status, ...expected }: ExpectedDelivery,
): DeliveryEntry | undefined =>
  tries.find((each) => {
    const answered = each.status ?? 0;
    const fits = status === undefined ? answered >= 200 && answered <= 299 : answered === status;
    return fits && differences(expected, each).length === 0;
  });

const tryLine = ({ type, url, attempt, status, error }: DeliveryEntry): string =>
  `  ${type} to ${url || "nobody"}, try ${attempt}: ${status ?? error ?? "no answer"}`;

/** What to say where no delivery is as expected. */
export const noDelivery = (
  expected: ExpectedDelivery,
  withinMs: number,
  tries: readonly DeliveryEntry[],
): AssertionError => {
  const last = tries.slice(-10).map(tryLine);
  const so = last.length === 0 ? ["Nothing was delivered."] : ["Deliveries so far:", ...last];
  return new AssertionError({
    message: [`No delivery like ${shown(expected)} within ${withinMs / 1000} s.`, ...so].join("\n"),
    operator: "expectDelivery",
  });
};
