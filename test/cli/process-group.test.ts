import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, test } from "vitest";
import { endProcessesWith, isRunning } from "../../provider/pulumi-cli/processes.js";

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
