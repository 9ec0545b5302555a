import * as pulumi from "@pulumi/pulumi";
import {
  Account,
  Authentication,
  Channel,
  ClientApplication,
  Orchestration,
  Participant,
} from "pulumi-conversation";

/** Values that must never be found anywhere in clear. */
export const canaries = {
  password: "canary-password",
  payload: "canary-payload",
  tokenHeader: "canary-token-header",
  roleHeader: "canary-role-header",
  attribute: "canary-attribute",
};

/** A program that gives every documented property of every kind. */
export const wholeAccount = (
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
