import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { ConversationAccount } from "../../sdk/index.js";
import { startProgram } from "./registered.js";

const party = (name: string) => ({
  callback: `https://${name}.example.com/messages`,
  notificationEmail: "ops@example.com",
  basicAuth: { username: "hub", password: "made-up" },
});

const declare = (profile: string | undefined) =>
  new ConversationAccount("shop", {
    address: "shop-web",
    channel: { type: "custom.web", displayName: "Web chat", icon: "aVZC" },
    customer: party("web"),
    bots: { orders: party("bot") },
    agent: party("desk"),
    profile,
  });

test.each(["emea", undefined])("every part is on the tenant of profile %s", async (profile) => {
  const registered = await startProgram();
  await new Promise((resolve) => pulumi.output(declare(profile).account.id).apply(resolve));
  const parts = registered.filter(({ type }) => /conversation:(?!Ownership)/.test(type));
  const made = parts.filter(({ type }) => type.startsWith("pulumi-nodejs:dynamic"));
  expect(made).toHaveLength(10);
  for (const { name, inputs } of made) expect(inputs.profile, name).toBe(profile);
});
