import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import { autoName } from "../../provider/definition/automatic-name.js";
import * as sdk from "../../sdk/index.js";
import { inputsOf, type Registered, startProgram, valueIn } from "./registered.js";

const bot = { type: "custom_bot", application: "x" } as const;

/** A component of any type with a bot called `bot` in it. */
class Part extends pulumi.ComponentResource {
  readonly bot: sdk.Participant;

  constructor(type: string, name: string, parent?: pulumi.Resource, botName?: string) {
    super(type, name, {}, parent ? { parent } : {});
    const args = botName === undefined ? bot : { ...bot, name: botName };
    this.bot = new sdk.Participant("bot", args, { parent: this });
  }
}

const botsIn = (registered: readonly Registered[]) =>
  registered.filter(({ type }) => type.endsWith(":Participant")).map(({ inputs }) => inputs);

test("directly in the stack they are those of every release, and differ by ownership", async () => {
  const registered = await startProgram("s1");
  const made = new sdk.Participant("bot", bot);
  expect(await valueIn(made.name)).toBe("bot-0354ff9");
  expect(botsIn(registered)[0]).toMatchObject({ name: "bot-0354ff9", autoName: "bot-0354ff9" });
  await startProgram("s2");
  expect(await valueIn(new sdk.Participant("bot", bot).name)).not.toBe("bot-0354ff9");
});

test("so they are where the stack itself is given as the parent", async () => {
  await startProgram("s1");
  const stack = new pulumi.ComponentResource("pulumi:pulumi:Stack", "shop-s1");
  const made = new sdk.Participant("bot", bot, { parent: stack });
  expect(await valueIn(made.name)).toBe("bot-0354ff9");
});

test.each([false, true])(
  "the types of all parents count; known, with preview %s",
  async (preview) => {
    const registered = await startProgram("prod", preview);
    const top = new sdk.Participant("bot", bot);
    const shop = new Part("my:index:Shop", "shop");
    const help = new Part("my:index:Help", "help");
    const inner = new Part("my:index:Help", "inner", shop);
    const made = [top, shop.bot, help.bot, inner.bot];
    const names = await Promise.all(made.map(({ name }) => valueIn(name)));
    for (const name of names) expect(name).toMatch(/^bot-[0-9a-f]{7}$/);
    expect(new Set(names).size).toBe(4);
    const sent = botsIn(registered);
    expect(sent.map(({ name }) => name).sort()).toEqual([...names].sort());
    for (const { name, autoName } of sent) expect(autoName).toBe(name);
  },
);

test("the name of a parent does not count, as in its URN", async () => {
  await startProgram();
  const [one, other] = [new Part("my:index:Shop", "a"), new Part("my:index:Shop", "b")];
  expect(await valueIn(one.bot.name)).toBe(await valueIn(other.bot.name));
});

test("a name that the program gives is sent alone", async () => {
  const registered = await startProgram();
  const part = new Part("my:index:Shop", "shop", undefined, "orders");
  expect(await valueIn(part.bot.name)).toBe("orders");
  expect(botsIn(registered)[0]).not.toHaveProperty("autoName");
});

test("a kind without a name is sent none", async () => {
  const registered = await startProgram();
  const made = new sdk.Channel("web", { type: "custom.x", displayName: "X", icon: "aa" });
  await valueIn(made.urn);
  const inputs = inputsOf(registered, "web");
  expect(inputs).not.toHaveProperty("name");
  expect(inputs).not.toHaveProperty("autoName");
});

test.each([false, true])(
  "the parts of an account, which refer to each other, all get theirs, with preview %s",
  async (preview) => {
    const registered = await startProgram("prod", preview);
    const callback = { callback: "https://x.example.com/", notificationEmail: "ops@example.com" };
    const party = { ...callback, basicAuth: { username: "u", password: "p" } };
    const { account } = new sdk.ConversationAccount("shop", {
      address: "shop",
      channel: { type: "custom.web", displayName: "Web", icon: "aa" },
      customer: party,
      bot: party,
      chatConfigurations: { entryPoint: "1007" },
    });
    expect(await valueIn(account.name)).toMatch(/^shop-[0-9a-f]{7}$/);
    const named = registered.filter(({ inputs }) => inputs.autoName !== undefined);
    // Every kind of an account but the channel, which has no name.
    expect(new Set(named.map(({ type }) => type)).size).toBe(5);
    for (const { inputs } of named) expect(inputs.name).toBe(inputs.autoName);
  },
);

const nameOf = (name: string): string =>
  autoName({ kind: "Participant", owner: `p/s/1a2b/${name}`, name });

test.each([
  ["bot_1-A", "bot_1-A"],
  ["the bot: Größe 👍🏽", "the-bot--Gr--e---"],
  ["x".repeat(300), "x".repeat(247)],
])("letters, digits, - and _ of %s stay, up to 255 characters", (name, start) => {
  expect(nameOf(name).slice(0, -8)).toBe(start);
  expect(nameOf(name)).toMatch(/^[\w-]+-[0-9a-f]{7}$/);
});
