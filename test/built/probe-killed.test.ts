import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { startTool } from "../support/tool-process.js";

let emulator: Emulator;
let folder: string;

beforeAll(async () => {
  emulator = await startEmulator();
  folder = mkdtempSync(join(tmpdir(), "conversation-probe-"));
});

afterAll(async () => {
  await emulator.close();
  rmSync(folder, { recursive: true, force: true });
});

const start = () =>
  startTool(["probe", "--yes", "--no-burst", "--out", join(folder, "f.json")], {
    cwd: folder,
    env: { ...process.env, ...emulatorEnvironment(emulator), XDG_CACHE_HOME: folder },
  });

const left = async (): Promise<unknown[]> =>
  Object.values((await emulator.control.snapshot()).objects).flat();

test.each([2, 7, 13, 20, 26])(
  "a probe that is killed at its call %d leaves nothing once it was run again",
  async (call) => {
    await emulator.control.reset();
    const killed = start();
    const ended = once(killed, "exit");
    while ((await emulator.control.log()).length < call) await pause(1);
    killed.kill("SIGKILL");
    await ended;
    const [code] = await once(start(), "exit");
    expect([code, await left()]).toEqual([0, []]);
  },
);

test.each(["SIGINT", "SIGHUP"] as const)("%s makes it remove everything", async (signal) => {
  await emulator.control.reset();
  const interrupted = start();
  const ended = once(interrupted, "exit");
  while ((await emulator.control.log()).length < 9) await pause(1);
  interrupted.kill(signal);
  const [code] = await ended;
  expect([code, await left()]).toEqual([130, []]);
});
