import { type Ending, everywhere, faulty, type Group, type Row, row } from "../support/cell.js";

const repeated = (words: string, waits: readonly [number, number]): Ending => ({
  words,
  sends: 2,
  waits,
});

const refusedOnce = (
  fault: string,
  title: string,
  rule: Readonly<Record<string, unknown>>,
  waits: readonly [number, number] = [1000, 1000],
  words = "waits a second, then sends again; nothing else is sent meanwhile",
): Row =>
  row(
    fault,
    title,
    faulty({ kind: "status", status: 429, ...rule }),
    everywhere(repeated(words, waits)),
  );

const inTenSeconds = { "retry-after": "10" };
/** A date counts from the service's own clock, so both are given. */
const dates = {
  date: "Sat, 03 Jan 2026 10:00:00 GMT",
  "retry-after": "Sat, 03 Jan 2026 10:00:10 GMT",
};

export const rateLimits: Group = {
  title: "Rate limits",
  rows: [
    refusedOnce("rate-limit", "429 with the service's own body (`429-001`)", {}),
    row(
      "rate-limit-again",
      "429 five times in a row",
      faulty({ kind: "status", status: 429, times: 5 }),
      everywhere({
        words: "waits 1, 2, 4, 8 and 16 s between the attempts; refusals use up no repeats",
        sends: 6,
        waits: [31_000, 31_000],
      }),
    ),
    refusedOnce("rate-limit-other-body", "429 with an unknown body", {
      body: { error: "slow down" },
    }),
    refusedOnce("rate-limit-text", "429 whose body is no object", { body: "<html>busy</html>" }),
    refusedOnce(
      "retry-after-seconds",
      "429 with Retry-After in seconds",
      { headers: inTenSeconds },
      [10_000, 10_000],
      "waits as long as the service asks for",
    ),
    refusedOnce(
      "retry-after-date",
      "429 with Retry-After as a date",
      { headers: dates },
      [10_000, 10_000],
      "waits until the date, counted from the service's own clock",
    ),
    refusedOnce(
      "retry-after-absurd",
      "429 with a Retry-After of a day",
      { headers: { "retry-after": "86400" } },
      [100_000, 100_000],
      "believes at most 100 s (16 periods of the lowest rate)",
    ),
  ],
};
