import { expect } from "vitest";
import { isObject } from "../../../provider/kernel/json.js";
import { type Act, acts, nextTry, type Operation } from "./acts.js";
import type { DisturbedCell, Outcome } from "./cell.js";
import { create, type Entry } from "./resource.js";
import { Stage } from "./stage.js";

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

const nothing: Entry = { id: "none", state: {} };

const outcome = async (
  promise: Promise<unknown>,
): Promise<{ error?: unknown; value?: unknown }> => {
  try {
    return { value: await promise };
  } catch (error) {
    return { error };
  }
};

/** What the service holds, as one text. */
const held = async (stage: Stage): Promise<string> =>
  JSON.stringify(await stage.hub.objects("channels"));

const assertFailure = (error: unknown, { fails, withId }: DisturbedCell): void => {
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toMatch(fails ?? /^$/);
  if (withId) expect(error).toHaveProperty("id");
  else expect(error).not.toHaveProperty("id");
};

/** What a failure said, as far as the cell looks at it; ports differ from run to run. */
const saidBy = (error: unknown, { fails }: DisturbedCell): string => {
  const [said = ""] = (fails && error instanceof Error && fails.exec(error.message)) || [];
  const text = said.replaceAll(/(127\.0\.0\.1):\d+/g, "$1");
  return `“${text}…”${isObject(error) && "id" in error ? " with the id" : ""}: `;
};

/** The disturbed operation: performed, looked at, and told. */
const disturbed = async (stage: Stage, act: Act, entry: Entry, cell: DisturbedCell) => {
  const before = await held(stage);
  stage.sent.length = 0;
  const waited = stage.waited;
  const { error, value } = await outcome(act.perform(stage, entry));
  if (cell.fails) assertFailure(error, cell);
  else if (error) throw error;
  expect(stage.sentTo(act.on), `${act.on} sent`).toBe(cell.sends);
  assertWaited(stage.waited - waited, cell);
  if (cell.fails && !cell.acted) expect(await held(stage)).toBe(before);
  const seen = inOrder(stage.sent) + waiting(stage.waited - waited);
  return { error, value, seen: cell.fails ? saidBy(error, cell) + seen : seen };
};

/**
 * Disturbs an operation, looks at how it ends, and runs once more undisturbed: then the operation
 * has done what it is for, exactly once.
 */
export const runDisturbed = async (
  operation: Operation,
  cell: DisturbedCell,
): Promise<Observed> => {
  await using stage = await Stage.open();
  const act = acts[operation];
  const entry = act.needs === "nothing" ? nothing : await create(stage);
  stage.nextRun();
  await cell.arrange(stage, act.on, operation);
  const { error, value, seen } = await disturbed(stage, act, entry, cell);
  if (!cell.fails) {
    await act.proven(stage, value, entry);
    return { ended: endedAs(stage.outcomes), seen: `${seen} → ${await heldBy(stage)}` };
  }
  await stage.calm();
  stage.nextRun();
  stage.sent.length = 0;
  await nextTry(stage, act, entry, error);
  const then = `next run: ${inOrder(stage.sent)} → ${await heldBy(stage)}`;
  return { ended: endedAs(stage.outcomes), seen: `${seen}; ${then}` };
};

const assertWaited = (waited: number, { waits }: DisturbedCell): void => {
  if (!waits) return;
  expect(waited).toBeGreaterThanOrEqual(waits[0]);
  expect(waited).toBeLessThanOrEqual(waits[1]);
};
