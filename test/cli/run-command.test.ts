import { join } from "node:path";
import { expect, test } from "vitest";
import { isRunning, runCommand } from "../../provider/pulumi-cli/processes.js";
import { shellScript, temporaryFolder } from "./temporary-folder.js";

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
