import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import ts from "typescript";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { oldNodeNote } from "../../cli/program-node.js";
import { runQuickstart } from "../../cli/quickstart/run-quickstart.js";
import { packageRoot } from "../../provider/kernel/package.js";
import { isFreePort } from "../support/low-port.js";

const shown = (): string => {
  const readme = readFileSync(join(packageRoot(), "README.md"), "utf8");
  const [, block] = /```\n(Ada \(customer\)[^`]*)\n```/.exec(readme) ?? [];
  if (block === undefined) throw new Error("README.md shows no conversation of the quick start.");
  return block;
};

/** What examples/orders-bot says of its conversation: the transcript of README.md, and the file. */
const transcript: readonly string[] = [
  ...shown().split("\n"),
  "",
  "The customer downloaded open-orders.csv: 78 bytes, identical to what the bot",
  "uploaded (SHA-256 fb8f61549ae8…).",
];

/** A checkout that quick starts may write in. */
interface Checkout {
  readonly root: string;
  remove(): void;
}

/** Copies what a quick start reads of this checkout; what was built is shared. */
const checkout = (): Checkout => {
  const [from, root] = [packageRoot(), mkdtempSync(join(tmpdir(), "conversation-checkout-"))];
  for (const file of ["Pulumi.yaml", "package.json", "tsconfig.base.json"])
    copyFileSync(join(from, file), join(root, file));
  cpSync(join(from, "examples"), join(root, "examples"), { recursive: true });
  for (const folder of ["dist", "node_modules"])
    symlinkSync(join(from, folder), join(root, folder));
  return { root, remove: () => rmSync(root, { recursive: true, force: true }) };
};

const service = "https://real.invalid/conversation/v3";

/**
 * What the environment of a person holds who works on a real service and on a stack of a team.
 *
 * @param folder where Pulumi's own files of that person are
 */
const shellOfSomebody = (folder: string): Readonly<Record<string, string>> => ({
  CONVERSATION_BASE_URL: service,
  CONVERSATION_TOKEN_URL: "https://real.invalid/token",
  CONVERSATION_CLIENT_ID: "real",
  CONVERSATION_CLIENT_SECRET: "real-secret",
  CONVERSATION_PLAN: "developer",
  CONVERSATION_SHARE: "0.1",
  CONVERSATION_REDIS_URL: "redis://real.invalid:1",
  CONVERSATION_PLATFORM_NAME: "acme",
  CONVERSATION_OWNERSHIP_MARK: "none",
  CONVERSATION_STAGING_BASE_URL: service,
  PULUMI_STACK: "acme/prod",
  PULUMI_CONFIG_PASSPHRASE: "of-somebody",
  PULUMI_CONFIG_PASSPHRASE_FILE: "/nowhere",
  PULUMI_BACKEND_URL: "https://real.invalid",
  PULUMI_ACCESS_TOKEN: "pul-real",
  PULUMI_CONFIG: JSON.stringify({ "conversation:baseUrl": service }),
  PULUMI_PARALLEL: "many",
  PULUMI_OPTION_STACK: "acme/prod",
  PULUMI_OPTION_JSON: "true",
  PULUMI_HOME: join(folder, "pulumi-home"),
});

let clone: Checkout;

beforeAll(() => {
  const path = [process.env.PULUMI_CONVERSATION_TEST_PULUMI, process.env.PATH];
  vi.stubEnv("PATH", path.join(delimiter));
  clone = checkout();
  // A shell that is at work on a real service and stack: none of it may reach the quick start.
  const shell = Object.entries(shellOfSomebody(clone.root));
  for (const [name, value] of shell) vi.stubEnv(name, value);
});

afterAll(() => {
  vi.unstubAllEnvs();
  clone?.remove();
});

interface Run {
  readonly destroy?: boolean;
  readonly signal?: AbortSignal;
  /** Gets everything that is written, as it comes. */
  readonly onText?: (text: string) => void;
}

/** Runs a quick start in a pipe, and gives what it wrote. */
const run = async ({ destroy = false, signal, onText }: Run = {}): Promise<string> => {
  let text = "";
  const write = (more: string) => {
    text += more;
    onText?.(more);
  };
  const end = signal ?? new AbortController().signal;
  // Another program may have connected from the declared port meanwhile; the quick start would declare another.
  const port = declared();
  if (port) await expect.poll(() => isFreePort(port)).toBe(true);
  await runQuickstart({ root: clone.root, destroy, signal: end, stream: { write } });
  // Dots say that it is alive, as often as the machine is slow.
  return text.replace(/^\.+\n/gm, "");
};

const conversation = transcript.map((line) => (line === "" ? "" : `  ${line}`)).join("\n");

/** What Pulumi counted, run by run. */
const sums = (text: string): readonly string[] =>
  [...text.matchAll(/^ {6}(?:[+~-] )?(\d+ .*)$/gm)].map(([, sum = ""]) => sum);

/** The port of the callbacks; 0 where nothing is declared. */
const declared = (): number => {
  const file = join(clone.root, ".quickstart", "orders-bot", "Pulumi.quickstart.yaml");
  if (!existsSync(file)) return 0;
  return Number(/callbackUrl: http:\/\/127\.0\.0\.1:(\d+)/.exec(readFileSync(file, "utf8"))?.[1]);
};

const isListening = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => resolve(socket.destroy().destroyed));
    socket.on("error", () => resolve(false));
  });

test("the first run declares both accounts and ends with a conversation", async () => {
  const text = await run();
  expect(sums(text)).toEqual(["11 to create", "11 created", "11 unchanged", "11 created"]);
  expect(text).toContain(`\n${conversation}\n\nNext steps\n`);
  // The programs of a new project run on the reader's Node, not on that of the checkout.
  const note = await oldNodeNote(process.env);
  expect(text.includes("on your PATH")).toBe(note !== undefined);
  expect(text).not.toContain("\u001b");
});

test("a second run changes nothing; an interruption ends its conversation, and nothing is left", async () => {
  const port = declared();
  let said = "";
  const interruption = new AbortController();
  const { signal } = interruption;
  const onText = async (text: string): Promise<void> => {
    said += text;
    const [, control] = /plan enterprise: (\S+)\/conversation\/v3/.exec(text) ?? [];
    // The first message is never answered, so that the conversation stands still.
    const fault = JSON.stringify({ on: "POST /conversations/messages", kind: "hang" });
    if (control) await fetch(`${control}/control/faults`, { method: "POST", body: fault });
    if (!text.includes("A conversation on this account")) return;
    while (!(await isListening(declared())));
    interruption.abort();
  };
  await expect(run({ signal, onText })).rejects.toMatchObject({
    exitCode: 130,
    message: expect.stringContaining("No process is left running"),
  });
  expect(sums(said)).toEqual(["11 unchanged", "11 unchanged", "11 unchanged", "11 unchanged"]);
  expect(declared()).toBe(port);
  expect(await isListening(declared())).toBe(false);
});

test("destroy takes both accounts down and leaves the service empty", async () => {
  const text = await run({ destroy: true });
  expect(sums(text)).toEqual(["11 deleted", "11 deleted"]);
  expect(text).toContain("Objects in the service\n  none\n");
  expect(existsSync(join(clone.root, ".quickstart"))).toBe(false);
  expect(await run({ destroy: true })).toContain("There is nothing to remove");
});

/** Those that run in this checkout; one with a package of its own is a template, and tested as such. */
const examples = readdirSync(join(packageRoot(), "examples")).filter(
  (name) => !existsSync(join(packageRoot(), "examples", name, "package.json")),
);

const configHost = { onUnRecoverableConfigFileDiagnostic: () => undefined, ...ts.sys };

test("the examples compile by their settings, which are alike", () => {
  const parsed = examples.map((name) => {
    const config = join(packageRoot(), "examples", name, "tsconfig.json");
    const found = ts.getParsedCommandLineOfConfigFile(config, {}, configHost);
    if (!found) throw new Error(`${config} cannot be read`);
    const { configFilePath, ...options } = found.options;
    expect(found.fileNames.length).toBeGreaterThan(0);
    return { ...found, options };
  });
  expect(examples).toHaveLength(2);
  // What is written as .mts is imported by that name.
  const options: ts.CompilerOptions = {
    ...parsed[0]?.options,
    rewriteRelativeImportExtensions: true,
  };
  expect(parsed[1]?.options).toEqual(options);
  // Together: what all of them import is read and checked once.
  const files = parsed.flatMap(({ fileNames }) => fileNames);
  const program = ts.createProgram(files, options);
  const found = [...parsed.flatMap(({ errors }) => errors), ...ts.getPreEmitDiagnostics(program)];
  const errors = found.map(
    ({ file, messageText }) =>
      `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`,
  );
  expect(errors).toEqual([]);
});
