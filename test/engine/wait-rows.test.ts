import { expect, test } from "vitest";
import { waitRows } from "../../provider/dynamic/engine-run.js";
import type { Wait } from "../../provider/service/pace.js";

const urn = "urn:pulumi:prod::shop::conversation:index:Channel::a";

const wait = (waitMs: number): Wait => ({
  ...{ method: "POST", template: "/channels", queued: 2, ahead: 1, waitMs, periodMs: 6_000 },
});

test("a wait that goes on as announced is not announced again, and a longer one is", () => {
  const shown: string[] = [];
  let time = 0;
  const show = (text: string, of?: string) => shown.push(`${of}: ${text}`);
  const onWait = waitRows(show, { now: () => time }, () => urn);
  onWait(wait(30_000));
  time = 10_000;
  onWait(wait(20_500));
  onWait(wait(50_000));
  expect(shown).toEqual([
    `${urn}: 30 s left for POST /channels, 2 calls queued`,
    `${urn}: 50 s left for POST /channels, 2 calls queued`,
  ]);
});
