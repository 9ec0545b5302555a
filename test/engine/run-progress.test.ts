import { expect, test } from "vitest";
import { ForeseenCalls } from "../../provider/engine/foreseen-calls.js";
import { RunProgress } from "../../provider/engine/run-progress.js";
import type { RunDisplay } from "../../provider/engine/status-line.js";
import { channel } from "../../provider/resources/channel.js";
import { participant } from "../../provider/resources/participant.js";
import type { HttpResponse } from "../../provider/service/http/transport.js";

const settings = { plan: "developer", burst: 1, share: 1 } as const;
const post = { method: "POST", template: "/channels" } as const;
const done: HttpResponse = { status: 201, headers: {}, text: "{}" };
const noMemory = () => ({ foreseen: {}, keep: () => undefined });

/** Calls of a run that makes no others. */
const allForeseen = (memory = noMemory): ForeseenCalls => {
  const planned = new ForeseenCalls(memory);
  planned.complete();
  return planned;
};

/** A run whose time and calls the test moves on by hand. */
const runWith = (display: RunDisplay, planned = allForeseen()) => {
  let time = 0;
  let sleeper: { readonly until: number; readonly wake: () => void } | undefined;
  const shown: string[] = [];
  const clock = {
    now: () => time,
    sleep: (ms: number) =>
      new Promise<void>((wake) => {
        sleeper = { until: time + ms, wake };
      }),
  };
  const show = (text: string, urn?: string) => void shown.push(`${urn ?? "stack"}: ${text}`);
  const progress = new RunProgress({ clock, show, planned, ...display });
  const account = progress.of(settings);
  const pass = async (ms: number) => {
    const end = time + ms;
    while (sleeper && sleeper.until <= end) {
      const { until, wake } = sleeper;
      sleeper = undefined;
      time = until;
      wake();
      await new Promise(setImmediate);
    }
    time = end;
  };
  /** A call that waits for its turn until it is let go, and then for its answer. */
  const call = (urn: string) => {
    const turn = Promise.withResolvers<void>();
    const answer = Promise.withResolvers<HttpResponse>();
    const paced = account.paced(
      async (_, attempt) => {
        await turn.promise;
        return attempt();
      },
      () => urn,
    );
    const ended = paced(post, () => answer.promise);
    const waits = (waitMs: number, ahead = 0, queued = ahead + 1) =>
      account.waits({ ...post, queued, ahead, waitMs, periodMs: 6000 }, urn);
    const finish = async () => {
      turn.resolve();
      answer.resolve(done);
      await ended;
    };
    return { waits, send: turn.resolve, finish };
  };
  return { progress, shown, call, pass };
};

const live: RunDisplay = { isLive: true, everyMs: 1000 };
const log: RunDisplay = { isLive: false, everyMs: 30_000 };

test("a run that waits for nothing shows nothing", async () => {
  const run = runWith(live);
  await run.call("a").finish();
  await run.pass(60_000);
  expect(run.shown).toEqual([]);
});

test("the number stands first, in the row of the resource and in the stack's", async () => {
  const run = runWith(live);
  run.call("a").waits(75_000);
  await run.pass(1000);
  expect(run.shown).toEqual([
    "stack: 0/1 calls, 1 min 14 s left, POST /channels decides",
    "a: 1 min 14 s left for POST /channels, 1 call queued",
  ]);
});

test("the time left is counted down each second on a terminal", async () => {
  const run = runWith(live);
  run.call("a").waits(10_000);
  await run.pass(3000);
  expect(run.shown.filter((line) => line.startsWith("a:"))).toEqual([
    "a: 9 s left for POST /channels, 1 call queued",
    "a: 8 s left for POST /channels, 1 call queued",
    "a: 7 s left for POST /channels, 1 call queued",
  ]);
});

test("a row is cleared as soon as its call is sent, the stack's line when all are done", async () => {
  const run = runWith(live);
  const [first, second] = [run.call("a"), run.call("b")];
  first.waits(5000);
  second.waits(8000, 1);
  await run.pass(1000);
  first.send();
  await run.pass(0);
  expect(run.shown.at(-1)).toBe("a: ");
  await first.finish();
  await run.pass(1000);
  expect(run.shown.slice(-2)).toEqual([
    "stack: 1/2 calls, 6 s left, POST /channels decides",
    "b: 6 s left for POST /channels, 2 calls queued",
  ]);
  await second.finish();
  expect(run.shown.slice(-2)).toEqual(["b: ", "stack: "]);
});

test("without a terminal there is a line each 30 seconds, and none is empty", async () => {
  const run = runWith(log);
  const waiting = run.call("a");
  waiting.waits(95_000);
  await run.pass(95_000);
  await waiting.finish();
  await run.pass(60_000);
  expect(run.shown).toEqual(
    ["1 min 34 s", "1 min 4 s", "34 s", "4 s"].map(
      (time) => `stack: 0/1 calls, ${time} left, POST /channels decides`,
    ),
  );
});

test("calls that come in waves give no more lines than one in 30 seconds", async () => {
  const run = runWith(log);
  for (let wave = 0; wave < 6; wave += 1) {
    const waiting = run.call("a");
    waiting.waits(9000);
    await run.pass(9000);
    await waiting.finish();
    await run.pass(1000);
  }
  expect(run.shown).toHaveLength(2);
});

test("what the engine has foreseen counts before it is asked for", () => {
  const planned = allForeseen();
  for (let count = 0; count < 10; count += 1) planned.foresee(channel, undefined, "create");
  planned.foresee(participant, undefined, "update");
  const run = runWith(live, planned);
  run.call("a").waits(3000);
  expect(run.progress.text()).toBe("0/12 calls, 57 s left, POST /channels decides");
});

test("what the preview has foreseen counts, too, and more calls than foreseen correct it", async () => {
  const planned = new ForeseenCalls(() => ({
    foreseen: { " POST /channels": 2 },
    keep: () => undefined,
  }));
  const run = runWith(live, planned);
  const calls = ["a", "b", "c"].map(run.call);
  calls[0]?.waits(3000, 0, 3);
  await calls[0]?.finish();
  expect(run.progress.text()).toBe("1/3 calls, 15 s left, POST /channels decides");
});

test("where more calls may follow, all numbers are at least", async () => {
  const planned = new ForeseenCalls(noMemory);
  for (let count = 0; count < 10; count += 1) planned.foresee(channel, undefined, "create");
  const run = runWith(log, planned);
  run.call("a").waits(3000);
  await run.pass(2000);
  expect(run.shown).toEqual([
    "stack: 0 of at least 10 calls, at least 56 s left, POST /channels decides",
  ]);
});

test("what is always in sight says the same, and is taken away", async () => {
  const seen: string[] = [];
  const run = runWith({ ...live, status: (text) => void seen.push(text) });
  const waiting = run.call("a");
  waiting.waits(3000);
  await run.pass(1000);
  await waiting.finish();
  expect(seen).toEqual(["0/1 calls, 2 s left, POST /channels decides", ""]);
});
