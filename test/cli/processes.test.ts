import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { setTimeout as pause } from "node:timers/promises";
import { expect, onTestFinished, type TestContext, test, vi } from "vitest";
import { isRunning as isThere, runCommand } from "../../cli/pulumi/processes.js";
import { endWith, isRunning, markedWith, markVariable } from "../support/processes.js";
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
  const script = sh("trap '' TERM", "(trap '' TERM; sleep 600) &", "echo $!", "sleep 600");
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
    const other = "perl -e 'setpgrp(0, 0); print qq(in\\n); close STDOUT; sleep 600'";
    const ended = await runCommand(sh(`${other} &`, "echo $!", "exec sleep 600"), [], {
      signal: controller.signal,
      onLine: (line) => line === "in" && controller.abort(),
    });
    const helper = Number(/\d+/.exec(ended.stdout)?.[0]);
    expect(helper).toBeGreaterThan(0);
    await expect.poll(() => isRunning(helper)).toBe(false);
  },
);

test("a helper that outlives its command is ended", async () => {
  const ended = await runCommand(sh("sleep 600 > /dev/null 2>&1 &", "echo $!"), []);
  await expect.poll(() => isRunning(Number(ended.stdout))).toBe(false);
});

test("one that has left its process group does not keep its command from ending", async () => {
  const leaving = "setsid sh -c 'echo $$; exec sleep 600 >&2' &";
  const ended = await runCommand(sh(`helper=$(${leaving})`, "echo $helper"), []);
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
  /** All that it writes where errors go. */
  readonly errors: Promise<string>;
  /** What it has started, itself left out. */
  readonly started: () => readonly number[];
}

const parent = ({ onTestFinished }: TestContext, ...args: readonly string[]): Parent => {
  const mark = randomUUID();
  const child = spawn(process.execPath, [script, ...args], {
    env: { ...process.env, [markVariable]: mark },
    stdio: ["ignore", "pipe", "pipe"],
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
    errors: text(child.stderr),
    started: () => markedWith(mark).filter((pid) => pid !== child.pid),
  };
};

const waits = "echo ready; while :; do sleep 0.05; done";
const ignoresIt = `trap 'echo asked' TERM; ${waits}`;
/** With a helper in a process group of its own. */
const endsTheSecondTime = `setsid sleep 600 & h=$!; n=0; trap 'echo asked; n=$((n+1)); [ $n = 1 ] || { kill $h; echo ended; exit; }' TERM; ${waits}`;

// From here on side by side: each of them waits most of the time.

test.concurrent.for([
  ["that ends what it has started", "SIGTERM", endsTheSecondTime, "ended"],
  ["that ignores it", "SIGTERM", ignoresIt, undefined],
  ["that ignores it", "SIGINT", ignoresIt, undefined],
  ["that ignores it", "SIGHUP", ignoresIt, undefined],
] as const)(
  "a second signal ends a command %s (%s), and nothing runs on",
  async ([_, signal, lines, last], context) => {
    const stopped = parent(context, "run", lines);
    expect(await stopped.line()).toBe("ready");
    stopped.child.kill(signal);
    expect(await stopped.line()).toBe("asked");
    await pause(400);
    stopped.child.kill(signal);
    expect([await stopped.line(), await stopped.line()]).toEqual(["asked", last]);
    expect(await stopped.ended).toBe(130);
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

test.concurrent("a command that does not come to its end ends all the same, after 9 seconds", async (context) => {
  const hanging = parent(context, "hang");
  expect(await hanging.line()).toBe("ready");
  hanging.child.kill("SIGTERM");
  expect(await hanging.errors).toBe(
    "Interrupted: the work in progress did not finish within 9 s.\n",
  );
  expect(await hanging.ended).toBe(130);
});
