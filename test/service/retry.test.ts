import { expect, test } from "vitest";
import { ConversationError, type Effect } from "../../provider/kernel/errors.js";
import { defaultRetryLimits, mayRepeat, repeatIfHarmless } from "../../provider/service/retry.js";
import type { Method } from "../../provider/service/transport.js";
import { noPauses } from "./support/connected.js";

const template = "/channels";
const failing = (
  code: "UNREACHABLE" | "TIMED_OUT" | "UNAVAILABLE" | "BAD_RESPONSE" | "REJECTED" | "THROTTLED",
  effect: Effect = "unknown",
  details = {},
) => new ConversationError(code, "failed", { template, ...details }, effect);

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

/** The repeats of a GET that failed, and how often it was sent again. */
const repeated = async <T>(
  attempt: () => Promise<T>,
  options: Partial<Parameters<typeof repeatIfHarmless>[2]> = {},
  failure: unknown = failing("UNREACHABLE", "none"),
) => {
  let sent = 0;
  const count = (): Promise<T> => {
    sent += 1;
    return attempt();
  };
  const { signal } = new AbortController();
  const endpoint = { method: "GET", template } as const;
  const call = repeatIfHarmless(failure, count, { endpoint, limits: noPauses, signal, ...options });
  return { outcome: await call.catch((error: unknown) => error), sent };
};

test("pauses begin at half a second and end at eight seconds, repeats after two minutes", () => {
  expect(defaultRetryLimits).toEqual({
    minTimeoutMs: 500,
    maxTimeoutMs: 8_000,
    retries: 4,
    maxRetryTimeMs: 120_000,
  });
});

test("no repeat starts when the time for them is over", async () => {
  const limits = { ...noPauses, maxRetryTimeMs: 0 };
  const failure = failing("UNREACHABLE", "none");
  const { outcome, sent } = await repeated(async () => "made", { limits }, failure);
  expect([outcome, sent]).toEqual([failure, 0]);
});

test("after an attempt that may have had an effect, no failure says that nothing was done", async () => {
  const refusal = "PUT /channels/1 was canceled. Nothing was changed. Try again.";
  const refused = new ConversationError("CANCELLED", refusal);
  const attempt = () => Promise.reject(refused);
  expect((await repeated(attempt, {})).outcome).toMatchObject({ message: refusal, effect: "none" });
  const unclear = failing("UNAVAILABLE", "unknown");
  expect((await repeated(attempt, {}, unclear)).outcome).toMatchObject({
    message: "PUT /channels/1 was canceled. An earlier attempt may have taken effect. Try again.",
    effect: "unknown",
  });
});

test.each<[string, Effect, (giveUp: () => void) => string, object, number]>([
  [
    "ends the repeats with CANCELLED when the failures had no effect",
    "none",
    (giveUp) => {
      giveUp();
      throw failing("UNREACHABLE", "none");
    },
    { code: "CANCELLED" },
    1,
  ],
  [
    "does not hide that an attempt may have had an effect",
    "none",
    (giveUp) => {
      giveUp();
      throw failing("UNREACHABLE", "unknown");
    },
    { code: "UNREACHABLE", effect: "unknown" },
    1,
  ],
  [
    "does not throw away the answer that comes after it",
    "none",
    (giveUp) => {
      giveUp();
      return "made";
    },
    { made: "made" },
    1,
  ],
])("a signal %s", async (_, effect, answer, outcome, expected) => {
  const ended = new AbortController();
  const attempt = async () => ({ made: answer(() => ended.abort()) });
  const given = await repeated(attempt, { signal: ended.signal }, failing("UNREACHABLE", effect));
  expect(given).toMatchObject({ outcome, sent: expected });
});

test("repeats are announced once, and none for a call that was given up", async () => {
  const reported: unknown[] = [];
  const onRepeat = (failure: unknown): void => void reported.push(failure);
  const failure = failing("UNREACHABLE", "none");
  await repeated(() => Promise.reject(failing("TIMED_OUT")), { onRepeat }, failure);
  expect(reported).toEqual([failure]);
  await repeated(async () => "made", { onRepeat, signal: AbortSignal.abort() });
  expect(reported).toHaveLength(1);
});
