import { expect, test, vi } from "vitest";
import { ConversationError, type Effect } from "../../provider/kernel/errors.js";
import {
  defaultRetryLimits,
  keepUnknownEffect,
  mayRepeat,
  withRetry,
} from "../../provider/service/retry.js";
import type { Method } from "../../provider/service/transport.js";
import { JumpingClock } from "./support/clocks.js";
import { failureOf, noPauses } from "./support/connected.js";

const template = "/channels";
const failing = (
  code: "UNREACHABLE" | "TIMED_OUT" | "UNAVAILABLE" | "BAD_RESPONSE" | "REJECTED" | "THROTTLED",
  effect: Effect = "unknown",
  details = {},
) => new ConversationError(code, "failed", { template, ...details }, effect);

test("after an attempt that may have had an effect, no failure says that nothing was done", async () => {
  const refusal = "PUT /channels/1 was canceled. Nothing was changed. Try again.";
  const failures = [
    new ConversationError("CANCELLED", refusal),
    failing("UNAVAILABLE", "unknown"),
    new ConversationError("CANCELLED", refusal),
  ];
  const attempt = keepUnknownEffect(async () => {
    throw failures.shift();
  });
  expect(await failureOf(attempt())).toMatchObject({ message: refusal, effect: "none" });
  expect(await failureOf(attempt())).toMatchObject({ code: "UNAVAILABLE", effect: "unknown" });
  expect(await failureOf(attempt())).toMatchObject({
    message: "PUT /channels/1 was canceled. An earlier attempt may have taken effect. Try again.",
    effect: "unknown",
  });
});

test.each([
  ["GET", failing("UNREACHABLE", "none"), true],
  ["PUT", failing("UNREACHABLE"), true],
  ["DELETE", failing("TIMED_OUT"), true],
  ["POST", failing("UNREACHABLE"), false],
  ["POST", failing("UNAVAILABLE"), false],
  ["POST", failing("TIMED_OUT"), false],
  ["POST", failing("UNREACHABLE", "none"), true],
  ["GET", failing("REJECTED", "none"), false],
  ["GET", failing("THROTTLED", "none"), false],
  ["GET", failing("UNREACHABLE", "none", { permanent: true }), false],
  ["GET", failing("UNREACHABLE", "none", { template: "token URL" }), false],
  ["GET", new Error("a defect"), false],
] as const)("after a failed %s, case %#, a repeat is allowed or not", (method, error, allowed) => {
  expect(mayRepeat({ method, template }, error, 1)).toBe(allowed);
});

test("what may be sent again is sent twice more where the answer cannot be read", () => {
  const allowed = (method: Method) =>
    [1, 2, 3].map((failures) =>
      mayRepeat({ method, template }, failing("BAD_RESPONSE", "unknown"), failures),
    );
  for (const method of ["GET", "PUT", "DELETE"] as const)
    expect(allowed(method)).toEqual([true, true, false]);
  for (const method of ["POST", "PATCH"] as const)
    expect(allowed(method)).toEqual([false, false, false]);
});

test.each([
  [
    "double up to the longest",
    0,
    { minTimeoutMs: 11, maxTimeoutMs: 44, retries: 4 },
    [11, 22, 44, 44],
  ],
  [
    "are up to twice as long, at random",
    0.5,
    { minTimeoutMs: 10, maxTimeoutMs: 1_000, retries: 2 },
    [15, 30],
  ],
])("pauses %s", async (_, chance, limits, expected) => {
  const random = vi.spyOn(Math, "random").mockReturnValue(chance);
  const timers = vi.spyOn(globalThis, "setTimeout");
  await failureOf(
    withRetry(
      () => Promise.reject(failing("UNREACHABLE")),
      () => true,
      { limits },
    ),
  );
  const asked = timers.mock.calls.map(([, ms]) => ms);
  timers.mockRestore();
  random.mockRestore();
  expect(asked.filter((ms) => [10, 11, 15, 20, 22, 30, 44, 88].includes(ms ?? 0))).toEqual(
    expected,
  );
});

test("pauses begin at half a second and end at eight seconds", () => {
  expect(defaultRetryLimits).toMatchObject({ minTimeoutMs: 500, maxTimeoutMs: 8_000, retries: 4 });
});

test("no repeat starts later than two minutes after the first failure", async () => {
  const clock = new JumpingClock();
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    // The first attempt waits long for its turn; that does not count.
    clock.time += attempts === 1 ? 1_000_000 : 70_000;
    throw failing("UNREACHABLE");
  };
  await failureOf(withRetry(attempt, () => true, { clock, limits: noPauses }));
  expect(attempts).toBe(3);
});

test.each<[string, (attempts: number, giveUp: () => void) => string, object, number]>([
  [
    "ends the repeats with CANCELLED when the failures had no effect",
    (_, giveUp) => {
      giveUp();
      throw failing("UNREACHABLE", "none");
    },
    { code: "CANCELLED" },
    1,
  ],
  [
    "does not hide that an attempt may have had an effect",
    (_, giveUp) => {
      giveUp();
      throw failing("UNREACHABLE", "unknown");
    },
    { code: "UNREACHABLE", effect: "unknown" },
    1,
  ],
  [
    "does not throw away the answer that comes after it",
    (attempts, giveUp) => {
      if (attempts === 1) throw failing("UNREACHABLE", "none");
      giveUp();
      return "made";
    },
    { made: "made" },
    2,
  ],
])("a signal %s", async (_, answer, outcome, expected) => {
  const ended = new AbortController();
  let attempts = 0;
  const attempt = async () => {
    attempts += 1;
    return { made: answer(attempts, () => ended.abort()) };
  };
  const call = withRetry(attempt, () => true, { signal: ended.signal, limits: noPauses });
  expect(await call.catch((error: unknown) => error)).toMatchObject(outcome);
  expect(attempts).toBe(expected);
});

test.each([
  [{}, 0, 15_000],
  [{ retries: 6 }, 0, 31_000],
  [{ retries: 1, minTimeoutMs: 100 }, 10_000, 10_200],
  [{}, 60_000, 180_000],
] as const)(
  "who waits hears once how long repeats may take: %j, %i ms each",
  async (limits, attemptMs, longestMs) => {
    const clock = new JumpingClock();
    const reported: number[] = [];
    const attempt = async (): Promise<never> => {
      await clock.sleep(attemptMs);
      throw failing("UNREACHABLE", "none");
    };
    const ended = new AbortController();
    const onRepeat = (_: unknown, ms: number): void => {
      reported.push(ms);
      ended.abort();
    };
    await failureOf(
      withRetry(attempt, () => true, { limits, clock, onRepeat, signal: ended.signal }),
    );
    expect(reported).toEqual([longestMs]);
  },
);

test("no repeat is announced for an attempt that was given up", async () => {
  const reported: number[] = [];
  const ended = new AbortController();
  const attempt = async (): Promise<never> => {
    ended.abort();
    throw failing("UNREACHABLE", "none");
  };
  const onRepeat = (_: unknown, ms: number) => void reported.push(ms);
  await failureOf(withRetry(attempt, () => true, { onRepeat, signal: ended.signal }));
  expect(reported).toEqual([]);
});
