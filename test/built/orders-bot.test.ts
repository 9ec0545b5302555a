import { execFile } from "node:child_process";
import { join } from "node:path";
import { type Emulator, startEmulator } from "pulumi-conversation/emulator";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import {
  type PulumiProject,
  pulumiProject,
  stateFolder,
} from "../../cli/quickstart/pulumi-project.js";
import { configureCallbacks } from "../../cli/quickstart/run-quickstart.js";
import { type Checkout, checkout } from "../cli/quickstart-checkout.js";
import { transcript } from "../cli/quickstart-transcript.js";

const bin = process.env.PULUMI_CONVERSATION_TEST_PULUMI ?? "";

let emulator: Emulator;
let clone: Checkout;
let project: PulumiProject;
/** What `pulumi stack output` says. */
let outputs: string;

const control = async (method: string, path: string, body?: string): Promise<string> => {
  const init = { method, ...(body === undefined ? {} : { body }) };
  const response = await fetch(emulator.controlUrl + path, init);
  const text = await response.text();
  if (!response.ok) throw new Error(text);
  return text;
};

beforeAll(async () => {
  emulator = await startEmulator();
  clone = checkout();
  const state = stateFolder(clone.root);
  state.prepare();
  project = pulumiProject(state.project("orders-bot"), {
    cli: { command: join(bin, "pulumi"), bin, version: "", origin: "PATH" },
    folder: state.folder,
    settings: emulatorEnvironment(emulator),
    signal: new AbortController().signal,
    print: () => {},
    coloured: false,
    alive: () => ({ print: () => undefined, end: () => undefined }),
  });
  await project.ready();
  await configureCallbacks(project);
  await project.show("up", "--yes", "--skip-preview");
  outputs = await project.outputs();
});

afterAll(async () => {
  await emulator?.close();
  clone?.remove();
});

const arm = (fault: object): Promise<string> => control("POST", "/faults", JSON.stringify(fault));

afterEach(() => control("DELETE", "/faults"));

/** Runs the conversation as a person does, for whom nobody waits long. */
const converse = (
  args: readonly string[] = [],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ code: unknown; said: string }> =>
  new Promise((resolve) => {
    const script = join(project.state.source, "converse.mts");
    const env = {
      PATH: process.env.PATH,
      ...emulatorEnvironment(emulator),
      ORDERS_BOT_STACK: outputs,
      ...environment,
    };
    execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, said: stdout + stderr }),
    );
  });

const callbackUrl = (): string => JSON.parse(outputs).callbackUrl;

/** How long a step is waited for that does not come: longer than this machine needs for a whole conversation. */
let patience = "5";

test("the account that was declared carries a whole conversation, again and again", async () => {
  const conversation = { code: 0, said: `${transcript.join("\n")}\n` };
  const begun = performance.now();
  expect(await converse()).toEqual(conversation);
  expect(await converse()).toEqual(conversation);
  patience = String(Math.ceil((performance.now() - begun) / 1000));
});

test.each([
  ["bot", "richMessage.listpicker arrived from the bot"],
  ["agent", "agent.join arrived from the agent"],
  ["customer", "richMessage.listpicker arrived from the bot"],
])("a callback of the %s that nobody answers is named", async (side, missing) => {
  const snapshot = await control("GET", "/snapshot");
  const url = `${callbackUrl()}/${side}`;
  await control("PUT", "/snapshot", snapshot.replaceAll(url, `http://127.0.0.1:9/${side}`));
  const { code, said } = await converse(["--patience", patience]);
  await control("PUT", "/snapshot", snapshot);
  expect(code).toBe(1);
  expect(said).toContain(`✗ No ${missing} within ${patience} s.\n`);
  expect(said).toContain(`from the service to the callback of the ${side}, ${url}. The service`);
  expect(said).toContain("never called it. Check that this address leads to 127.0.0.1:");
});

test("a password that is not the stack's is distinguished from a callback that is not reached", async () => {
  const other = JSON.stringify({ ...JSON.parse(outputs), callbackPassword: "another-one" });
  const { code, said } = await converse(["--patience", patience], { ORDERS_BOT_STACK: other });
  expect(code).toBe(1);
  expect(said).toContain(
    `callback of the bot, ${callbackUrl()}/bot. The service called it with the wrong password`,
  );
  expect(said).not.toContain("another-one");
});

test("a service that does not answer the bot is distinguished from a callback that is not reached", async () => {
  await arm({ on: "POST /assets", kind: "hang", times: 100 });
  const { code, said } = await converse(["--patience", patience]);
  expect(code).toBe(1);
  expect(said).toContain(`✗ No text arrived from the bot within ${patience} s.\n`);
  expect(said).toContain("from the bot to the service. The bot got a message, but the service");
});

test("what the bot fails with ends the conversation at once", async () => {
  await arm({ on: "POST /assets", kind: "status", status: 403, times: 100 });
  const { code, said } = await converse(["--patience", "600"]);
  expect(code).toBe(1);
  expect(said).toMatch(/^✗ The bot failed: Could not .*POST \/assets.*403/);
});

test("an account that is not there is said to be missing", async () => {
  const elsewhere = JSON.stringify({ ...JSON.parse(outputs), address: "nowhere" });
  const { code, said } = await converse([], { ORDERS_BOT_STACK: elsewhere });
  expect([code, said]).toEqual([1, expect.stringContaining("no active account has this address")]);
});

test.each([
  ["no outputs", [], { ORDERS_BOT_STACK: "" }, "✗ ORDERS_BOT_STACK is not set. Set it"],
  [
    "outputs that are no JSON",
    [],
    { ORDERS_BOT_STACK: "{" },
    "✗ ORDERS_BOT_STACK does not hold JSON",
  ],
  ["outputs of another stack", [], { ORDERS_BOT_STACK: "{}" }, "holds no address: run pulumi up"],
  ["no settings", [], { CONVERSATION_BASE_URL: "" }, "baseUrl is missing"],
  ["an unknown option", ["--fast"], {}, "✗ Unknown option '--fast'"],
  [
    "a wait that is none",
    ["--patience", "long"],
    {},
    '✗ --patience must be a number from 0.1 to 600, not "long"',
  ],
] as const)(
  "with %s nothing is sent, and it says what to do",
  async (_, args, environment, says) => {
    await control("DELETE", "/faults");
    const before = await control("GET", "/stats");
    const { code, said } = await converse(args, environment);
    expect([code, said]).toEqual([1, expect.stringContaining(says)]);
    expect(await control("GET", "/stats")).toBe(before);
  },
);

test("destroy leaves nothing behind", async () => {
  await project.show("destroy", "--yes", "--skip-preview");
  const { objects } = JSON.parse(await control("GET", "/snapshot"));
  expect(Object.values(objects).flat()).toEqual([]);
});
