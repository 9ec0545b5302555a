import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, type TestContext, test, vi } from "vitest";
import {
  endProcessesWith,
  isRunning,
  markedProcesses,
  runCommand,
} from "../../provider/pulumi-cli/processes.js";
import { descendants } from "../support/processes.js";
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
  expect(isRunning(helper)).toBe(false);
});

test("a helper that outlives its command is ended", async () => {
  const ended = await runCommand(sh("sleep 60 > /dev/null 2>&1 &", "echo $!"), []);
  expect(isRunning(Number(ended.stdout))).toBe(false);
});

test.runIf(process.platform === "linux")(
  "so is one that has left its session, and would keep the output open",
  async () => {
    const ended = await runCommand(sh("setsid sleep 60 &", "echo $!"), []);
    expect(isRunning(Number(ended.stdout))).toBe(false);
  },
);

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
  expect(isRunning(4_194_303)).toBe(is);
});

const sleeper = (env: NodeJS.ProcessEnv) => spawn("/bin/sleep", ["60"], { env, stdio: "ignore" });

test.runIf(process.platform === "linux")(
  "ends the processes that carry a mark in their environment, and no others",
  async () => {
    const marked = sleeper({ TEST_MARK: "/a/folder" });
    const other = sleeper({ TEST_MARK: "/a/folder/below" });
    await Promise.all([once(marked, "spawn"), once(other, "spawn")]);
    // The environment is the new program's own only once that has started.
    await expect
      .poll(() => endProcessesWith("TEST_MARK", "/a/folder") ?? marked.signalCode)
      .toBe("SIGKILL");
    expect(isRunning(other.pid ?? 0)).toBe(true);
    other.kill("SIGKILL");
    await once(other, "exit");
  },
);

const script = join(__dirname, "../../dist/test/support/parent-process.js");
const variable = "TEST_STARTED";

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
    env: { ...process.env, [variable]: mark },
    stdio: ["ignore", "pipe", "ignore"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
    endProcessesWith(variable, mark);
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    line: async () => (await lines.next()).value,
    ended: once(child, "exit").then(([code]) => code),
    started: () => markedProcesses(variable, new Set([mark])).filter((pid) => pid !== child.pid),
  };
};

const longestMs = 5000;

const expectGone = async ({ started }: Parent): Promise<void> => {
  const start = performance.now();
  while (started().length > 0) {
    expect(performance.now() - start).toBeLessThan(longestMs);
    await pause(20);
  }
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

const onLinux = test.runIf(process.platform === "linux");

// From here on side by side: each of them waits most of the time.

onLinux.concurrent.for([
  ["a command", "echo ready; sleep 60"],
  ["one that ignores SIGTERM", "trap '' TERM HUP; echo ready; while :; do sleep 60; done"],
  ["one that stands still", "(echo ready; kill -STOP $$) & sleep 60"],
  ["what left its session", "setsid sleep 60 & echo ready; sleep 60"],
  ["what left its session and its parent", "(setsid sleep 60 &) ; echo ready; sleep 60"],
  [
    "what is started all the time",
    "trap '' TERM; echo ready; while :; do setsid sleep 9 & sleep 0.02; done",
  ],
] as const)("kill -9 of a parent ends what it has started: %s", async ([_, lines], context) => {
  const killed = parent(context, "run", lines);
  expect(await killed.line()).toBe("ready");
  await expect.poll(() => killed.started().length).toBeGreaterThan(1);
  killed.child.kill("SIGKILL");
  await killed.ended;
  await expectGone(killed);
});

onLinux.concurrent(
  "kill -9 of a parent at any moment of its start leaves nothing behind",
  async (context) => {
    for (const ms of [20, 40, 60, 80, 100, 120, 140]) {
      const killed = parent(context, "run", "setsid sleep 60 & sleep 60");
      await pause(ms);
      killed.child.kill("SIGKILL");
      await killed.ended;
      await expectGone(killed);
    }
  },
);

onLinux.concurrent(
  "a command whose parent was killed is asked to end before what it has started",
  async (context) => {
    const folder = temporaryFolder(context);
    const [asked, other] = [join(folder, "asked"), join(folder, "other")];
    const inner = `trap 'touch ${other}; exit' TERM; while :; do sleep 0.05; done`;
    const lines = `trap 'touch ${asked}; exit' TERM; sh -c "${inner}" & echo ready; wait`;
    const killed = parent(context, "run", lines);
    expect(await killed.line()).toBe("ready");
    killed.child.kill("SIGKILL");
    await expectGone(killed);
    expect(statSync(asked).mtimeMs).toBeLessThanOrEqual(statSync(other).mtimeMs);
  },
);

onLinux.concurrent("nobody watches any more for a parent that has ended", async (context) => {
  const one = parent(context, "run", "echo ready; read -r line < /proc/self/fd/0 || sleep 0.3");
  expect(await one.line()).toBe("ready");
  const [watcher = 0] = descendants(one.child.pid ?? 0, "child-watcher.js");
  expect(watcher).toBeGreaterThan(0);
  expect(readFileSync(`/proc/${watcher}/environ`, "utf8")).toBe("");
  expect(await one.ended).toBe(0);
  await expect.poll(() => readdirSync("/proc").includes(String(watcher))).toBe(false);
});

test.concurrent.for(["SIGINT", "SIGTERM", "SIGHUP"] as const)(
  "a second %s ends a command at once, and what it has started with it",
  async (signal, context) => {
    const stubborn = parent(
      context,
      "run",
      "trap '' TERM INT HUP; echo ready; while :; do sleep 60; done",
    );
    expect(await stubborn.line()).toBe("ready");
    stubborn.child.kill(signal);
    await pause(400);
    expect(await timeOfEnd(stubborn, signal)).toBeLessThan(1000);
    await expectGone(stubborn);
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
