import fc from "fast-check";
import { expect, test } from "vitest";
import { VirtualTime } from "../../bench/session.js";
import { TrueBucket } from "../../bench/true-bucket.js";
import type { Definition } from "../../provider/definition/define.js";
import { ForeseenCalls } from "../../provider/engine/foreseen-calls.js";
import { RunProgress } from "../../provider/engine/run-progress.js";
import { pacedCalls } from "../../provider/pacing/pacer.js";
import { conversationRate } from "../../provider/pacing/plan-rates.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { participant } from "../../provider/resources/participant.js";
import { setUpOperation } from "../../provider/service/http/operations.js";
import type { Plan } from "../../provider/service/plans.js";
import { calling, series } from "../pacing/support/simulation.js";

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

/** Calls of a run to one endpoint. */
interface Calls {
  readonly definition: Definition;
  readonly action: "create" | "delete";
  readonly times: number;
}

/** A run without a preview foresees a call when it comes to it. */
interface Tenant extends Omit<Run, "channels" | "participants"> {
  readonly skipsPreview?: true;
}

/** A way to make each call of a run, and what it shows meanwhile. */
const watched = ({ plan, burst, planIsKnown, skipsPreview }: Tenant) => {
  const time = new VirtualTime();
  const planned = new ForeseenCalls(() => ({ foreseen: {}, keep: () => undefined }));
  if (!skipsPreview) planned.complete();
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
  const counts = { refused: 0 };
  const callsOf = ({ definition, action, times }: Calls) => {
    const endpoint = setUpOperation(definition, action);
    const bucket = new TrueBucket(conversationRate(endpoint, plan), burst);
    const call = calling(time, bucket, { roundTripMs: 50 });
    const attempt = async () => {
      const response = await call();
      if (response.status === 429) counts.refused += 1;
      return response;
    };
    const foresee = () => planned.foresee(definition, undefined, action);
    return Array.from({ length: times }, () => {
      if (!skipsPreview) foresee();
      return () => {
        if (skipsPreview) foresee();
        return pace(endpoint, attempt);
      };
    });
  };
  return { time, shown, counts, callsOf };
};

/** Everything that a run shows of its time, and when it was over. */
const played = async ({ channels, participants, ...tenant }: Run) => {
  const { time, shown, counts, callsOf } = watched(tenant);
  const all = [
    ...callsOf({ definition: channel, action: "create", times: channels }),
    ...callsOf({ definition: participant, action: "create", times: participants }),
  ];
  await time.during(Promise.all(all.map((begin) => begin())));
  return { shown, endedAt: time.now(), refused: counts.refused };
};

const run = (planIsKnown: boolean): fc.Arbitrary<Run> =>
  fc.record({
    channels: fc.integer({ min: 2, max: 60 }),
    participants: fc.integer({ min: 0, max: 60 }),
    plan: fc.constantFrom("developer" as const, "basic" as const),
    burst: fc.integer({ min: 1, max: 12 }),
    planIsKnown: fc.constant(planIsKnown),
  });

const numRuns = Number(process.env.PROGRESS_RUNS ?? 20);
const settings = { numRuns, seed: 13 };
const patience = { timeout: 180_000 + numRuns * 200 };

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

/** What Pulumi deletes together, before it goes on: users before what they use. */
const levels = [[participant], [clientApplication], [authentication, channel]] as const;

const destruction = fc.record({
  times: fc.tuple(
    ...levels.map((kinds) => fc.tuple(...kinds.map(() => fc.integer({ min: 0, max: 40 })))),
  ),
  plan: fc.constantFrom("developer" as const, "basic" as const),
  burst: fc.integer({ min: 1, max: 12 }),
  slots: fc.constantFrom(4, 8, 16, 64),
  seed: fc.integer(),
});

type Begin = () => Promise<unknown>;

/** Pulumi takes what may go together in any order, so many at a time. */
const inSlots = async (calls: readonly Begin[], slots: number, seed: number): Promise<void> => {
  const random = series(seed);
  const mixed = calls
    .map((begin) => ({ begin, place: random() }))
    .sort((one, other) => one.place - other.place);
  const slot = async (): Promise<void> => {
    for (let next = mixed.shift(); next; next = mixed.shift()) await next.begin();
  };
  await Promise.all(Array.from({ length: slots }, slot));
};

test("the time left of a destruction counts one level after the other", patience, async () => {
  await fc.assert(
    fc.asyncProperty(destruction, async ({ times, plan, burst, slots, seed }) => {
      const { time, shown, callsOf } = watched({ plan, burst, planIsKnown: true });
      const all = levels.map((kinds, level) =>
        kinds.flatMap((definition, place) =>
          callsOf({ definition, action: "delete", times: times[level]?.[place] ?? 0 }),
        ),
      );
      const run = async () => {
        for (const level of all) await inSlots(level, slots, seed);
      };
      await time.during(run());
      const endedAt = time.now();
      const periodMs = 1000 / conversationRate(setUpOperation(participant, "delete"), plan);
      // With few slots a kind may find none free, while calls to another endpoint wait in all of them.
      const periods = 1.5 * levels.length + 8 / slots;
      for (const { at, leftMs } of shown)
        expect(Math.abs(at + leftMs - endedAt)).toBeLessThanOrEqual(1000 + periods * periodMs);
    }),
    settings,
  );
});

const withoutPreview = fc.record({
  times: fc.integer({ min: 2, max: 80 }),
  plan: fc.constantFrom("developer" as const, "basic" as const),
  burst: fc.integer({ min: 1, max: 12 }),
  slots: fc.constantFrom(4, 8, 16, 64),
  seed: fc.integer(),
});

test(
  "without a preview every number is at least, and the run ends no sooner",
  patience,
  async () => {
    await fc.assert(
      fc.asyncProperty(withoutPreview, async ({ times, plan, burst, slots, seed }) => {
        const tenant = { plan, burst, planIsKnown: true, skipsPreview: true } as const;
        const { time, shown, callsOf } = watched(tenant);
        const calls = callsOf({ definition: channel, action: "create", times });
        await time.during(inSlots(calls, slots, seed));
        const endedAt = time.now();
        const periodMs = 1000 / conversationRate(setUpOperation(channel, "create"), plan);
        for (const { at, leftMs, text } of shown) {
          expect(text).toMatch(/^\d+ of at least \d+ calls($|, (at least |\d+ refused))/);
          expect(at + leftMs).toBeLessThanOrEqual(endedAt + 1000 + 1.5 * periodMs);
        }
      }),
      settings,
    );
  },
);
