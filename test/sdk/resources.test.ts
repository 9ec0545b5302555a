import * as pulumi from "@pulumi/pulumi";
import { beforeEach, expect, test } from "vitest";
import { pointerTo } from "../../provider/kernel/pulumi.js";
import { resources } from "../../provider/resources/index.js";
import * as sdk from "../../sdk/index.js";
import { ConversationAccount } from "../../sdk/index.js";
import { roleOf } from "../support/forms.js";
import { type Registered, startProgram, valueIn } from "./registered.js";

let registered: readonly Registered[] = [];

const named = (name: string): Registered => {
  const found = registered.find((each) => each.name === name);
  if (!found) throw new Error(`nothing registered as ${name}`);
  return found;
};

beforeEach(async () => {
  registered = await startProgram();
});

test("a resource carries the pointer, its owner and the ids of what it refers to", async () => {
  registered = await startProgram("refs");
  const authentication = new sdk.Authentication("web", {
    basicAuth: { username: "hub", password: "p" },
  });
  const application = new sdk.ClientApplication("bot", {
    name: "orders",
    roles: [roleOf("custom_bot", { authentication })],
  });
  const participant = new sdk.Participant("bot", {
    type: "custom_bot",
    application: application.id,
  });
  await valueIn(participant.urn);
  const { type, inputs } =
    registered.find((each) => each.type.endsWith("ClientApplication")) ?? named("bot");
  expect(type).toBe("pulumi-nodejs:dynamic/conversation:ClientApplication");
  expect(inputs.__provider).toBe(pointerTo("ClientApplication"));
  expect(inputs.owner).toBe("shop/refs/1a2b/bot");
  expect(inputs.name).toBe("orders");
  const [role] = inputs.roles as { authentication: unknown }[];
  expect(role?.authentication).toBe("web-id");
});

test("the owner distinguishes equal logical names under different parents", async () => {
  class Site extends pulumi.ComponentResource {
    constructor(name: string) {
      super("my:index:Site", name);
      new sdk.Channel(
        "chat",
        { type: `custom.${name}`, displayName: "X", icon: "aa" },
        { parent: this },
      );
    }
  }
  new Site("berlin");
  const top = new sdk.Channel("chat", { type: "custom.top", displayName: "X", icon: "aa" });
  await valueIn(top.urn);
  await new Promise((resolve) => setImmediate(resolve));
  const owners = registered.filter(({ name }) => name === "chat").map(({ inputs }) => inputs.owner);
  expect(owners.map((owner) => String(owner).replace(/^.*1a2b\//, "")).sort()).toEqual([
    "chat",
    "my:index:Site$chat",
  ]);
});

test.each([{}, { adopt: "c-1" }])("the import option becomes adoption, beside %j", async (same) => {
  const args = { type: "custom.x", displayName: "X", icon: "aa", ...same };
  const made = new sdk.Channel("old", args, { import: "c-1" });
  await valueIn(made.urn);
  expect(named("old").inputs.adopt).toBe("c-1");
});

test.each([
  ["c-2", '"c-2"'],
  [true, "true"],
  [false, "false"],
])("the import option never overrides adopt: %j", (adopt, said) => {
  const args = { type: "custom.x", displayName: "X", icon: "aa", adopt };
  expect(() => new sdk.Channel("old", args, { import: "c-1" })).toThrow(
    `Channel "old": the import option is "c-1", but the adopt argument is ${said}. Both specify the object to adopt, so set only one of them`,
  );
  expect(registered).toEqual([]);
});

test("eraseHidden reaches the provider only where a program says it", async () => {
  const args = { type: "custom.x", displayName: "X", icon: "aa" };
  const made = [
    new sdk.Channel("keeps", args),
    new sdk.Channel("erases", { ...args, eraseHidden: true }),
  ];
  await valueIn(pulumi.all(made.map(({ urn }) => urn)));
  expect(named("keeps").inputs).not.toHaveProperty("eraseHidden");
  expect(named("erases").inputs.eraseHidden).toBe(true);
});

test("get reads without an owner or a made-up name", async () => {
  const found = sdk.Account.get("shop", "a-1", { profile: "staging" });
  await valueIn(found.urn);
  const { inputs, id } = named("shop");
  expect(id).toBe("a-1");
  expect(inputs).toEqual({ profile: "staging", __provider: pointerTo("Account") });
});

test("a preview knows the ID that get reads, also with an engine that does not repeat it", async () => {
  await startProgram("prod", true);
  expect(await valueIn(sdk.Account.get("shop", "a-1").id)).toBe("a-1");
});

test("an argument that has no value, although this is no preview, is named", async () => {
  const authentication = pulumi.output(pulumi.unknown).apply(String);
  const { basicAuth, ...bots } = party("bot");
  const role = { name: "custom_bot", version: "v3", ...bots, authentication } as const;
  const roles = Promise.resolve([role]);
  const bot = new sdk.ClientApplication("unknown", { description: pulumi.output("d"), roles });
  await valueIn(bot.urn);
  expect(named("unknown").inputs.unknownPaths).toEqual(["roles[0].authentication"]);
  expect(named("unknown").inputs.description).toBe("d");
});

test("the arguments of a program are left as they are", async () => {
  const args = { type: "custom.x", displayName: "X", icon: "aa" };
  new sdk.Channel("first", args);
  const second = new sdk.Channel("second", args);
  await valueIn(second.urn);
  expect(Object.keys(args)).toEqual(["type", "displayName", "icon"]);
});

test("the pointer is short and the same everywhere", () => {
  for (const { kind } of resources) {
    // As JSON, the way the engine keeps it: with escapes for quotes, and for signs that HTML knows.
    const kept = JSON.stringify(pointerTo(kind)).replace(/[<>&]/g, "\\u0000");
    expect(kept.length).toBeLessThanOrEqual(300);
    expect(pointerTo(kind)).not.toMatch(/[\r\n"\\]|\/(work|home|root)|\d+\.\d+\.\d+/);
  }
  expect(pointerTo("Channel")).toMatchInlineSnapshot(
    `"exports.handler=()=>{let c,f=require('module').createRequire,s='pulumi-conversation/provider/v1',r=f(process.cwd()+'/');try{r.resolve(s)}catch{r=f(process.argv[1])}return{...r(s).lifecycleOf('Channel',{get:k=>c?.get(k)}),configure:async r=>{c=r.config}}}"`,
  );
});

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
    bot: party("bot"),
    agent: party("desk"),
    chatConfigurations: { entryPoint: "1007" },
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

test("a stack trace inside the SDK reaches the program's line, and the limit is as before", () => {
  const { stackTraceLimit } = Error;
  let trace = "";
  const refuse = () => {
    trace = new Error().stack ?? "";
    throw new Error("refused");
  };
  const options = { transformations: [refuse] };
  const basicAuth = { username: "hub", password: "p" };
  const declare = () => new sdk.Authentication("hub", { basicAuth }, options);
  expect(declare).toThrow("refused");
  expect(trace).toContain("at declare ");
  expect(trace.split("\n    at ")).toHaveLength(7);
  expect(Error.stackTraceLimit).toBe(stackTraceLimit);
});
