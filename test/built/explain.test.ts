import { afterEach, expect, test } from "vitest";
import { type EmulatedProject, emulatedProject } from "../support/emulated-project.js";

const program = `
const pulumi = require("@pulumi/pulumi");
const { Authentication, ConversationAccount } = require("pulumi-conversation");
const authentication = new Authentication("login", { basicAuth: { username: "u", password: "canary-secret" } });
const party = (side) => ({
  callback: "https://" + side + ".example.com/", notificationEmail: "o@example.com", authentication,
  headers: { "X-Key": pulumi.secret("canary-header") },
});
new ConversationAccount("shop", {
  address: "shop-1", channel: { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC" },
  customer: party("customer"), bots: { orders: party("bot") }, agent: party("agent"),
});`;

let project: EmulatedProject | undefined;

afterEach(() => project?.close());

test("state and live account are explained alike, secret lists included, and no secret is shown", async () => {
  project = await emulatedProject(program);
  await project.succeed(["up", "--yes", "--skip-preview"]);
  const [live, state] = [
    await project.tool(["explain", "--json"]),
    await project.tool(["explain", "--state", "--json"]),
  ];
  expect([live.code, state.code]).toEqual([0, 0]);
  const { accounts } = JSON.parse(live.output);
  expect(accounts).toMatchObject([{ address: "shop-1", begins: "bot", deadEnds: [] }]);
  expect(JSON.parse(state.output).accounts).toEqual(accounts);
  expect(state.output + live.output).not.toContain("canary");
});
