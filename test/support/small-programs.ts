/** A program with one resource of each kind. */
export const exampleProgram = `
const c = require("pulumi-conversation");
const authentication = new c.Authentication("auth", { basicAuth: { username: "hub", password: "canary-password" } });
const party = { version: "v3", callback: "https://x.example.com/", notificationEmail: "ops@example.com", authentication };
const app = new c.ClientApplication("app", { roles: [{ ...party, name: "custom_bot" }, { ...party, name: "customer" }] });
const bot = new c.Participant("bot", { type: "custom_bot", application: app });
const channel = new c.Channel("web", { type: "custom.web", displayName: "Web", icon: "aVZC" });
const flow = new c.Orchestration("flow", { name: "flow", applications: { customerConfiguration: { customer: app }, botConfiguration: { bots: [{ application: app, participant: bot }] } } });
if (!process.env.WITHOUT_ACCOUNT) new c.Account("shop", { address: "shop", channel, chatConfigurations: { orchestration: flow, entryPoint: "1007" } });
`;
