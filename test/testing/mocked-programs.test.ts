import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { Authentication, Channel, ConversationAccount, Participant } from "../../sdk/index.js";
import { runMocked } from "../../sdk/testing/index.js";

const icon = "aVZCT1J3MEtHZ28=";

const shop = () => {
  const config = new pulumi.Config();
  const authentication = new Authentication("callbacks", {
    basicAuth: { username: "hub", password: config.requireSecret("password") },
  });
  const party = (side: string) => ({
    callback: `https://shop.example.com/${side}`,
    notificationEmail: "ops@example.com",
    authentication,
  });
  const account = new ConversationAccount("shop", {
    address: "shop-web",
    channel: { type: "custom.web", displayName: "Web", icon },
    customer: party("customer"),
    bot: { name: "orders-bot", ...party("bot") },
    agent: party("agent"),
    chatConfigurations: { entryPoint: "1007", timeout: 30 },
  });
  return { address: account.account.address, password: config.requireSecret("password") };
};

test("a whole account is checked without an engine, and its inputs and outputs can be looked at", async () => {
  const program = await runMocked(shop, { config: { password: "p-1" } });
  const bot = program.resource("Participant", "shop-bot");
  expect(bot.id).toMatch(/^[0-9a-f-]{36}$/);
  const { id } = program.resource("ClientApplication", "shop-bot");
  program.expectResource("Participant", "shop-bot", { application: id, active: true });
  program.expectResource("Authentication", "callbacks", { basicAuth: { password: "p-1" } });
  expect(program.outputs).toEqual({ address: "shop-web", password: "p-1" });
  expect(bot.inputs).not.toHaveProperty("__provider");
  expect(bot.inputs).not.toHaveProperty("owner");
});

test("a secret stays one behind the mocks", async () => {
  let isSecret: Promise<boolean> | undefined;
  await runMocked(() => {
    const desk = new Authentication("desk", { basicAuth: { username: "hub", password: "p" } });
    isSecret = pulumi.isSecret(desk.basicAuth);
  });
  expect(await isSecret).toBe(true);
});

test("the same program gets the same ids again", async () => {
  const idsOf = async () =>
    (await runMocked(shop, { config: { password: "p" } })).resources.map(({ id }) => id);
  expect(await idsOf()).toEqual(await idsOf());
});

test("what a preview refuses is refused, all of it at once, and no secret is shown", async () => {
  const broken = runMocked(() => {
    new Channel("web", { type: "", displayName: "Web", icon });
    new Participant("bot", { type: "custom_bot", application: "too-short" });
    new Authentication("desk", { basicAuth: { username: "", password: "canary-secret" } });
  });
  await expect(broken).rejects.toThrow("Channel web: type must have 1 to 255 characters");
  await expect(broken).rejects.toThrow("Participant bot: application must be the ID of");
  await expect(broken).rejects.toThrow("Authentication desk: basicAuth.username must have");
  await expect(broken).rejects.not.toThrow(/canary-secret/);
});

test("the same unique name twice is refused", async () => {
  const twice = runMocked(() => {
    for (const name of ["one", "two"])
      new Channel(name, { type: "custom.web", displayName: "Web", icon });
  });
  await expect(twice).rejects.toThrow(/Channel (one|two): .*custom\.web/);
  await expect(twice).rejects.toThrow(
    /Change the type of Channel "(one|two)" or Channel "(one|two)"/,
  );
});

test("the same logical name twice is refused, unless the parents' types differ", async () => {
  const declare = (type: string, parent?: pulumi.Resource) =>
    new Channel("web", { type, displayName: "Web", icon }, parent && { parent });
  const twice = runMocked(() => ["custom.one", "custom.two"].map((type) => declare(type)));
  await expect(twice).rejects.toThrow("Channel web: the program has another Channel of this name.");
  const inside = await runMocked(() => {
    declare("custom.one");
    declare("custom.two", new pulumi.ComponentResource("shop:index:Shop", "shop"));
  });
  expect(inside.resources.filter(({ name }) => name === "web")).toHaveLength(2);
});

test("a resource that differs, or is not there, is reported", async () => {
  const program = await runMocked(shop, { config: { password: "p" } });
  expect(() =>
    program.expectResource("Channel", "shop", { displayName: /kiosk/, active: false }),
  ).toThrow(
    "Channel shop differs from the expected properties:\n  displayName: expected /kiosk/, is 'Web'\n  active: expected false, is true",
  );
  expect(() => program.resource("Channel", "desk")).toThrow(
    'The program declares no Channel "desk". It declares these resources of this kind: "shop".',
  );
});

test("programs that are run at once wait for each other", async () => {
  const run = (name: string) =>
    runMocked(async () => {
      await Promise.resolve();
      new Channel(name, { type: `custom.${name}`, displayName: "Web", icon });
    });
  const runs = await Promise.all(["a", "b", "c"].map(run));
  const channels = runs.map(({ resources }) =>
    resources.filter(({ type }) => type.endsWith(":Channel")).map(({ name }) => name),
  );
  expect(channels).toEqual([["a"], ["b"], ["c"]]);
});

test("what a program looks up by its properties has an ID, always the same, and no call is made", async () => {
  const find = (type: string) => runMocked(() => ({ id: Channel.find({ type }).id }));
  const [web, again, kiosk] = await Promise.all(["web", "web", "kiosk"].map(find));
  expect(web?.outputs.id).toMatch(/^[0-9a-f-]{36}$/);
  expect(again?.outputs).toEqual(web?.outputs);
  expect(kiosk?.outputs).not.toEqual(web?.outputs);
});

test("what a program looks up is taken as it is", async () => {
  const program = await runMocked(() => {
    const existing = Channel.get("old", "2c6b4e7a-5d13-4b0f-8e94-6d3f1a0c9b77");
    return { id: existing.id };
  });
  expect(program.outputs).toEqual({ id: "2c6b4e7a-5d13-4b0f-8e94-6d3f1a0c9b77" });
});
