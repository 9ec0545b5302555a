/** A program with one object of each kind. */
export const smallAccount = `
const c = require("pulumi-conversation");
const authentication = new c.Authentication("auth", { basicAuth: { username: "hub", password: "a-secret" } });
const role = { name: "custom_bot", version: "v3", callback: "https://x.example.com/", notificationEmail: "a@b.example" };
const application = new c.ClientApplication("app", { roles: [{ ...role, authentication }] });
new c.Participant("bot", { type: "custom_bot", application });
const channel = new c.Channel("web", { type: "custom.web", displayName: "Web", icon: "aVZC" });
const orchestration = new c.Orchestration("flow", { applications: { agentConfiguration: { agents: [application] } } });
new c.Account("shop", { address: "shop-01", channel, chatConfigurations: { orchestration, entryPoint: "1007", timeout: 30 } });
`;
