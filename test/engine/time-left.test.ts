import fc from "fast-check";
import { expect, test } from "vitest";
import { VirtualTime } from "../../bench/pacing/virtual-time.js";
import { TrueBucket } from "../../bench/true-bucket.js";
import { ForeseenCalls } from "../../provider/engine/foreseen-calls.js";
import { RunProgress } from "../../provider/engine/run-progress.js";
import { pacedCalls } from "../../provider/pacing/pacer.js";
import { conversationRate } from "../../provider/pacing/plan/plan-rates.js";
import { channel } from "../../provider/resources/channel.js";
import { participant } from "../../provider/resources/participant.js";
import type { Endpoint } from "../../provider/service/http/operations.js";
import type { Plan } from "../../provider/service/settings/plans.js";
import { calling } from "../pacing/support/simulation.js";

/** A run of creations whose length is foreseen, and a tenant. */
interface Run {
  readonly channels: number;
  readonly participants: number;
  readonly plan: Plan;
  readonly burst: number;
  /** The plan is a setting; else it is found out. */
  readonly planIsKnown: boolean;
}

/** What the stack's row showed. */
interface Shown {
  readonly at: number;
  readonly leftMs: number;
  readonly text: string;
}

const unitMs: Readonly<Record<string, number>> = { h: 3_600_000, min: 60_000, s: 1000 };

const leftIn = (text: string): number => {
  const [, left = ""] = /calls, (.*) left/.exec(text) ?? [];
  return [...left.matchAll(/(\d+) (h|min|s)/g)].reduce(
    (sum, [, count, unit = ""]) => sum + Number(count) * (unitMs[unit] ?? 0),
    0,
  );
};

/** Everything that a run shows of its time, and when it was over. */
const played = async ({ channels, participants, plan, burst, planIsKnown }: Run) => {
  const time = new VirtualTime();
  const planned = new ForeseenCalls(() => ({ foreseen: {}, keep: () => undefined }));
  const shown: Shown[] = [];
  const progress = new RunProgress({
    clock: time,
    planned,
    isLive: true,
    everyMs: 1000,
    show: (text, urn) => {
      if (!urn && text) shown.push({ at: time.now(), leftMs: leftIn(text), text });
    },
  });
  const known = planIsKnown ? { plan, burst } : {};
  const account = progress.of({ share: 1, ...known });
  const pace = account.paced(
    pacedCalls({
      clock: time,
      tenant: "t",
      share: 1,
      ...known,
      onWait: account.waits,
      onPlanGuess: account.seems,
    }),
    () => undefined,
  );
  let refused = 0;
  const calls = [
    { definition: channel, endpoint: { method: "POST", template: "/channels" }, times: channels },
    {
      definition: participant,
      endpoint: { method: "POST", template: "/participants" },
      times: participants,
    },
  ] as const;
  const all = calls.flatMap(({ definition, endpoint, times }) => {
    const bucket = new TrueBucket(conversationRate(endpoint, plan), burst);
    const call = calling(time, bucket, { roundTripMs: 50 });
    const attempt = async () => {
      const response = await call();
      if (response.status === 429) refused += 1;
      return response;
    };
    return Array.from({ length: times }, () => {
      planned.foresee(definition, undefined, "create");
      return (of: Endpoint = endpoint) => pace(of, attempt);
    });
  });
  await time.during(Promise.all(all.map((begin) => begin())));
  return { shown, endedAt: time.now(), refused };
};

const run = (planIsKnown: boolean): fc.Arbitrary<Run> =>
  fc.record({
    channels: fc.integer({ min: 2, max: 60 }),
    participants: fc.integer({ min: 0, max: 60 }),
    plan: fc.constantFrom("developer" as const, "basic" as const),
    burst: fc.integer({ min: 1, max: 12 }),
    planIsKnown: fc.constant(planIsKnown),
  });

const numRuns = Number(process.env.PROGRESS_RUNS ?? 40);
const settings = { numRuns, seed: 13 };
const patience = { timeout: 20_000 + numRuns * 200 };

test("with a known plan the time left falls steadily, and is right", patience, async () => {
  await fc.assert(
    fc.asyncProperty(run(true), async (given) => {
      const { shown, endedAt } = await played(given);
      const periodMs =
        1000 / conversationRate({ method: "POST", template: "/channels" }, given.plan);
      if (given.channels > given.burst + 3) expect(shown.length).toBeGreaterThan(0);
      for (const [place, { at, leftMs }] of shown.entries()) {
        expect(Math.abs(at + leftMs - endedAt)).toBeLessThanOrEqual(1000 + 1.5 * periodMs);
        const before = shown[place - 1];
        if (before) expect(leftMs).toBeLessThanOrEqual(before.leftMs + 1000);
      }
    }),
    settings,
  );
});

test(
  "with an unknown plan a time that rises has its refusals beside it, and settles",
  patience,
  async () => {
    await fc.assert(
      fc.asyncProperty(run(false), async (given) => {
        const { shown, endedAt, refused } = await played(given);
        for (const [place, { leftMs, text }] of shown.entries()) {
          const before = shown[place - 1];
          if (before && leftMs > before.leftMs + 1000) expect(text).toMatch(/\d+ refused \(429\)$/);
        }
        const last = shown.at(-1);
        if (last && refused > 0) expect(last.text).toContain(`${refused} refused`);
        if (last) expect(last.at).toBeGreaterThan(endedAt - 2100);
      }),
      settings,
    );
  },
);
