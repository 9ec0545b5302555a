import { expect } from "vitest";
import { isObject } from "../../../provider/kernel/json.js";
import { type Act, acts, nextTry, type Operation } from "./acts.js";
import type { CourseCell } from "./cell.js";
import { endedAs, heldBy, inOrder, type Observed, waiting } from "./observed.js";
import { create, type Entry } from "./resource.js";
import { Stage } from "./stage.js";

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

const assertFailure = (error: unknown, { fails, withId }: CourseCell): void => {
  expect(error).toBeInstanceOf(Error);
  expect((error as Error).message).toMatch(fails ?? /^$/);
  if (withId) expect(error).toHaveProperty("id");
  else expect(error).not.toHaveProperty("id");
};

/** What a failure said, as far as the cell looks at it; ports differ from run to run. */
const saidBy = (error: unknown, { fails }: CourseCell): string => {
  const [said = ""] = (fails && error instanceof Error && fails.exec(error.message)) || [];
  const text = said.replaceAll(/(127\.0\.0\.1):\d+/g, "$1");
  return `“${text}…”${isObject(error) && "id" in error ? " with the id" : ""}: `;
};

/** The disturbed operation: performed, looked at, and told. */
const disturbed = async (stage: Stage, act: Act, entry: Entry, cell: CourseCell) => {
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
export const runCourse = async (operation: Operation, cell: CourseCell): Promise<Observed> => {
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

const assertWaited = (waited: number, { waits }: CourseCell): void => {
  if (!waits) return;
  expect(waited).toBeGreaterThanOrEqual(waits[0]);
  expect(waited).toBeLessThanOrEqual(waits[1]);
};
