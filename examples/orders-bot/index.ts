// The account of a web shop: a bot answers first, an agent takes over when it asks for one.
import * as pulumi from "@pulumi/pulumi";
import { Authentication, ConversationAccount } from "pulumi-conversation";

const config = new pulumi.Config();

/** URL at which the service reaches converse.mts; each side has its own path below it. */
export const callbackUrl = config.require("callbackUrl");

/** Password that the service sends to the callbacks and that converse.mts checks. */
export const callbackPassword = config.requireSecret("callbackPassword");

const authentication = new Authentication("callbacks", {
  basicAuth: { username: "hub", password: callbackPassword },
});

const party = (side: "customer" | "bot" | "agent") => ({
  callback: `${callbackUrl}/${side}`,
  notificationEmail: "ops@example.com",
  authentication,
});

const shop = new ConversationAccount("shop", {
  address: "shop-web",
  channel: { type: "custom.web", displayName: "Web chat", icon: "aVZCT1J3MEtHZ28=" },
  customer: party("customer"),
  bot: {
    name: "orders-bot",
    ...party("bot"),
    intents: [{ value: "order_status", displayValue: "Where is my order?" }],
  },
  agent: party("agent"),
  chatConfigurations: { entryPoint: "1007", timeout: 30 },
});

/** Address and channel type, with which a conversation names its account. */
export const address = shop.account.address;
export const channel = shop.channel.type;
