import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import {
  type Arrivals,
  chaosProgram,
  cleanUp,
  disturbedUp,
  doorRounds,
  namesOf,
  playRounds,
  type Round,
  round,
} from "../support/chaos-rounds.js";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

const fault = fc.record({
  on: fc.constantFrom(
    ...resources.flatMap(({ collection }) => [
      `POST /${collection}`,
      `PUT /${collection}/{id}`,
      `DELETE /${collection}/{id}`,
    ]),
  ),
  kind: fc.constantFrom("drop-before-commit", "drop-after-commit", "truncate", "not-json"),
});

const disturbedRound = fc.record({
  played: round,
  faults: fc.array(fault, { minLength: 4, maxLength: 12 }),
});

const foreign = {
  id: "7b1d1bb3-0d4e-4d53-8d7e-3f6f0c9a2a10",
  created: "2026-01-01T00:00:00.000Z",
  modified: "2026-01-01T00:00:00.000Z",
  type: "custom.other",
  displayName: "Other",
  icon: "aa",
};

describe.each(doorRounds)("%s", (door, count) => {
  let project: EmulatedProject;
  let kills = 0;

  beforeAll(async () => {
    project = await emulatedProject(chaosProgram, {}, {}, door);
    await project.control("PUT", "/snapshot", { version: 1, objects: { channels: [foreign] } });
  });

  afterAll(() => project?.close());

  /** Looks at the emulator's log again and again. */
  const arrived: Arrivals["arrived"] = async (count, signal) => {
    const calls = async () => (await project.log()).length;
    const until = (await calls()) + count;
    while (!signal.aborted && (await calls()) < until) await pause(20);
  };

  const play = async (played: Round, faults: readonly unknown[]): Promise<void> => {
    if (faults.length > 0) await project.control("POST", "/faults", faults);
    if (await disturbedUp(project, played, { arrived })) kills += 1;
    await project.control("DELETE", "/faults");
    await cleanUp(project, played);
    const own = (await project.objects()).filter(({ id }) => id !== foreign.id);
    expect(namesOf(own, played.version)).toEqual([...played.names].sort());
    expect(await project.objects()).toContainEqual(foreign);
  };

  test(`${count} rounds of faults and kills through the real engine end with exactly what is declared`, {
    timeout: count * 600_000,
  }, async () => {
    await playRounds(project, { of: disturbedRound, count }, ({ played, faults }) =>
      play(played, faults),
    );
    console.log(`killed ${kills} times`);
    expect(await project.objects()).toEqual([foreign]);
  });
});
