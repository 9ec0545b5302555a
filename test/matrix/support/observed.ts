import { isObject } from "../../../provider/kernel/json.js";
import type { Stage } from "./stage.js";
import type { Outcome } from "./watched.js";

/** How a cell's test ended: without a failure, with one, or with one that the next run made good. */
export type Ended = "done" | "failed" | "failed, then done";

/** What the test of one cell saw, for the table. */
export interface Observed {
  readonly ended: Ended;
  /** In words: the calls, the waiting, and what the service holds in the end. */
  readonly seen: string;
}

const short: Readonly<Record<string, string>> = {
  TOKEN: "token",
  "GET /channels": "list",
  "GET /channels/{id}": "GET",
  "POST /channels": "POST",
  "PUT /channels/{id}": "PUT",
  "DELETE /channels/{id}": "DELETE",
};

const counted = (name: string, times: number): string => {
  const shown = short[name] ?? `\`${name}\``;
  return times === 1 ? shown : `${shown} ×${times}`;
};

/** Calls in their order, such as `list, POST ×2, list`. */
export const inOrder = (calls: readonly string[]): string => {
  const runs: { name: string; times: number }[] = [];
  for (const name of calls) {
    const last = runs.at(-1);
    if (last?.name === name) last.times += 1;
    else runs.push({ name, times: 1 });
  }
  return runs.map(({ name, times }) => counted(name, times)).join(", ") || "no call";
};

/** Calls whose order does not matter, such as `token, POST ×100`. */
export const inAll = (calls: readonly string[]): string => {
  const names = [...new Set(calls)];
  const times = (name: string): number => calls.filter((each) => each === name).length;
  return names.map((name) => counted(name, times(name))).join(", ") || "no call";
};

/** Whole seconds on the run's clock, where there is one. */
export const waiting = (ms: number): string =>
  ms < 500 ? "" : ` (waited ${Math.round(ms / 1000)} s)`;

/** How it ended, seen from how its operations ended. */
export const endedAs = (outcomes: readonly Outcome[]): Ended => {
  if (!outcomes.includes("failed")) return "done";
  return outcomes.at(-1) === "failed" ? "failed" : "failed, then done";
};

/** How many objects of each collection the service holds. */
export const heldBy = async (stage: Stage): Promise<string> => {
  const snapshot = await stage.hub.control("GET", "/snapshot");
  const objects = isObject(snapshot) && isObject(snapshot.objects) ? snapshot.objects : {};
  const held = Object.entries(objects).flatMap(([collection, all]) => {
    const { length } = Array.isArray(all) ? all : [];
    return length === 0 ? [] : [`${length} ${length === 1 ? collection.slice(0, -1) : collection}`];
  });
  return held.join(", ") || "no object";
};
