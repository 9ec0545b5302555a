import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEmulatedStack } from "pulumi-conversation/testing";
import { expect, test } from "vitest";

test("a program that throws fails with its own error and its place, and nothing else fails", async () => {
  const unhandled: unknown[] = [];
  const note = (error: unknown): void => void unhandled.push(error);
  process.prependListener("unhandledRejection", note);
  const thrown = new TypeError("no such shelf");
  const failing = startEmulatedStack({ program: () => Promise.reject(thrown) });
  await expect(failing).rejects.toThrow(/The program failed: TypeError: no such shelf \(at .*kit/);
  await expect(failing).rejects.toMatchObject({ cause: thrown });
  process.off("unhandledRejection", note);
  expect(unhandled).toEqual([]);
});

test("the user's own backend is not touched, and closing ends Pulumi while it runs", async () => {
  const folder = mkdtempSync(join(tmpdir(), "conversation-backend-"));
  process.env.PULUMI_BACKEND_URL = `file://${folder}`;
  try {
    const stack = await startEmulatedStack({ program: async () => undefined });
    expect(readdirSync(folder)).toEqual([]);
    let isAtWork = false;
    const up = stack.up(async () => {
      isAtWork = true;
      await new Promise(() => undefined);
    });
    const ended = expect(up).rejects.toThrow("the stack was closed while the command was running");
    await stack.until(async () => isAtWork || undefined, 300_000);
    const { workDir } = stack.stack.workspace;
    await Promise.all([stack.close(), stack.close()]);
    await ended;
    expect(existsSync(workDir)).toBe(false);
    await expect(stack.up()).rejects.toThrow("The stack is closed");
  } finally {
    delete process.env.PULUMI_BACKEND_URL;
    rmSync(folder, { recursive: true });
  }
});
