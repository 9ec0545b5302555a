import { expect, onTestFinished, test, vi } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { explainSetUp, explanationText } from "../../cli/explain/explain.js";
import { explain } from "../../cli/explain/explanation.js";
import { startEmulator } from "../../emulator/index.js";
import { neutralVendor } from "../../provider/definition/wire.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { managedStack } from "../cli/inventory/stack-sandbox.js";
import { run } from "../cli/session.js";
import { withoutPace } from "../support/cli-project.js";
import { listed, roleOf } from "../support/forms.js";
import { temporaryFolder } from "../support/temporary-folder.js";

const application = (id: string, name: string, role: string, more: JsonObject = {}) => ({
  id,
  name,
  roles: [roleOf(role, { callback: `https://${id}.example.com/` })],
  ...more,
});

/** The setup of a shop: bot first, agent on escalation. */
const shop = (changes: Readonly<Record<string, readonly JsonObject[]>> = {}) => ({
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

const explained = (changes?: Parameters<typeof shop>[0]) => {
  const objects: Readonly<Record<string, readonly JsonObject[]>> = shop(changes);
  return explain(listed(objects), neutralVendor, "the account");
};

test("the table says who gets what from whom, within 80 columns", () => {
  const out = explanationText(explained());
  expect(out).toContain("shop: shop-1 on custom.web\nA new conversation begins with the bot.");
  expect(out).toContain("While the bot has the conversation:");
  expect(out).toMatch(/customer {2}text, typing\.\*.*bot: orders-bot/);
  expect(out).toMatch(/bot +escalation\.transfer → to the agent/);
  expect(out).toContain("No message is lost.");
  for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("a route names its recipients in call order, with their callbacks", () => {
  const [account] = explained().accounts;
  expect(account?.routes.find(({ leadsTo }) => leadsTo === "agent")).toMatchObject({
    phase: "bot",
    from: "bot",
    types: ["escalation.transfer"],
    to: [
      { side: "customer", application: "kiosk", role: "customer" },
      { side: "agent", application: "desk", callback: "https://desk.example.com/" },
    ],
  });
});

test.each<[string, Parameters<typeof shop>[0], string]>([
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
])("%s is named", (_, changes, text) => {
  expect(explanationText(explained(changes)).replace(/\s+/g, " ")).toContain(text);
});

test("--check turns a dead end into exit code 3", async () => {
  const stack = await managedStack();
  await stack.upForms(() => true);
  const settings = { ...emulatorEnvironment(stack.control.emulator), ...withoutPace };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
  onTestFinished(() => void vi.unstubAllEnvs());
  await stack.edit(({ channels = [] }) => {
    for (const channel of channels) channel.active = false;
  });
  expect((await run("explain", "--check")).code).toBe(3);
  expect((await run("explain", "--json")).code).toBe(0);
  await stack.edit((objects) => void Object.assign(objects, { accounts: [] }));
  expect((await run("explain", "--check")).code).toBe(0);
});

test("nothing is said where a kind that decides could not be read", async () => {
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
  }
  expect(refused.sort()).toEqual(
    resources.flatMap(({ kind }) => (kind === "Authentication" ? [] : [kind])).sort(),
  );
});
