import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { servicePaces } from "../../provider/pacing/pacer.js";
import { type BucketStore, sharedBuckets } from "../../provider/pacing/shared-buckets.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { JumpingClock } from "../service/support/clocks.js";
import { temporaryFolder } from "../support/temporary-folder.js";

let folder: string;
beforeEach(() => {
  folder = temporaryFolder();
});

/** Places that nobody but this process sees. */
const alone: Readonly<Record<string, () => Parameters<typeof sharedBuckets>[0]>> = {
  "on Node 22": () => ({ clock: new JumpingClock(), nodeVersion: "22.20.0" }),
  "where the file cannot be used": () => {
    writeFileSync(join(folder, "pulumi-conversation"), "");
    return { clock: new JumpingClock(), environment: { XDG_CACHE_HOME: folder } };
  },
};

/** Counts under a key, as a limiter keeps its bucket. */
const counted = async (store: BucketStore, key: string): Promise<number> =>
  store.change(key, (kept, now) => {
    const count = kept && "count" in kept ? Number(kept.count) + 1 : 1;
    return { state: Object.assign({ at: now }, { count }), result: count };
  });

describe.each(Object.entries(alone))("%s", (_, optionsOf) => {
  test("what one connection takes, no other has", async () => {
    const options = optionsOf();
    const [one, other] = [sharedBuckets(options), sharedBuckets(options)];
    expect(await counted(one, "k")).toBe(1);
    expect(await counted(other, "k")).toBe(2);
    expect(await counted(other, "another")).toBe(1);
    await one.close();
    expect(await counted(other, "k")).toBe(3);
  });

  test("clocks of their own have buckets of their own", async () => {
    const [one, other] = [optionsOf, optionsOf].map((make) => {
      rmSync(join(folder, "pulumi-conversation"), { force: true });
      return make();
    });
    if (!one || !other) throw new Error("none");
    expect(await counted(sharedBuckets(one), "k")).toBe(1);
    expect(await counted(sharedBuckets(other), "k")).toBe(1);
  });
});

const settings = (profile: string): Settings => ({
  baseUrl: "https://hub.example.com/conversation/v3",
  tokenUrl: "https://id.example.com/token",
  clientId: "c",
  clientSecret: "s",
  scope: "x",
  plan: "developer",
  burst: 1,
  share: 1,
  platformName: "platform",
  ownershipMark: "description",
  profile,
});

test("two profiles of one tenant in one process keep to its rate together", async () => {
  writeFileSync(join(folder, "pulumi-conversation"), "");
  const clock = new JumpingClock();
  const endpoint = { method: "GET", template: "/channels" } as const;
  const answer = async () => ({ status: 200, headers: {}, text: "" });
  const paces = ["eu", "us"].map((profile) =>
    servicePaces(settings(profile), { clock, environment: { XDG_CACHE_HOME: folder } }).pace(
      settings(profile),
    ),
  );
  for (let times = 0; times < 10; times++) for (const pace of paces) await pace(endpoint, answer);
  const alone = new JumpingClock();
  const pace = servicePaces(settings("eu"), {
    clock: alone,
    environment: { XDG_CACHE_HOME: folder },
  }).pace(settings("eu"));
  for (let times = 0; times < 20; times++) await pace(endpoint, answer);
  expect(alone.time).toBeGreaterThan(10_000);
  expect(clock.time).toBeGreaterThanOrEqual(0.95 * alone.time);
});
