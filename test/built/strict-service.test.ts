import * as pulumi from "@pulumi/pulumi";
import {
  Account,
  Authentication,
  Channel,
  ClientApplication,
  Orchestration,
  Participant,
} from "pulumi-conversation";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type TestStack, testStack } from "../support/stack.js";
import { type StrictService, startStrictService } from "../support/strict-service.js";

/** Values that must never be found anywhere in clear. */
const canaries = {
  password: "canary-password",
  payload: "canary-payload",
  tokenHeader: "canary-token-header",
  roleHeader: "canary-role-header",
  attribute: "canary-attribute",
};

/** A program that gives every documented property of every kind. */
const wholeAccount = (
  changes: { readonly description?: string; readonly maxTextLength?: number } = {},
) => {
  const basic = new Authentication("basic", {
    name: "web-callback",
    description: changes.description ?? "Basic credentials for the web callback",
    active: true,
    type: "basic",
    basicAuth: { username: "hub", password: canaries.password },
  });
  const oauth = new Authentication("oauth", {
    name: "bot-callback",
    description: "Token for the bot callback",
    oauth2: {
      tokenRequestUrl: "https://bot.example.com/oauth/token",
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Key": canaries.tokenHeader },
      payload: { clientId: "bot", clientSecret: pulumi.secret(canaries.payload) },
      accessTokenPath: "$.accessToken",
    },
  });
  const application = (
    name: string,
    role: "customer" | "custom_bot" | "platform_agent",
    authentication: Authentication,
  ) =>
    new ClientApplication(name, {
      name: `${name}-application`,
      description: `Receives messages for the ${name}`,
      active: true,
      roles: [
        {
          name: role,
          version: "v3",
          callback: `https://${name}.example.com/messages`,
          notificationEmail: "ops@example.com",
          headers: { "X-Tenant-Hint": canaries.roleHeader },
          authentication,
        },
      ],
    });
  const customer = application("customer", "customer", basic);
  const bot = application("bot", "custom_bot", oauth);
  const agent = application("agent", "platform_agent", basic);
  const participant = new Participant("orders", {
    name: "orders-bot",
    type: "custom_bot",
    description: "Answers order questions",
    active: true,
    application: bot,
    intents: [
      { value: "order_status", displayValue: "Order status" },
      { value: "returns", displayValue: "Returns" },
    ],
    options: { tier: "gold", language: "en" },
  });
  const policy = {
    enabled: true,
    maxSize: 1_048_576,
    type: "block",
    extensions: ["exe", "bat"],
  } as const;
  const channel = new Channel("kiosk", {
    type: "custom.kiosk",
    displayName: "Store kiosk",
    icon: "aVZCT1J3MEtHZ28=",
    description: "In-store kiosk chat",
    active: true,
    restrictions: {
      inbound: {
        maxTextLength: changes.maxTextLength ?? 500,
        features: ["typing_events", "attachments", "richText"],
        attachmentPolicy: policy,
      },
      outbound: {
        maxTextLength: 500,
        systemMessages: true,
        midChatAuth: false,
        features: ["typing_events"],
        richMessageTypes: ["listpicker", "quickreply"],
        attachmentPolicy: { ...policy, type: "allow" },
      },
    },
    l10nProperties: {
      "en-US": { msg_hub_off_hours: "We are closed.", msg_hub_retain_and_retry: "We got it." },
      "de-DE": { msg_hub_off_hours: "Wir haben geschlossen." },
    },
  });
  const orchestration = new Orchestration("flow", {
    name: "orders-flow",
    description: "Orders bot first, agents on escalation",
    active: true,
    applications: {
      botConfiguration: {
        forwardTranscript: true,
        bypassVaDuration: 15,
        bots: [{ application: bot, participant, onEscalation: { agent } }],
      },
      customerConfiguration: { customer },
      agentConfiguration: { agents: [agent.id] },
    },
  });
  const account = new Account("shop", {
    name: "kiosk-berlin",
    description: "Kiosk in the Berlin store",
    active: true,
    address: "kiosk-berlin-01",
    channel,
    caseManagement: { sameCaseDuration: 60, copyCustomAttributes: true },
    chatConfigurations: {
      timeout: 30,
      defaultLanguage: "en-US",
      onAgentUnavailability: "retain_and_retry",
      allowLogoutWithOpenChats: false,
      allowQueueTransferOnAgentUnavailability: true,
      orchestration,
      entryPoint: "1007",
    },
    attributes: { providerKey: canaries.attribute },
  });
  return { accountId: account.id, channelId: channel.id };
};

const program = (changes?: Parameters<typeof wholeAccount>[0]) => async () => wholeAccount(changes);

const count = 9;

let service: StrictService;
let shop: TestStack;

const during = async <T>(
  work: () => Promise<T>,
): Promise<{ result: T; calls: string[]; tokens: number }> => {
  const [from, tokens] = [service.calls.length, service.tokens()];
  const result = await work();
  const calls = service.calls
    .slice(from)
    .map(({ method, path }) => `${method} ${path.replace(/[0-9a-f-]{36}/, "{id}")}`);
  return { result, calls, tokens: service.tokens() - tokens };
};

beforeAll(async () => {
  service = await startStrictService();
  shop = await testStack(service.environment);
});

afterAll(async () => {
  await shop?.remove();
  await service?.close();
});

test("the first preview makes no call", async () => {
  const { result, calls, tokens } = await during(() => shop.preview(program()));
  expect(result.changeSummary.create).toBe(count + 2);
  expect([calls, tokens]).toEqual([[], 0]);
});

test("up makes every object with one list for each collection", async () => {
  const { calls } = await during(() => shop.up(program()));
  expect(calls.filter((call) => call.startsWith("POST"))).toHaveLength(count);
  expect(calls.filter((call) => call.startsWith("GET")).sort()).toEqual([
    "GET /accounts",
    "GET /authentications",
    "GET /channels",
    "GET /clientapplications",
    "GET /orchestrations",
    "GET /participants",
  ]);
  expect(service.objects("accounts")[0]).toMatchObject({
    name: "kiosk-berlin",
    channel: { id: service.objects("channels")[0]?.id },
    attributes: [{ name: "providerKey", value: canaries.attribute }],
    chatConfigurations: {
      entryPoint: { id: "1007" },
      orchestration: { id: service.objects("orchestrations")[0]?.id },
    },
  });
});

test("refresh and up without changes change nothing; up makes no call", async () => {
  const refresh = await during(() => shop.stack.refresh());
  expect(refresh.result.summary.resourceChanges).toEqual({ same: count + 2 });
  expect(refresh.calls.every((call) => call.startsWith("GET") && !call.includes("{id}"))).toBe(
    true,
  );
  const up = await during(() => shop.up(program()));
  expect(up.result.summary.resourceChanges).toEqual({ same: count + 2 });
  expect([up.calls, up.tokens]).toEqual([[], 0]);
});

test("the state holds no secret in clear", () => {
  const state = shop.state();
  const secrets = [...Object.values(canaries), "canary-client-secret"];
  expect(secrets.filter((secret) => state.includes(secret))).toEqual([]);
});

test("one changed field is one read and one PUT without what the definitions do not know; dependents stay", async () => {
  service.change("channels", "custom.kiosk", {
    region: "eu",
    restrictions: { ...(service.objects("channels")[0]?.restrictions as object), quota: 7 },
  });
  const { result, calls } = await during(() => shop.up(program({ maxTextLength: 600 })));
  expect(result.summary.resourceChanges).toEqual({ same: count + 1, update: 1 });
  expect(calls).toEqual(["GET /channels/{id}", "PUT /channels/{id}"]);
  const { body } = service.calls.at(-1) ?? {};
  expect(body).toMatchObject({ restrictions: { inbound: { maxTextLength: 600 } } });
  expect(JSON.stringify(body)).not.toMatch(/region|quota/);
});

test("drift is seen by a refresh and repaired by up, and what was deleted behind us is made again", async () => {
  service.change("channels", "custom.kiosk", { displayName: "Elsewhere" });
  service.remove("accounts", "kiosk-berlin");
  const refresh = await shop.stack.refresh();
  expect(refresh.summary.resourceChanges).toMatchObject({ update: 1, delete: 1 });
  const up = await shop.up(program());
  expect(up.summary.resourceChanges).toMatchObject({ update: 1, create: 1 });
  expect(service.objects("channels")[0]?.displayName).not.toBe("Elsewhere");
  expect(service.objects("accounts")).toHaveLength(1);
});

test("a second state with the same names refuses and touches nothing", async () => {
  const other = await testStack(service.environment);
  const { calls } = await during(() =>
    other.up(program()).catch((error: Error) => {
      expect(error.message).toContain("belongs to another Pulumi resource or state: shop/prod");
    }),
  );
  expect(calls.filter((call) => !call.startsWith("GET"))).toEqual([]);
  await other.stack.destroy();
  expect(service.objects("authentications")).toHaveLength(2);
  await other.remove();
});

test("destroy leaves nothing", async () => {
  await shop.stack.destroy();
  for (const collection of [
    "authentications",
    "clientapplications",
    "participants",
    "channels",
    "orchestrations",
    "accounts",
  ]) {
    expect(service.objects(collection)).toEqual([]);
  }
});
