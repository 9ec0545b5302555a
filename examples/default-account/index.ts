// A complete conversation account: a shop's chat kiosk. A bot answers, and agents take over.
import * as pulumi from "@pulumi/pulumi";
import {
  Account,
  Authentication,
  Channel,
  ClientApplication,
  Orchestration,
  Participant,
} from "pulumi-conversation";

const config = new pulumi.Config();

/** A secret of this stack, set with `pulumi config set --secret <key>`. DEMO VALUE if it is not set. */
const secret = (key: string): pulumi.Output<string> =>
  config.getSecret(key) ?? pulumi.secret("demo-value-not-a-real-secret");

// 1. How the service authenticates to the shop's systems when it posts messages.
const basic = new Authentication("desk-login", {
  basicAuth: { username: "hub", password: secret("deskPassword") },
});
const oauth = new Authentication("bot-login", {
  oauth2: {
    tokenRequestUrl: "https://bot.example.com/oauth/token",
    method: "POST",
    headers: { "Content-Type": "application/json" },
    payload: { clientId: "hub", clientSecret: secret("botClientSecret") },
    accessTokenPath: "$.accessToken",
  },
});

// 2. The systems that send and receive messages.
const callback = { version: "v3", notificationEmail: "ops@example.com" } as const;

const customer = new ClientApplication("kiosk", {
  roles: [
    {
      ...callback,
      name: "customer",
      callback: "https://kiosk.example.com/messages",
      authentication: basic,
    },
  ],
});
const bot = new ClientApplication("bot", {
  roles: [
    {
      ...callback,
      name: "custom_bot",
      callback: "https://bot.example.com/messages",
      authentication: oauth,
    },
  ],
});
const agent = new ClientApplication("desk", {
  roles: [
    {
      ...callback,
      name: "custom_agent",
      callback: "https://desk.example.com/messages",
      authentication: basic,
    },
  ],
});

// 3. The bot of the bot application.
const orders = new Participant("orders-bot", {
  type: "custom_bot",
  application: bot,
  intents: [{ value: "order_status", displayValue: "Where is my order?" }],
});

// 4. The channel on which messages arrive.
const channel = new Channel("kiosk", {
  type: "custom.kiosk",
  displayName: "Store kiosk",
  icon: "aVZCT1J3MEtHZ28=",
});

// 5. Who answers: the bot first, an agent on escalation.
const orchestration = new Orchestration("bot-then-agents", {
  applications: {
    customerConfiguration: { customer },
    botConfiguration: {
      bots: [{ application: bot, participant: orders, onEscalation: { agent } }],
    },
    agentConfiguration: { agents: [agent] },
  },
});

// 6. The account that ties them together under an address. The entry point is made in the vendor's
//    console.
const account = new Account("kiosk-berlin", {
  address: "kiosk-berlin-01",
  channel,
  chatConfigurations: { orchestration, entryPoint: "1007", defaultLanguage: "en-US" },
});

export const accountId = account.id;
export const channelId = channel.id;
export const orchestrationId = orchestration.id;
