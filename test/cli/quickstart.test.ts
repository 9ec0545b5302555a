import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { compact, type PulumiProject, stateFolder } from "../../cli/quickstart/pulumi-project.js";
import { configureCallbacks, objectTable } from "../../cli/quickstart/run-quickstart.js";
import { packageRoot } from "../../provider/kernel/package.js";
import { closeServer, listenHere, portOf } from "../support/loopback-server.js";
import { lowPort } from "../support/low-port.js";
import { temporaryFolder } from "../support/temporary-folder.js";

/** A project whose configuration says this, and what is set in it. */
const project = (configuration?: string) => {
  const state = stateFolder(temporaryFolder()).project("orders-bot");
  mkdirSync(state.folder, { recursive: true });
  if (configuration !== undefined) writeFileSync(state.configFile, configuration);
  const set: Readonly<Record<string, string>>[] = [];
  const configure: PulumiProject["configure"] = async (plain, secret) => {
    set.push({ ...plain, ...secret });
  };
  return { pulumi: { state, configure }, set };
};

/** What an earlier run has declared. */
const declared = (port: number): string =>
  `config:\n  orders-bot:callbackUrl: http://127.0.0.1:${port}\n`;

test("a new stack gets a port of this machine and a password", async () => {
  const { pulumi, set } = project();
  await configureCallbacks(pulumi);
  const password = expect.stringMatching(/^[0-9a-f]{36}$/);
  const callbackUrl = expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/);
  expect(set).toEqual([{ callbackUrl, callbackPassword: password }]);
});

test("the port of an earlier run is kept", async () => {
  const { pulumi, set } = project(declared(await lowPort()));
  await configureCallbacks(pulumi);
  expect(set).toEqual([]);
});

test("where somebody else has taken it, another is declared", async () => {
  const server = createServer();
  const origin = await listenHere(server);
  onTestFinished(() => closeServer(server));
  const { pulumi, set } = project(declared(portOf(server)));
  await configureCallbacks(pulumi);
  expect(set).toHaveLength(1);
  expect(set[0]?.callbackUrl).not.toBe(origin);
});

test("each project has the name that its project file says", () => {
  const { projects } = stateFolder(packageRoot());
  const names = projects.map(
    ({ source }) => /^name: (.*)$/m.exec(readFileSync(join(source, "Pulumi.yaml"), "utf8"))?.[1],
  );
  expect(names).toEqual(projects.map(({ name }) => name));
});

test("objects stand with the names of the objects that they mention, wherever that is", () => {
  const lines = objectTable([
    { kind: "Authentication", id: "a-1", name: "login", body: { id: "a-1", name: "login" } },
    {
      kind: "ClientApplication",
      id: "c-1",
      name: "bot",
      body: {
        id: "c-1",
        roles: [{ authentication: { id: "a-1" } }, { authentication: { id: "a-1" } }],
      },
    },
  ]);
  expect(lines).toEqual([
    "kind               name   refers to",
    "─────────────────  ─────  ─────────",
    "Authentication     login",
    "ClientApplication  bot    login",
  ]);
});

const token = "pulumi-nodejs:dynamic/conversation:Channel";

test.each<[string, string, string | undefined, boolean?]>([
  ["a row of a resource", ` +  ${token} kiosk created (0.1s) `, " +  Channel kiosk created (0.1s)"],
  ["an error", "    error: it failed", "    error: it failed"],
  ["an error that looks like an output", '    error: "it" failed', '    error: "it" failed'],
  ["the count", "    + 12 created", "    + 12 created"],
  ["the heading of the messages", "Diagnostics:", "Diagnostics:"],
  [
    "a row of the plan",
    ` ~  ${token} kiosk update [diff: ~icon]`,
    " ~  Channel kiosk update [diff: ~icon]",
  ],
  [
    "a component",
    " +  conversation:index:ConversationAccount shop created (1s) ",
    " +  ConversationAccount shop created (1s)",
  ],
  [
    "the row of the program with a warning",
    "   pulumi:pulumi:Stack x created (2s) 1 warning",
    "   pulumi:pulumi:Stack x created (2s) 1 warning",
  ],
  ["what is under way", ` +  ${token} kiosk creating (0s) `, undefined],
  [
    "what is under way, in colour",
    `\u001b[32m +  ${token} kiosk \u001b[1mcreating\u001b[0m (0s)\u001b[0m`,
    undefined,
  ],
  ["signs of life", "@ updating....", undefined],
  ["empty lines", "  ", undefined],
  ["outputs", '    accountId       : "6c5e"', undefined],
  ["outputs that are new", "    + accountId      : [unknown]", undefined],
  [
    "outputs that change",
    '  ~ callbackUrl: "http://127.0.0.1:1" => "http://127.0.0.1:2"',
    undefined,
  ],
  ["headings without a message", "Resources:", undefined],
  [
    "the row of the program",
    " +  pulumi:pulumi:Stack default-account-quickstart created (2s)",
    undefined,
  ],
  ["the plan, if the result follows", ` +  ${token} kiosk create `, undefined, true],
  ["its changes", ` ~  ${token} kiosk update [diff: ~icon] `, undefined, true],
  ["the sum of the plan", "    + 12 to create", "    + 12 to create", true],
])("%s: %j is shown as %j", (_, line, shown, withoutPlan = false) => {
  expect(compact(line, withoutPlan)).toBe(shown && `  ${shown}`);
});
