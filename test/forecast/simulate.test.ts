import { expect, test } from "vitest";
import { criticalPath } from "../../provider/forecast/forecast.js";
import { callsOf, type PlannedStep, stepFor } from "../../provider/forecast/planned-steps.js";
import {
  rateBucket,
  type SimulationOptions,
  simulate,
} from "../../provider/forecast/simulation.js";
import { typeToken } from "../../provider/pointer.js";

const step = (kind: string, name: string, after: readonly string[] = [], phase = 0): PlannedStep =>
  stepFor(
    { urn: `urn:pulumi:prod::shop::${typeToken(kind)}::${name}`, type: typeToken(kind) },
    "delete",
    phase,
    after,
  );

const times = (count: number, make: (index: number) => PlannedStep): readonly PlannedStep[] =>
  Array.from({ length: count }, (_, index) => make(index));

const run = (steps: readonly PlannedStep[], options: Partial<SimulationOptions> = {}) =>
  simulate(steps, {
    parallel: 8,
    roundTripSeconds: 0,
    limitOf: () => ({ rate: 1, burst: 1 }),
    callsOf: (each) => callsOf(each, { counts: new Map() }),
    engine: { startSeconds: 0, stepSeconds: 0 },
    ...options,
  });

test("a bucket lets the burst through at once, the rest at its rate, and fills up again", () => {
  const bucket = rateBucket({ rate: 0.5, burst: 3 });
  expect([0, 0, 0, 0, 0].map((now) => bucket(now))).toEqual([0, 0, 0, 2, 4]);
  expect([100, 100, 100, 100].map((now) => bucket(now))).toEqual([100, 100, 100, 102]);
});

test("calls of one endpoint queue, those of another one do not notice", () => {
  const steps = [...times(3, (n) => step("Channel", `c${n}`)), step("Account", "a")];
  const { calls, totalSeconds } = run(steps);
  expect(totalSeconds).toBe(2);
  expect(calls.find(({ endpoint }) => endpoint.includes("accounts"))?.sentAt).toBe(0);
});

test("a step that waits for its rate holds a slot that another endpoint could use", () => {
  const steps = [...times(3, (n) => step("Channel", `c${n}`)), step("Account", "a")];
  const { calls } = run(steps, { parallel: 2 });
  expect(calls.find(({ endpoint }) => endpoint.includes("accounts"))?.sentAt).toBe(1);
});

test("a step begins when all that it depends on have ended", () => {
  const [first, second] = [step("Channel", "a"), step("Authentication", "b")];
  const last = step("Account", "c", [first.urn, second.urn]);
  const { calls } = run([last, first, second], { roundTripSeconds: 3 });
  expect(calls.at(-1)).toMatchObject({ wantedAt: 3, endedAt: 6, step: last });
});

test("a phase begins when the one before has ended", () => {
  const steps = [step("Account", "late", [], 5), ...times(3, (n) => step("Channel", `c${n}`))];
  expect(run(steps).calls.at(-1)).toMatchObject({ wantedAt: 2 });
});

test("a circle of dependencies ends the simulation all the same", () => {
  const [a, b] = [step("Channel", "a"), step("Channel", "b")];
  expect(
    run([
      { ...a, after: [b.urn] },
      { ...b, after: [a.urn] },
    ]).calls,
  ).toEqual([]);
});

test("the engine works on one step after the other before their calls", () => {
  const steps = times(3, (n) => step("Channel", `c${n}`));
  const { calls } = run(steps, {
    limitOf: () => ({ rate: 1000, burst: 1000 }),
    engine: { startSeconds: 10, stepSeconds: 2 },
  });
  expect(calls.map(({ sentAt }) => sentAt)).toEqual([12, 14, 16]);
});

test("the critical path goes back over the rate and the dependencies, and sums up endpoints", () => {
  const first = step("Authentication", "auth");
  const many = times(4, (n) => step("Participant", `p${n}`, [first.urn]));
  const { calls } = run([first, step("Channel", "aside"), ...many], { roundTripSeconds: 0.5 });
  expect(criticalPath(calls)).toEqual([
    {
      endpoint: "DELETE /authentications/{id}",
      calls: 1,
      resources: ["Authentication auth"],
      fromSeconds: 0,
      toSeconds: 0.5,
      waitsForRate: false,
    },
    {
      endpoint: "DELETE /participants/{id}",
      calls: 4,
      resources: ["Participant p0", "Participant p1", "Participant p2", "Participant p3"],
      fromSeconds: 0.5,
      toSeconds: 4,
      waitsForRate: true,
    },
  ]);
});

test("10 000 steps are simulated", () => {
  const { calls } = run(times(10_000, (n) => step("Channel", `c${n}`)));
  expect(calls).toHaveLength(10_000);
});
