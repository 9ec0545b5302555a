// A conversation account: a web chat. A bot answers first, and agents take over on escalation.
import * as pulumi from "@pulumi/pulumi";
import { ConversationAccount } from "pulumi-conversation";

const config = new pulumi.Config();

/** URL of your systems that receive messages. */
const host = config.get("callbackHost") ?? "https://chat.example.com";

/** How the service authenticates there: with a token from your token URL. */
const oauth2 = {
  tokenRequestUrl: `${host}/oauth/token`,
  method: "POST" as const,
  headers: { "Content-Type": "application/json" },
  payload: { clientId: "hub", clientSecret: config.requireSecret("callbackSecret") },
  accessTokenPath: "$.access_token",
};

/** Who gets an email if the service cannot reach a callback. */
const notificationEmail = config.get("notificationEmail") ?? "ops@example.com";

const shop = new ConversationAccount("shop", {
  address: config.get("address") ?? "shop-web",
  channel: {
    type: config.get("channelType") ?? "custom.web",
    displayName: "Web chat",
    icon: "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  },
  customer: { callback: `${host}/customer`, notificationEmail, oauth2 },
  bot: { name: "orders", callback: `${host}/bot`, notificationEmail, oauth2 },
  // The entry point is made in the vendor's console.
  chatConfigurations: { entryPoint: "1007" },
  agent: { callback: `${host}/agent`, notificationEmail, oauth2 },
});

export const accountId = shop.account.id;
