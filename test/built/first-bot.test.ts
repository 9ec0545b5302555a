import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { connectControl } from "pulumi-conversation/emulator";
import { afterAll, expect, test } from "vitest";
import type { z } from "zod";

import { emulatorLineSchema } from "../../cli/emulator-schema.js";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type RedisServer, startRedis } from "../pacing/support/redis-server.js";
import { guideBlocks, shellLines } from "../support/guide-commands.js";
import { lowPort } from "../support/low-port.js";
import { folderOfFile, shellScript } from "../support/temporary-folder.js";
import { startTool, toolLine } from "../support/tool-process.js";

/*
 * docs/guides/first-bot.md as its reader goes through it: every block becomes a file, every line is run by a shell,
 * in the order of the page. What is already installed is not fetched, ports are free ones, and the clock of the
 * emulator is moved.
 */

const root = join(__dirname, "..", "..");
const folder = folderOfFile();
/** Where the reader has cloned the repository to. */
const clone = join(folder, "clone");
const bin = join(folder, "bin");

/** Where the reader is, and what was exported there. */
let cwd = clone;
let exported = "";
const environment: NodeJS.ProcessEnv = {
  ...process.env,
  PATH: [
    bin,
    dirname(process.execPath),
    process.env.PULUMI_CONVERSATION_TEST_PULUMI,
    process.env.PATH,
  ].join(delimiter),
  PULUMI_BACKEND_URL: `file://${join(folder, "backend")}`,
  PULUMI_HOME: join(folder, "home"),
  PULUMI_CONFIG_PASSPHRASE: "your own passphrase",
  PULUMI_SKIP_UPDATE_CHECK: "true",
  PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
  npm_config_update_notifier: "false",
};

for (const name of ["backend", "clone"]) mkdirSync(join(folder, name));
shellScript(join(bin, "npx"), 'exec "$@"');
shellScript(join(bin, "pulumi-conversation"), `exec ${toolLine} "$@"`);

/** What `npm install` would put into the project, from this checkout. */
const installed = (): void => {
  const [from, to] = [join(root, "node_modules"), join(cwd, "node_modules")];
  for (const below of ["", ".bin"]) {
    mkdirSync(join(to, below), { recursive: true });
    for (const name of readdirSync(join(from, below)))
      if (name !== ".bin") symlinkSync(join(from, below, name), join(to, below, name));
  }
  symlinkSync(root, join(to, "pulumi-conversation"));
};

/** @throws with what the line printed unless it ends with 0 */
const inShell = (line: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { cwd, env: environment };
    execFile("sh", ["-c", exported + line], options, (error, stdout, stderr) =>
      error ? reject(new Error(`${line}\n${stdout}${stderr}`)) : resolve(stdout),
    );
  });

type Bot = ReturnType<typeof startBot>;

/** `npm start`, in a group of processes of its own. */
const startBot = (line: string) => {
  const options = { cwd, env: environment, detached: true, stdio: "pipe" } as const;
  const child = spawn("sh", ["-c", `${exported}exec ${line}`], options);
  let shown = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (more) => {
      shown += more;
    });
  const ended = once(child, "exit");
  const kill = async (): Promise<void> => {
    if (child.pid && child.exitCode === null && child.signalCode === null)
      process.kill(-child.pid, "SIGKILL");
    await ended;
  };
  const shows = (text: string) => expect.poll(() => shown).toContain(text);
  return { child, ended, kill, shows, shown: () => shown };
};

let bot: Bot | undefined;
let redis: RedisServer | undefined;
let emulator: ReturnType<typeof startTool> | undefined;
let control: ReturnType<typeof connectControl>;
let access: z.output<typeof emulatorLineSchema>;
let port = "";

afterAll(async () => {
  await bot?.kill();
  await redis?.stop();
  emulator?.kill("SIGKILL");
});

const start = async (line: string): Promise<Bot> => {
  await bot?.kill();
  bot = startBot(line);
  await bot.shows("The bot listens");
  return bot;
};

const startEmulator = async (line: string): Promise<void> => {
  const [, , ...args] = line.split(" ");
  emulator = startTool([...args, "--json", "--port", "0", "--clock", "manual"], { cwd });
  const [first] = await once(createInterface({ input: emulator.stdout }), "line");
  access = emulatorLineSchema.parse(JSON.parse(String(first)));
  control = connectControl(access.controlUrl);
  port = String(await lowPort());
  Object.assign(environment, emulatorEnvironment(access), { PORT: port });
};

/** What a reader does who is not a shell: packages are there, terminals are processes. */
const steps: readonly (readonly [RegExp, (line: string) => unknown])[] = [
  [/^npx pulumi-conversation init /, (line) => inShell(`${line} --no-install`)],
  [/^npx pulumi-conversation emulator /, startEmulator],
  [/^pulumi config set callbackSecret /, (line) => inShell(`${line} only-for-tests`)],
  [
    /^cd /,
    (line) => {
      cwd = join(cwd, line.slice(3));
      installed();
    },
  ],
  [/^npm (install|ci) /, () => undefined],
  [
    /^export /,
    async (line) => {
      if (line.includes("REDIS")) redis = await startRedis();
      exported += `${line.replace("redis://127.0.0.1:6379", redis?.url ?? "")} && `;
    },
  ],
  [/^npm start$/, start],
];

const run = async (line: string): Promise<void> => {
  const step = steps.find(([pattern]) => pattern.test(line))?.[1] ?? inShell;
  await step(line.replace("127.0.0.1:3000", `127.0.0.1:${port}`));
};

const blocks = guideBlocks("first-bot");

/** Follows the page up to the end of a section, by the number of its `npm start`. */
const goOn = async (until: (line: string) => boolean): Promise<void> => {
  for (let block = left.shift(); block; block = left.shift()) {
    const name = /^\/\/ (\S+)\n/.exec(block.text)?.[1];
    if (block.language === "ts") writeFileSync(join(cwd, name ?? ""), block.text);
    if (block.language !== "sh") continue;
    const lines = shellLines(block);
    for (const line of lines) await run(line);
    if (lines.some(until)) return;
  }
};
const left = [...blocks];

const answer = "customer: Your open orders: orders.csv";
const answers = (shown: string): number => shown.split(answer).length - 1;
const ask = () => inShell('node say.mts "Where is my order?"');

test("the reader makes an account and a bot, and customer and agent get what the page shows", async () => {
  await goOn((line) => line.startsWith("node say.mts"));
  const shown = blocks.find(({ language }) => language === "text")?.text ?? "";
  // Customer and agent get a transfer at the same time.
  const received = () =>
    bot
      ?.shown()
      .match(/^(customer|agent): .*$/gm)
      ?.sort();
  await expect.poll(received).toEqual(shown.trim().split("\n").sort());
  expect(bot?.shown()).not.toContain("pulumi-conversation:");
});

test("a message that comes while the bot is dead is answered by the next one", async () => {
  await bot?.kill();
  await ask();
  const next = await start("npm start");
  await control.advance(1_000);
  await next.shows(answer);
});

test("with Redis, what was worked on before a restart is not worked on again", async () => {
  await goOn((line) => line === "npm start");
  await control.faults([{ on: "CALLBACK", kind: "status-after-commit", status: 500 }]);
  await ask();
  await bot?.shows(answer);
  const before = answers(bot?.shown() ?? "");
  const next = await start("npm start");
  await control.advance(1_000);
  await control.waitForDelivery(
    ({ type, attempt, status }) => type === "text" && attempt === 2 && status === 202,
    { timeoutMs: 60_000 },
  );
  expect([before, answers(next.shown())]).toEqual([1, 0]);
});

test("its test passes, and a user is signed in with what the page shows", async () => {
  await goOn((line) => line === "npm test");
  expect(existsSync(join(cwd, "index.test.ts"))).toBe(false);
  await goOn((line) => line === "npm start");
  // The compiler checks the bot, too, and finds nothing but this.
  writeFileSync(join(cwd, "wrong.mts"), 'import { ordersBot } from "./bot.mts";\nordersBot(1);\n');
  const checked = inShell("npm run check").catch((error: Error) => error.message);
  expect((await checked).match(/^\S+\.m?ts(?=\(.*error TS)/gm)).toEqual(["wrong.mts"]);
  rmSync(join(cwd, "wrong.mts"));
  await control.clients({
    clientId: "web-chat",
    public: true,
    redirectUris: ["https://shop.example.com/back"],
    scopes: ["app.conversation.conversationmgr.interaction.manage"],
  });
  const signIn = `
    const { begin, finish } = await import("./sign-in.mts");
    const begun = await begin(${JSON.stringify(access.authUrl)});
    const { headers } = await fetch(begun.url, { redirect: "manual" });
    const granted = await finish(begun, headers.get("location"), ${JSON.stringify(access.tokenUrl)});
    if (!granted.accessToken) throw new Error("no token");`;
  writeFileSync(join(cwd, "user.mts"), signIn);
  await inShell("node user.mts");
});

test("the deployed bot answers, and ends by itself on SIGTERM", async () => {
  expect(left).toEqual([]);
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  await ask();
  await bot?.shows(answer);
  bot?.child.kill("SIGTERM");
  await bot?.ended;
  // npm passes the signal on, and may be gone before the bot is.
  const url = `http://127.0.0.1:${port}/bot`;
  const isGone = () =>
    fetch(url, { method: "POST" }).then(
      () => false,
      () => true,
    );
  await expect.poll(isGone).toBe(true);
});
