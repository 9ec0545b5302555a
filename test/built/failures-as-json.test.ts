import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { closeServer, listenHere } from "../support/loopback-server.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const main = join(__dirname, "..", "..", "dist", "cli", "main.js");

/** A service that takes every call and never responds, and what resolves with its first one. */
const silentService = async () => {
  const called = Promise.withResolvers<void>();
  const server = createServer(() => called.resolve());
  const origin = await listenHere(server);
  onTestFinished(() => void closeServer(server));
  return { origin, called: called.promise };
};

const started = (args: readonly string[], environment: NodeJS.ProcessEnv) => {
  const folder = temporaryFolder();
  const env = { PATH: process.env.PATH, XDG_CACHE_HOME: folder, ...environment };
  const child = spawn(process.execPath, [main, ...args, "--json"], { cwd: folder, env });
  onTestFinished(() => void child.kill("SIGKILL"));
  return { child, printed: text(child.stdout) };
};

test.each([
  [["doctor"], "SIGINT"],
  [["doctor"], "SIGHUP"],
  [["explain"], "SIGTERM"],
] as const)("%j says as JSON that %s stopped it", async (args, signal) => {
  const { origin, called } = await silentService();
  const { child, printed } = started(args, {
    CONVERSATION_BASE_URL: `${origin}/conversation/v3`,
    CONVERSATION_TOKEN_URL: `${origin}/oauth/token`,
    CONVERSATION_CLIENT_ID: "shop",
    CONVERSATION_CLIENT_SECRET: "not-a-real-one",
  });
  const ended = once(child, "exit");
  await Promise.race([called, ended]);
  child.kill(signal);
  expect(await ended).toEqual([130, null]);
  expect(JSON.parse(await printed).error).toMatchObject({
    code: "STOPPED",
    message: expect.stringMatching(/^Interrupted\. /),
    exitCode: 130,
  });
});
