import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { explainSetUp } from "../../cli/explain/explain-command.js";
import { explanationSchema } from "../../cli/explain/explanation.js";
import { startEmulator } from "../../emulator/index.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { run } from "../cli/session.js";
import { roleOf } from "../support/forms.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const application = (id: string, name: string, role: string, more: JsonObject = {}) => ({
  id,
  name,
  roles: [roleOf(role, { callback: `https://${id}.example.com/` })],
  ...more,
});

/** The setup of a shop: bot first, agent on escalation. */
const shop = (changes: JsonObject = {}): JsonObject => ({
  channels: [{ id: "c", type: "custom.web", displayName: "Web", icon: "aVZC" }],
  clientapplications: [
    application("kiosk", "kiosk", "customer"),
    application("bot", "bot-app", "custom_bot"),
    application("desk", "desk", "custom_agent"),
  ],
  participants: [{ id: "p", name: "orders-bot", type: "custom_bot", application: { id: "bot" } }],
  orchestrations: [
    {
      id: "o",
      name: "orders",
      applications: {
        botConfiguration: {
          bots: [{ id: "bot", participant: { id: "p" }, onEscalation: { agent: { id: "desk" } } }],
        },
        customerConfiguration: { customer: { id: "kiosk" } },
      },
    },
  ],
  accounts: [
    {
      id: "a",
      name: "shop",
      address: "shop-1",
      channel: { id: "c" },
      chatConfigurations: { orchestration: { id: "o" } },
    },
  ],
  ...changes,
});

const saved = (objects: JsonObject): string => {
  const file = join(temporaryFolder(), "snapshot.json");
  writeFileSync(file, JSON.stringify({ objects }));
  return file;
};

const explained = (objects: JsonObject, ...args: string[]) =>
  run("explain", "--snapshot", saved(objects), ...args);

test("the table says who gets what from whom, within 80 columns", async () => {
  const { code, out, err } = await explained(shop());
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain("shop: shop-1 on custom.web\nA new conversation begins with the bot.");
  expect(out).toContain("While the bot has the conversation:");
  expect(out).toMatch(/customer {2}text, typing\.\*.*bot: orders-bot/);
  expect(out).toMatch(/bot +escalation\.transfer → to the agent/);
  expect(out).toContain("No message is lost.");
  for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("--json keeps to its schema", async () => {
  const { out } = await explained(shop(), "--json");
  const { accounts } = explanationSchema.parse(JSON.parse(out));
  const escalation = accounts[0]?.routes.find(({ leadsTo }) => leadsTo === "agent");
  expect(escalation).toMatchObject({
    phase: "bot",
    from: "bot",
    types: ["escalation.transfer"],
    to: [
      { side: "customer", application: "kiosk", role: "customer" },
      { side: "agent", application: "desk", callback: "https://desk.example.com/" },
    ],
  });
});

test.each<[string, JsonObject, string]>([
  [
    "a bot that is not active",
    { participants: [{ id: "p", name: "orders-bot", type: "custom_bot", active: false }] },
    // The conversation begins with the agent then.
    "No message is lost.",
  ],
  [
    "an agent without a role",
    {
      clientapplications: [
        application("kiosk", "kiosk", "customer"),
        application("bot", "bot-app", "custom_bot"),
        application("desk", "desk", "customer"),
      ],
    },
    "an escalation reaches no agent: the client application desk has no custom_agent or platform_agent role",
  ],
  ["a channel that is not there", { channels: [] }, "the account's channel does not exist"],
  [
    "a channel that is not active",
    { channels: [{ id: "c", type: "custom.web", active: false }] },
    "the channel custom.web is not active",
  ],
  ["no orchestration", { orchestrations: [] }, "a new conversation reaches no recipient"],
])("%s is named", async (_, changes, text) => {
  const { out } = await explained(shop(changes));
  expect(out.replace(/\s+/g, " ")).toContain(text);
});

test("--check turns a dead end into exit code 3", async () => {
  expect((await explained(shop(), "--check")).code).toBe(0);
  expect((await explained(shop({ orchestrations: [] }), "--check")).code).toBe(3);
  expect((await explained(shop({ orchestrations: [] }))).code).toBe(0);
});

const hostile = 'x"]; click a "javascript:alert(1)" <img src=x onerror=alert(1)> `#` \n end';

test("a diagram takes names for names only", async () => {
  const objects = shop({
    clientapplications: [
      application("kiosk", hostile, "customer"),
      application("bot", "bot-app", "custom_bot"),
      application("desk", "漢字", "custom_agent"),
    ],
  });
  const { out } = await explained(objects, "--format", "mermaid");
  expect(out).toMatch(/^flowchart LR\n/);
  expect(out).not.toMatch(/<img|click a "|`/);
  for (const line of out.trim().split("\n").slice(1))
    expect(line).toMatch(
      /^ {2}(subgraph a0\["[^"<>`\\]*"\]|end| {2}a0n\d+\["[^"<>`\\]*"\]| {2}a0n\d+ (-->|-\.->)\|"[^"<>`\\]*"\| a0n\d+)$/,
    );
});

test.each([
  [["--state", "--snapshot", "x"], 2, "not both"],
  [["--snapshot", "/nowhere"], 1, "Cannot read /nowhere"],
  [["--format", "svg"], 2, "Allowed choices are table, mermaid"],
])("%j is refused", async (args, code, text) => {
  const refused = await run("explain", ...args);
  expect(refused.code).toBe(code);
  expect(refused.err).toContain(text);
});

test("an account that is not there is named, with those that are", async () => {
  const { code, err } = await explained(shop(), "--account", "shops");
  expect(code).toBe(1);
  expect(err).toContain(
    "the account shops: no account has this name, address, or ID. Accounts: shop.",
  );
});

test("a file of something else is refused with what to do", async () => {
  const file = join(temporaryFolder(), "x.json");
  writeFileSync(file, "{}");
  const { code, err } = await run("explain", "--snapshot", file);
  expect(code).toBe(1);
  expect(err).toContain("an emulator snapshot (GET /snapshot");
});

test("nothing is said where a kind that decides could not be read, live or in a file", async () => {
  const on = await startEmulator();
  onTestFinished(() => on.close());
  const env = emulatorEnvironment(on);
  const refused: string[] = [];
  for (const { collection, kind, noun } of resources) {
    await on.control.clearFaults();
    await on.control.faults({ on: `GET /${collection}`, kind: "forbidden-list", times: 99 });
    const live = await explainSetUp({ env, folder: temporaryFolder() }).then(
      ({ explanation: { notes } }) => notes.join(),
      ({ message }: Error) => {
        refused.push(kind);
        return message;
      },
    );
    expect(live).toContain(noun);
    expect(live).toContain(`GET /${collection}`);
    const document = { baseUrl: on.baseUrl, readAt: "2026-01-01T00:00:00Z", consistent: true };
    const kinds = [{ kind, objects: [], problem: "only 3 of 5 came" }];
    const file = join(temporaryFolder(), "saved.json");
    writeFileSync(
      file,
      JSON.stringify({ format: "pulumi-conversation account", version: 1, ...document, kinds }),
    );
    const { code, out, err } = await run("explain", "--snapshot", file, "--check");
    expect([kind, code]).toEqual([kind, refused.includes(kind) ? 1 : 6]);
    expect((out + err).replaceAll(/\s+/g, " ")).toContain("only 3 of 5 came");
  }
  expect(refused.sort()).toEqual(
    resources.flatMap(({ kind }) => (kind === "Authentication" ? [] : [kind])).sort(),
  );
});
