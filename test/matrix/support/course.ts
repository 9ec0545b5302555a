import { expect } from "vitest";
import { acts, nextTry, type Operation } from "./acts.js";
import type { CourseCell } from "./cell.js";
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

/**
 * Disturbs an operation, looks at how it ends, and runs once more undisturbed: then the operation
 * has done what it is for, exactly once.
 */
export const runCourse = async (operation: Operation, cell: CourseCell): Promise<void> => {
  await using stage = await Stage.open();
  const act = acts[operation];
  const entry = act.needs === "nothing" ? nothing : await create(stage);
  const before = await held(stage);
  stage.nextRun();
  await cell.arrange(stage, act.on, operation);
  stage.sent.length = 0;
  const waited = stage.waited;
  const { error, value } = await outcome(act.perform(stage, entry));
  if (cell.fails) assertFailure(error, cell);
  else if (error) throw error;
  expect(stage.sentTo(act.on), `${act.on} sent`).toBe(cell.sends);
  assertWaited(stage.waited - waited, cell);
  if (!cell.fails) {
    await act.proven(stage, value, entry);
    return;
  }
  if (!cell.acted) expect(await held(stage)).toBe(before);
  await stage.calm();
  stage.nextRun();
  await nextTry(stage, act, entry, error);
};

const assertWaited = (waited: number, { waits }: CourseCell): void => {
  if (!waits) return;
  expect(waited).toBeGreaterThanOrEqual(waits[0]);
  expect(waited).toBeLessThanOrEqual(waits[1]);
};
