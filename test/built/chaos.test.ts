import { setTimeout as pause } from "node:timers/promises";
import fc from "fast-check";
import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { resources } from "../../provider/resources/index.js";
import {
  type Arrivals,
  chaosProgram,
  chaosSeed,
  cleanUp,
  disturbedUp,
  namesOf,
  type Round,
  round,
  roundCount,
} from "../support/chaos-rounds.js";
import { type CliProject, cliProject } from "../support/cli-project.js";

const fault = fc.record({
  on: fc.constantFrom(
    ...resources.flatMap(({ collection }) => [
      `POST /${collection}`,
      `PUT /${collection}/{id}`,
      `DELETE /${collection}/{id}`,
    ]),
  ),
  kind: fc.constantFrom("drop-before-commit", "drop-after-commit", "truncate", "not-json", "no-id"),
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

let emulator: Emulator;
let project: CliProject;
let kills = 0;

const control = (path: string, method: string, body?: unknown): Promise<Response> =>
  fetch(emulator.controlUrl + path, { method, ...(body ? { body: JSON.stringify(body) } : {}) });

type Snapshot = { objects: Record<string, { id: string; description?: string }[]> };

const objects = async () =>
  Object.values(((await (await control("/snapshot", "GET")).json()) as Snapshot).objects).flat();

beforeAll(async () => {
  emulator = await startEmulator();
  await control("/snapshot", "PUT", { version: 1, objects: { channels: [foreign] } });
  project = await cliProject(chaosProgram, emulatorEnvironment(emulator));
});

afterAll(async () => {
  project?.remove();
  await emulator?.close();
});

/** Looks at the emulator's log again and again. */
const arrived: Arrivals["arrived"] = async (count, signal) => {
  const calls = async () => ((await (await control("/log", "GET")).json()) as unknown[]).length;
  const until = (await calls()) + count;
  while (!signal.aborted && (await calls()) < until) await pause(20);
};

const play = async (played: Round, faults: readonly unknown[]): Promise<void> => {
  if (faults.length > 0) await control("/faults", "POST", faults);
  if (await disturbedUp(project, played, { arrived })) kills += 1;
  await control("/faults", "DELETE");
  await cleanUp(project, played);
  const own = (await objects()).filter(({ id }) => id !== foreign.id);
  expect(namesOf(own, played.version)).toEqual([...played.names].sort());
  expect(await objects()).toContainEqual(foreign);
};

test(`${roundCount} rounds of faults and kills through the real engine end with exactly what is declared`, {
  timeout: roundCount * 120_000,
}, async () => {
  const seed = chaosSeed();
  const rounds = fc.sample(disturbedRound, { numRuns: roundCount, seed });
  for (const [number, { played, faults }] of rounds.entries()) {
    await play(played, faults).catch((cause: unknown) => {
      throw new Error(`seed ${seed}, round ${number}: ${JSON.stringify(played)}`, { cause });
    });
  }
  console.log(`killed ${kills} times`);
  const { code, output } = await project.pulumi(["destroy", "--yes", "--skip-preview"]);
  expect(code === 0 ? "" : output).toBe("");
  expect(await objects()).toEqual([foreign]);
});
