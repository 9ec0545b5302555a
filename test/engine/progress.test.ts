import { readdirSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { ForeseenCalls, previewMemory } from "../../provider/engine/foreseen-calls.js";
import { RunProgress } from "../../provider/engine/run-progress.js";
import {
  displayOfThisRun,
  type RunDisplay,
  sdkStatusLine,
} from "../../provider/engine/status-line.js";
import { channel } from "../../provider/resources/channel.js";
import { participant } from "../../provider/resources/participant.js";
import type { HttpResponse } from "../../provider/service/http/transport.js";
import { temporaryFolder } from "../support/temporary-folder.js";

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
    "stack: 0/1 calls, 1 min 14 s left, limited by POST /channels",
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
    "stack: 1/2 calls, 6 s left, limited by POST /channels",
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
      (time) => `stack: 0/1 calls, ${time} left, limited by POST /channels`,
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
  expect(run.progress.text()).toBe("0/12 calls, 57 s left, limited by POST /channels");
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
  expect(run.progress.text()).toBe("1/3 calls, 15 s left, limited by POST /channels");
});

test("where more calls may follow, all numbers are at least", async () => {
  const planned = new ForeseenCalls(noMemory);
  for (let count = 0; count < 10; count += 1) planned.foresee(channel, undefined, "create");
  const run = runWith(log, planned);
  run.call("a").waits(3000);
  await run.pass(2000);
  expect(run.shown).toEqual([
    "stack: 0 of at least 10 calls, at least 56 s left, limited by POST /channels",
  ]);
});

test("what is always in sight says the same, and is taken away", async () => {
  const seen: string[] = [];
  const run = runWith({ ...live, status: (text) => void seen.push(text) });
  const waiting = run.call("a");
  waiting.waits(3000);
  await run.pass(1000);
  await waiting.finish();
  expect(seen).toEqual(["0/1 calls, 2 s left, limited by POST /channels", ""]);
});

const script = require.resolve("@pulumi/pulumi/cmd/dynamic-provider");
const load = createRequire(script);

interface Line {
  readonly urn: string;
  readonly message: string;
}

/** An engine that takes calls which are under way together from the last to the first. */
const engineThatTakesLastFirst = async () => {
  const grpc = load("@grpc/grpc-js");
  const { EngineService } = load("@pulumi/pulumi/proto/engine_grpc_pb.js");
  const { Empty } = load("google-protobuf/google/protobuf/empty_pb.js");
  const taken: Line[] = [];
  const underWay: (() => void)[] = [];
  const server = new grpc.Server();
  server.addService(EngineService, {
    log: (
      { request }: { request: { getUrn(): string; getMessage(): string } },
      answer: (error: null, empty: unknown) => void,
    ) => {
      if (underWay.length === 0) setImmediate(() => setImmediate(takeAll));
      underWay.push(() => {
        taken.push({ urn: request.getUrn(), message: request.getMessage() });
        answer(null, new Empty());
      });
    },
  });
  const takeAll = (): void => {
    for (const take of underWay.splice(0).reverse()) take();
  };
  const address = await new Promise<string>((resolve, reject) => {
    server.bindAsync(
      "127.0.0.1:0",
      grpc.ServerCredentials.createInsecure(),
      (error: Error | null, port: number) => (error ? reject(error) : resolve(`127.0.0.1:${port}`)),
    );
  });
  onTestFinished(() => server.forceShutdown());
  return { address, taken };
};

const statusLineTo = (address: string) => {
  const before = process.argv;
  process.argv = [process.execPath, script, address];
  onTestFinished(() => {
    process.argv = before;
  });
  return sdkStatusLine();
};

test("a row ends as it was reported last, though the engine takes calls in any order", async () => {
  const { address, taken } = await engineThatTakesLastFirst();
  const show = statusLineTo(address);
  const rows = ["a", "b", undefined];
  for (const row of rows) {
    show("2 s left", row);
    show("kept", row, "info");
    show("1 s left", row);
    show("", row);
  }
  await expect.poll(() => taken).toHaveLength(9);
  for (const row of rows) {
    const messages = taken.filter(({ urn }) => urn === (row ?? "")).map(({ message }) => message);
    expect(messages).toEqual(["2 s left", "kept", ""]);
  }
  show("again", "a");
  await expect.poll(() => taken.at(-1)).toEqual({ urn: "a", message: "again" });
});

test("where no engine answers, a line is lost and nothing else", async () => {
  const { address } = await engineThatTakesLastFirst();
  const show = statusLineTo(address.replace(/\d+$/, "1"));
  for (let line = 0; line < 100; line += 1) expect(() => show(`${line}`, "a")).not.toThrow();
});

const cacheIn = (): { readonly XDG_CACHE_HOME: string } => ({ XDG_CACHE_HOME: temporaryFolder() });
const up = { pid: 77, args: ["pulumi", "up", "--yes"] };
const written = () => new Promise(setImmediate);
const filesIn = (cache: string): readonly string[] =>
  readdirSync(cache, { recursive: true, encoding: "utf8" }).filter((name) => /\.json$/.test(name));

test("the run of the same command gets what its preview has foreseen, once", async () => {
  const env = cacheIn();
  const preview = previewMemory(up, env);
  expect(preview.foreseen).toEqual({});
  preview.keep({ " POST /channels": 1 });
  preview.keep({ " POST /channels": 2 });
  await written();
  expect(previewMemory({ ...up, pid: 78 }, env).foreseen).toEqual({});
  expect(previewMemory(up, env).foreseen).toEqual({ " POST /channels": 2 });
  expect(previewMemory(up, env).foreseen).toEqual({});
});

test("only the user can read the file, and files of ended commands are removed", async () => {
  const env = cacheIn();
  const preview = previewMemory(up, env);
  preview.keep({ x: 1 });
  await written();
  const [name = ""] = filesIn(env.XDG_CACHE_HOME);
  const path = join(env.XDG_CACHE_HOME, name);
  expect(statSync(path).mode & 0o077).toBe(0);
  utimesSync(path, 0, 0);
  previewMemory({ ...up, pid: 5 }, env);
  expect(filesIn(env.XDG_CACHE_HOME)).toEqual([]);
});

test.each([
  ["pulumi", "preview"],
  ["pulumi", "up", "--skip-preview"],
  ["pulumi", "destroy"],
])("%s %s %s keeps nothing", async (...args) => {
  const env = cacheIn();
  previewMemory({ pid: 1, args }, env).keep({ x: 1 });
  await written();
  expect(filesIn(env.XDG_CACHE_HOME)).toEqual([]);
});

test("a file that was spoiled counts as none", async () => {
  const env = cacheIn();
  previewMemory(up, env).keep({ x: 1 });
  await written();
  const [name = ""] = filesIn(env.XDG_CACHE_HOME);
  writeFileSync(join(env.XDG_CACHE_HOME, name), "{");
  expect(previewMemory(up, env).foreseen).toEqual({});
});

const cli = { pid: 1, parent: 0, exe: "pulumi", folder: "/", args: ["pulumi", "up"], env: {} };

test.each([
  ["a terminal", { isTerminal: true }, { isLive: true, everyMs: 1000 }],
  ["a pipe", { isTerminal: false }, { isLive: false, everyMs: 30_000 }],
  ["a list of changes", { isTerminal: true, args: ["pulumi", "up", "--diff"] }, { isLive: false }],
  ["a terminal of a pipeline", { isTerminal: true, env: { CI: "true" } }, { isLive: false }],
  [
    "--non-interactive",
    { isTerminal: true, args: ["pulumi", "up", "--non-interactive"] },
    { isLive: false },
  ],
])("%s is shown what suits it", (_, facts, display) => {
  expect(displayOfThisRun({ ...cli, ...facts })).toMatchObject(display);
});
