import { expect, test } from "vitest";
import { showWaits } from "../../provider/dynamic/engine-run.js";
import type { Wait } from "../../provider/service/pace.js";

const urn = "urn:pulumi:prod::shop::conversation:index:Channel::a";

const wait = (waitMs: number): Wait => ({
  ...{ method: "POST", template: "/channels", queued: 2, ahead: 1, waitMs, periodMs: 6_000 },
});

/** Rows at a time that the test sets, and what they showed. */
const opened = () => {
  const shown: string[] = [];
  const rows = { time: 0, shown };
  const clock = { now: () => rows.time };
  const waits = showWaits(
    (text, of) => shown.push(`${of}: ${text}`),
    clock,
    () => urn,
  );
  const pace = waits.showing(async (_, attempt) => attempt());
  const send = () =>
    pace({ method: "POST", template: "/channels" }, async () => ({
      status: 201,
      headers: {},
      text: "",
    }));
  return Object.assign(rows, { waits: waits.onWait, send });
};

test("a wait is one sentence in the row, which is gone when the call is sent", async () => {
  const rows = opened();
  rows.waits(wait(12_000));
  await rows.send();
  expect(rows.shown).toEqual([`${urn}: 12 s left for POST /channels, 2 calls queued`, `${urn}: `]);
});

test("a wait that goes on as announced is not announced again, and a longer one is", () => {
  const rows = opened();
  rows.waits(wait(30_000));
  rows.time = 10_000;
  rows.waits(wait(20_500));
  rows.waits(wait(50_000));
  expect(rows.shown).toEqual([
    `${urn}: 30 s left for POST /channels, 2 calls queued`,
    `${urn}: 50 s left for POST /channels, 2 calls queued`,
  ]);
});

test("a call that did not wait takes nothing away", async () => {
  const rows = opened();
  await rows.send();
  expect(rows.shown).toEqual([]);
});
