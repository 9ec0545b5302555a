import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { startTool } from "../support/tool-process.js";

/** Says the address of its emulator, once a signal would find it ready, and then what it gets. */
const patient = `
for (const signal of ["SIGTERM", "SIGINT", "SIGHUP", "SIGUSR2"])
  process.on(signal, () => { console.log(signal); if (signal !== "SIGUSR2") process.exit(7); });
console.log(process.env.CONVERSATION_BASE_URL);
setInterval(() => {}, 1000);`;

const started = (...command: readonly string[]) => {
  const child = startTool(["emulator", "--", ...command]);
  onTestFinished(() => void child.kill("SIGKILL"));
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  const lines: string[] = [];
  child.stdout.on("data", (chunk: Buffer) => lines.push(...chunk.toString().trim().split("\n")));
  const line = async (): Promise<string> => {
    await expect.poll(() => lines.length).toBeGreaterThan(0);
    return lines.shift() ?? "";
  };
  return { child, line, ended };
};

test.each(["SIGTERM", "SIGINT", "SIGHUP"] as const)(
  "%s reaches the command, whose end ends the emulator",
  async (signal) => {
    const { child, line, ended } = started(process.execPath, "-e", patient);
    const baseUrl = await line();
    expect((await fetch(`${baseUrl}/channels`)).status).toBe(401);
    child.kill(signal);
    expect(await line()).toBe(signal);
    expect(await ended).toBe(7);
    await expect(fetch(baseUrl)).rejects.toThrow("fetch failed");
  },
);

test("a signal that the command takes as news ends nothing", async () => {
  const { child, line, ended } = started(process.execPath, "-e", patient);
  const baseUrl = await line();
  child.kill("SIGUSR2");
  expect(await line()).toBe("SIGUSR2");
  expect((await fetch(`${baseUrl}/channels`)).status).toBe(401);
  child.kill("SIGTERM");
  expect(await ended).toBe(7);
});

test("whoever reads the help may stop reading: nothing is said of it", async () => {
  const child = startTool(["emulator", "--help"]);
  child.stdout.destroy();
  const said = text(child.stderr);
  expect(await new Promise((resolve) => child.once("close", resolve))).toBe(0);
  expect(await said).toBe("");
});
