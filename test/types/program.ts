// Compiled by test/built/consumer.test.ts as a user's program: strict, exactOptionalPropertyTypes, CommonJS and ESM.
import * as pulumi from "@pulumi/pulumi";
import {
  Account,
  type AccountArgs,
  Authentication,
  Channel,
  ClientApplication,
  ConversationAccount,
  Orchestration,
  Participant,
} from "pulumi-conversation";

const config = new pulumi.Config();
const auth = new Authentication("a", { basicAuth: { username: "hub", password: config.requireSecret("p") } });
const oauth2 = { tokenRequestUrl: "https://x.example.com", method: "POST", headers: { a: "b" }, accessTokenPath: "$.t" } as const;
new Authentication("b", { type: "oauth2", oauth2: { ...oauth2, payload: { clientId: "x", clientSecret: pulumi.secret("y") } } });
// @ts-expect-error a payload is needed
new Authentication("l", { oauth2 });
// @ts-expect-error a Basic authentication has no oauth2
new Authentication("c", { type: "basic", oauth2: { ...oauth2, payload: "x" } });
// @ts-expect-error one of the two is needed
new Authentication("d", {});
// @ts-expect-error not both
new Authentication("e", { basicAuth: { username: "u", password: "p" }, oauth2: { ...oauth2, payload: "x" } });
// @ts-expect-error a password is needed
new Authentication("f", { basicAuth: { username: "u" } });

const callback = { version: "v3", callback: "https://x.example.com", notificationEmail: "a@b.example" } as const;
const app = new ClientApplication("bot", {
  description: undefined,
  roles: [{ ...callback, name: "custom_bot", authentication: auth, headers: { a: pulumi.secret("b") } }],
});
new ClientApplication("by-id", { roles: [{ ...callback, name: "customer", authentication: "1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10" }] });
// @ts-expect-error no such role
new ClientApplication("g", { roles: [{ ...callback, name: "robot" }] });
// @ts-expect-error no such version
new ClientApplication("h", { roles: [{ ...callback, name: "customer", version: "v2" }] });
// @ts-expect-error a channel is no authentication
new ClientApplication("i", { roles: [{ ...callback, name: "customer", authentication: Channel.get("c", "x") }] });

const bot = new Participant("bot", { type: "custom_bot", application: app, options: { tier: "gold" } });
const channel = new Channel("web", {
  type: "custom.web",
  displayName: "Web",
  icon: "aa",
  restrictions: { inbound: { features: ["attachments"] as const, attachmentPolicy: { type: "allow" } } },
  l10nProperties: { "en-US": { msg_hub_off_hours: "Closed" } },
});

const flow = new Orchestration("flow", {
  applications: { botConfiguration: { bots: [{ application: app, participant: bot.id, onEscalation: { agent: app } }] } },
});
new Orchestration("agents", { applications: { agentConfiguration: { agents: [app] } } });
// @ts-expect-error bots or agents are needed
new Orchestration("j", { applications: { customerConfiguration: { customer: app } } });

const args: AccountArgs = {
  address: "web",
  channel,
  chatConfigurations: { orchestration: flow, entryPoint: "1007", timeout: 30, onAgentUnavailability: "off_hours" },
  adopt: true,
  eraseHidden: true,
  profile: "staging",
};
new Channel("by-id", { type: "custom.x", displayName: "X", icon: "aa", adopt: "c-1", eraseHidden: undefined });
// @ts-expect-error erasing is a decision of the program, not a value of another resource
new Channel("k", { type: "custom.y", displayName: "Y", icon: "aa", eraseHidden: pulumi.output(true) });
const account = new Account("shop", args, { protect: true });
export const id: pulumi.Output<string> = account.id;
export const address: pulumi.Output<string> = account.address;
export const timeout: pulumi.Output<number | undefined> = account.chatConfigurations.apply(({ timeout }) => timeout);
export const made: pulumi.Output<string | undefined> = Account.get("other", "x", { profile: "staging" }).created;
const anything: unknown = account;
export const seen: pulumi.Output<string> | undefined = Account.isInstance(anything) ? anything.address : undefined;
export const kinds: boolean = [Channel, ConversationAccount].some((type) => type.isInstance(anything));
// @ts-expect-error outputs are read-only
account.address = address;

export const whole = new ConversationAccount("whole", {
  address: "shop",
  channel: { type: "custom.shop", displayName: "Shop", icon: "aa" },
  customer: { ...callback, basicAuth: { username: "u", password: "p" } },
  bot: { ...callback, intents: [{ value: "v", displayValue: "V" }] },
  agent: app,
  chatConfigurations: { entryPoint: "1007" },
}).account.id;
