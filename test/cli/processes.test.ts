import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, type TestContext, test, vi } from "vitest";
import { isRunning as isThere, runCommand } from "../../cli/pulumi/processes.js";
import { endWith, isRunning, markedWith, markVariable } from "../support/processes.js";
import { withSlowness } from "../support/slowness.js";
import { shellScript, temporaryFolder } from "../support/temporary-folder.js";

const sh = (...lines: string[]) => shellScript(join(temporaryFolder(), "script"), ...lines);

test("gives the exit code, the output and the last lines of both outputs", async () => {
  const ended = await runCommand(sh("echo one", "echo two >&2", "exit 3"), []);
  expect(ended).toMatchObject({ code: 3, stdout: "one", timedOut: false });
  expect([...ended.lastLines].sort()).toEqual(["one", "two"]);
});

test("hands over each line as it comes", async () => {
  const lines: string[] = [];
  await runCommand(sh("echo one", "printf two"), [], { onLine: (line) => lines.push(line) });
  expect(lines).toEqual(["one", "two"]);
});

test("a command that does not exist is an error", async () => {
  await expect(runCommand(join(temporaryFolder(), "tool"), [])).rejects.toThrow("ENOENT");
});

test("an abort ends the command and what it started, also what ignores the signal", async () => {
  const controller = new AbortController();
  let helper = 0;
  const script = sh("trap '' TERM", "(trap '' TERM; sleep 60) &", "echo $!", "sleep 60");
  const ended = await runCommand(script, [], {
    signal: controller.signal,
    stops: [
      { signal: "SIGTERM", afterMs: 0 },
      { signal: "SIGKILL", afterMs: 20 },
    ],
    onLine: (line) => {
      helper = Number(line);
      controller.abort();
    },
  });
  expect(ended.code).toBeUndefined();
  expect(helper).toBeGreaterThan(0);
  await expect.poll(() => isRunning(helper)).toBe(false);
});

test.runIf(process.platform === "linux")(
  "an abort ends what the command has put into another process group, too",
  async () => {
    const controller = new AbortController();
    const other = "perl -e 'setpgrp(0, 0); print qq(in\\n); close STDOUT; sleep 60'";
    const ended = await runCommand(sh(`${other} &`, "echo $!", "exec sleep 60"), [], {
      signal: controller.signal,
      onLine: (line) => line === "in" && controller.abort(),
    });
    const helper = Number(/\d+/.exec(ended.stdout)?.[0]);
    expect(helper).toBeGreaterThan(0);
    await expect.poll(() => isRunning(helper)).toBe(false);
  },
);

test("a helper that outlives its command is ended", async () => {
  const ended = await runCommand(sh("sleep 60 > /dev/null 2>&1 &", "echo $!"), []);
  await expect.poll(() => isRunning(Number(ended.stdout))).toBe(false);
});

test("one that has left its process group does not keep its command from ending", async () => {
  const ended = await runCommand(sh("setsid sleep 60 &", "echo $!", "sleep 0.3"), []);
  const helper = Number(ended.stdout);
  expect(isRunning(helper)).toBe(true);
  process.kill(helper, "SIGKILL");
});

test("a command that takes too long is stopped and says so", async () => {
  const ended = await runCommand(sh("exec sleep 60"), [], { timeoutMs: 20 });
  expect(ended).toMatchObject({ code: undefined, timedOut: true });
});

test("a signal that was aborted before ends the command at once", async () => {
  const ended = await runCommand(sh("exec sleep 60"), [], { signal: AbortSignal.abort() });
  expect(ended.code).toBeUndefined();
});

test.each([
  ["EPERM", true],
  ["ESRCH", false],
])("a process that shows itself to nobody else, and answers %s, runs: %s", (code, is) => {
  const kill = vi.spyOn(process, "kill").mockImplementation(() => {
    throw Object.assign(new Error(code), { code });
  });
  onTestFinished(() => kill.mockRestore());
  expect(isThere(4_194_303)).toBe(is);
});

const script = join(__dirname, "../../dist/test/support/parent-process.js");

interface Parent {
  readonly child: ChildProcess;
  /** The next line that it prints; undefined at the end. */
  readonly line: () => Promise<string | undefined>;
  readonly ended: Promise<number | null>;
  /** What it has started, itself left out. */
  readonly started: () => readonly number[];
}

const parent = ({ onTestFinished }: TestContext, ...args: readonly string[]): Parent => {
  const mark = randomUUID();
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, [markVariable]: mark },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
    return endWith(mark);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    line: async () => (await lines.next()).value,
    ended: once(child, "exit").then(([code]) => code),
    started: () => markedWith(mark).filter((pid) => pid !== child.pid),
  };
};

/** Milliseconds that its end takes after a signal, as on a machine at rest. */
const timeOfEnd = async ({ child, ended }: Parent, signal: NodeJS.Signals): Promise<number> => {
  const { result, slowness } = await withSlowness(async () => {
    const start = performance.now();
    child.kill(signal);
    expect(await ended).toBe(130);
    return performance.now() - start;
  });
  return result / slowness;
};

/** A helper in a process group of its own, which its command ends when it is asked for the second time. */
const withHelper =
  "setsid sleep 60 & h=$!; n=0; trap 'n=$((n+1)); [ $n = 1 ] || { kill $h; exit; }' TERM; echo ready; while :; do sleep 0.05; done";

// From here on side by side: each of them waits most of the time.

test.concurrent.for([
  ["that ends what it has started", "SIGTERM", withHelper, 1000],
  ["that ignores it", "SIGTERM", "trap '' TERM; echo ready; while :; do sleep 60; done", 4000],
  ["that ignores it", "SIGINT", "trap '' TERM; echo ready; while :; do sleep 60; done", 4000],
  ["that ignores it", "SIGHUP", "trap '' TERM; echo ready; while :; do sleep 60; done", 4000],
] as const)(
  "a second signal ends a command %s (%s), and nothing runs on",
  async ([_, signal, lines, longestMs], context) => {
    const stopped = parent(context, "run", lines);
    expect(await stopped.line()).toBe("ready");
    stopped.child.kill(signal);
    await pause(400);
    expect(await timeOfEnd(stopped, signal)).toBeLessThan(longestMs);
    expect(stopped.started()).toEqual([]);
  },
);

test.concurrent("the signals of one Ctrl-C count once", async (context) => {
  const cleaning = parent(context, "clean");
  expect(await cleaning.line()).toBe("ready");
  for (let times = 0; times < 3; times += 1) cleaning.child.kill("SIGINT");
  expect(await cleaning.line()).toBe("cleaned");
  expect(await cleaning.ended).toBe(130);
});

test.concurrent("a command that does not come to its end ends all the same, within 10 seconds", async (context) => {
  const hanging = parent(context, "hang");
  expect(await hanging.line()).toBe("ready");
  expect(await timeOfEnd(hanging, "SIGTERM")).toBeLessThan(10_000);
});
