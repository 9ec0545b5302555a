import * as pulumi from "@pulumi/pulumi";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { pointerTo } from "../../provider/pointer.js";
import { resources } from "../../provider/resources/index.js";
import * as sdk from "../../sdk/index.js";

interface Registered {
  readonly type: string;
  readonly name: string;
  readonly id?: string | undefined;
  readonly inputs: Record<string, unknown>;
}

let registered: Registered[] = [];

const mocks = async (stack: string) =>
  pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs, id }) => {
        registered.push({ type, name, inputs, id });
        return {
          id: type.endsWith("Ownership") ? `shop/${stack}/1a2b` : `${name}-id`,
          state: inputs,
        };
      },
      call: () => ({}),
    },
    "shop",
    stack,
    false,
  );

const settled = <T>(output: pulumi.Output<T>): Promise<T> =>
  new Promise((resolve) => output.apply((value) => resolve(value)));

const named = (name: string): Registered => {
  const found = registered.find((each) => each.name === name);
  if (!found) throw new Error(`nothing registered as ${name}`);
  return found;
};

beforeAll(() => mocks("prod"));
beforeEach(() => {
  registered = [];
});

test("every kind of the registry has a class, and every class is exported", () => {
  for (const { kind } of resources) expect(sdk).toHaveProperty(kind);
});

test("a resource carries the pointer, its owner and the ids of what it refers to", async () => {
  await mocks("refs");
  const authentication = new sdk.Authentication("web", {
    basicAuth: { username: "hub", password: "p" },
  });
  const application = new sdk.ClientApplication("bot", {
    name: "orders",
    roles: [
      {
        name: "custom_bot",
        version: "v3",
        callback: "https://bot.example.com/",
        notificationEmail: "ops@example.com",
        authentication,
      },
    ],
  });
  const participant = new sdk.Participant("bot", {
    type: "custom_bot",
    application: application.id,
  });
  await settled(participant.urn);
  const { type, inputs } =
    registered.find((each) => each.type.endsWith("ClientApplication")) ?? named("bot");
  expect(type).toBe("pulumi-nodejs:dynamic/conversation:ClientApplication");
  expect(inputs.__provider).toBe(pointerTo("ClientApplication"));
  expect(inputs.owner).toBe("shop/refs/1a2b/bot");
  expect(inputs.name).toBe("orders");
  const [role] = inputs.roles as { authentication: unknown }[];
  expect(role?.authentication).toBe("web-id");
});

test("a stack has one ownership, two stacks have two", async () => {
  await mocks("one");
  const a = new sdk.Channel("a", { type: "custom.a", displayName: "A", icon: "aa" });
  const b = new sdk.Channel("b", { type: "custom.b", displayName: "B", icon: "aa" });
  await settled(pulumi.all([a.urn, b.urn]));
  await mocks("two");
  const c = new sdk.Channel("c", { type: "custom.c", displayName: "C", icon: "aa" });
  await settled(c.urn);
  expect(registered.filter(({ type }) => type.endsWith(":Ownership"))).toHaveLength(2);
  expect(named("a").inputs.owner).toBe("shop/one/1a2b/a");
  expect(named("c").inputs.owner).toBe("shop/two/1a2b/c");
});

test("a name left out is made from the logical name, stable, and differs by stack and kind", async () => {
  const names: unknown[] = [];
  for (const stack of ["s1", "s1", "s2"]) {
    await mocks(stack);
    registered = [];
    const made = new sdk.Participant("bot", { type: "custom_bot", application: "x" });
    await settled(made.urn);
    names.push(named("bot").inputs.name);
  }
  expect(names[0]).toMatch(/^bot-[0-9a-f]{7}$/);
  expect(names[1]).toBe(names[0]);
  expect(names[2]).not.toBe(names[0]);
});

test("a channel, which has no name, is given none", async () => {
  const made = new sdk.Channel("plain", { type: "custom.x", displayName: "X", icon: "aa" });
  await settled(made.urn);
  expect(named("plain").inputs).not.toHaveProperty("name");
});

test("the owner tells equal logical names under different parents apart", async () => {
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
  await settled(top.urn);
  await new Promise((resolve) => setImmediate(resolve));
  const owners = registered.filter(({ name }) => name === "chat").map(({ inputs }) => inputs.owner);
  expect(owners.map((owner) => String(owner).replace(/^.*1a2b\//, "")).sort()).toEqual([
    "chat",
    "my:index:Site$chat",
  ]);
});

test("the import option becomes adoption", async () => {
  const made = new sdk.Channel(
    "old",
    { type: "custom.x", displayName: "X", icon: "aa" },
    { import: "c-1" },
  );
  await settled(made.urn);
  expect(named("old").inputs.adopt).toBe("c-1");
});

test("get reads without an owner or a made-up name", async () => {
  const found = sdk.Account.get("shop", "a-1", { profile: "staging" });
  await settled(found.urn);
  const { inputs, id } = named("shop");
  expect(id).toBe("a-1");
  expect(inputs).toEqual({ profile: "staging", __provider: pointerTo("Account") });
});

test("the arguments of a program are left as they are", async () => {
  const args = { type: "custom.x", displayName: "X", icon: "aa" };
  new sdk.Channel("first", args);
  const second = new sdk.Channel("second", args);
  await settled(second.urn);
  expect(Object.keys(args)).toEqual(["type", "displayName", "icon"]);
});

test("the pointer is short and the same everywhere", () => {
  for (const { kind } of resources) {
    expect(pointerTo(kind).length).toBeLessThanOrEqual(400);
    expect(pointerTo(kind)).not.toMatch(/[\r\n]|\/(work|home|root)|\d+\.\d+\.\d+/);
  }
  expect(pointerTo("Channel")).toMatchInlineSnapshot(
    `"exports.handler=()=>{let c;const s="pulumi-conversation/provider/v1",h={configure:async r=>{c=r.config}};for(const m of"check diff create read update delete".split(" "))h[m]=async(...a)=>(await import(s).catch(e=>{if(e.code!="ERR_MODULE_NOT_FOUND")throw e;return require("module").createRequire(process.argv[1])(s)})).lifecycleOf("Channel",c)[m](...a);return h}"`,
  );
});
