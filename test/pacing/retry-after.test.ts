import { expect, test } from "vitest";
import { atFirst, bucket, frozenStep } from "./support/single-step.js";

const hourMs = 3_600_000;

test.each([
  ["7", 7_000, [0.02, 1, 2, 4, 7, 7]],
  ["a day", 86_400_000, [0.02, 1, 2, 4, 8, 16, 16]],
])(
  "Retry-After %s, which no bucket asks for, is believed only as far as refusals repeat themselves",
  (_, askedMs, periods) => {
    let state = atFirst(bucket({ tokens: 1, burst: 5, phase: { name: "found", leftMs: hourMs } }));
    let now = 0;
    const waits = periods.map(() => {
      const asked = frozenStep(state, { type: "ask" }, now);
      if (typeof asked.decision !== "object" || !("kind" in asked.decision))
        throw new Error("Not due.");
      const event = { type: "refused", admission: asked.decision, askedMs } as const;
      state = frozenStep(asked.state, event, now).state;
      const wait = frozenStep(state, { type: "ask" }, now).decision;
      if (typeof wait !== "object" || "kind" in wait) throw new Error("No pause.");
      now += wait.waitMs;
      return wait.waitMs;
    });
    waits.forEach((waitMs, place) => {
      expect(waitMs / 1000).toBeGreaterThanOrEqual((periods[place] ?? 0) * 0.74);
      expect(waitMs / 1000).toBeLessThanOrEqual((periods[place] ?? 0) * 1.26);
    });
  },
);

test.each([
  ["exactly", 300, 300],
  ["in whole seconds, of which the bucket knows better", 1_000, 20],
])("a Retry-After that may be true is kept to: %s", (_, askedMs, waitMs) => {
  const known = atFirst(bucket({ tokens: 1, burst: 5, phase: { name: "found", leftMs: hourMs } }));
  const asked = frozenStep(known, { type: "ask" }, 0);
  if (typeof asked.decision !== "object" || !("kind" in asked.decision))
    throw new Error("Not due.");
  const refused = { type: "refused", admission: asked.decision, askedMs } as const;
  const { state } = frozenStep(asked.state, refused, 0);
  const wait = frozenStep(state, { type: "ask" }, 0).decision;
  expect(wait).toMatchObject({ waitMs: expect.closeTo(waitMs, 3) });
});
