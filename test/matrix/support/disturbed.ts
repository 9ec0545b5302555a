import { expect } from "vitest";
import { acts, type Operation } from "./acts.js";
import type { DisturbedCell } from "./cell.js";
import { create, type Entry } from "./resource.js";
import { Stage } from "./stage.js";

const nothing: Entry = { id: "none", state: {} };

/** What the service holds, as one text. */
const held = async (stage: Stage): Promise<string> =>
  JSON.stringify(await stage.hub.objects("channels"));

/**
 * Disturbs an operation, looks at how it ends, and runs once more undisturbed: then the operation
 * has done what it is for, exactly once.
 */
export const runDisturbed = async (operation: Operation, cell: DisturbedCell): Promise<void> => {
  await using stage = await Stage.open();
  const act = acts[operation];
  const entry = act.needs === "nothing" ? nothing : await create(stage);
  stage.nextRun();
  await cell.arrange(stage, act.on, operation);
  const before = { objects: await held(stage), waited: stage.waited };
  stage.sent.length = 0;
  const [ended] = await Promise.allSettled([act.perform(stage, entry)]);
  expect(stage.sentTo(act.on), `${act.on} sent`).toBe(cell.sends);
  if (cell.waits) {
    const waited = stage.waited - before.waited;
    expect(waited).toBeGreaterThanOrEqual(cell.waits[0]);
    expect(waited).toBeLessThanOrEqual(cell.waits[1]);
  }
  if (ended.status === "fulfilled") {
    expect(cell.fails).toBeUndefined();
    await act.proven(stage, ended.value, entry);
    return;
  }
  const { reason } = ended;
  if (!cell.fails) throw reason;
  expect(reason).toBeInstanceOf(Error);
  expect(reason.message).toMatch(cell.fails);
  expect(reason).not.toHaveProperty("id");
  expect(await held(stage)).toBe(before.objects);
  await stage.calm();
  stage.nextRun();
  await act.proven(stage, await act.perform(stage, entry), entry);
};
