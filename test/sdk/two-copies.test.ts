import * as pulumi from "@pulumi/pulumi";
import { beforeEach, expect, test, vi } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { startProgram, valueIn } from "./registered.js";

const key = Symbol.for("pulumi-conversation/ownerships");
const channel = { type: "custom.x", displayName: "X", icon: "aa" };

/** The package as it is loaded once more, from another place. */
const anotherCopy = async (): Promise<typeof import("../../sdk/index.js")> => {
  vi.resetModules();
  return import("../../sdk/index.js");
};

beforeEach(() => {
  Reflect.deleteProperty(globalThis, key);
});

const ownershipsOf = (registered: readonly { readonly type: string }[]) =>
  registered.filter(({ type }) => type.endsWith(":Ownership"));

test("copies register one ownership for each stack, and every owner is of it", async () => {
  const [one, other] = [await anotherCopy(), await anotherCopy()];
  expect(one.Channel).not.toBe(other.Channel);
  for (const stack of ["first", "second"]) {
    const registered = await startProgram(stack);
    const made = [new one.Channel("a", channel), new other.Channel("b", channel)];
    await valueIn(pulumi.all(made.map(({ urn }) => urn)));
    expect(ownershipsOf(registered)).toHaveLength(1);
    const owners = registered.flatMap(({ inputs }) => (inputs.owner ? [inputs.owner] : []));
    expect(owners.sort()).toEqual([`shop/${stack}/1a2b/a`, `shop/${stack}/1a2b/b`]);
  }
});

test.each([
  ["something else in the place of the memory", (): unknown => "a text"],
  [
    "something else for the stack",
    () => ({ get: () => ({ id: "no resource" }), set: () => undefined }),
  ],
])("%s, left by another release, harms nothing", async (_, left) => {
  const found = left();
  Reflect.set(globalThis, key, found);
  const registered = await startProgram();
  const sdk = await anotherCopy();
  const made = [new sdk.Channel("a", channel), new sdk.Channel("b", channel)];
  await valueIn(pulumi.all(made.map(({ urn }) => urn)));
  expect(ownershipsOf(registered)).toHaveLength(1);
  expect(Reflect.get(globalThis, key)).toBe(found);
});

test("an entry that is no ownership is replaced", async () => {
  const registered = await startProgram();
  const stack: object = pulumi.runtime.getMonitor() ?? {};
  Reflect.set(globalThis, key, new WeakMap([[stack, { id: "from another release" }]]));
  const sdk = await anotherCopy();
  await valueIn(new sdk.Channel("a", channel).urn);
  expect(ownershipsOf(registered)).toHaveLength(1);
});

test("a class knows its instances of every copy, and no others", async () => {
  await startProgram();
  const [one, other] = [await anotherCopy(), await anotherCopy()];
  const classes = new Map<string, { isInstance(value: unknown): boolean }>([
    ...resources.map(({ kind }) => [kind, Reflect.get(one, kind)] as const),
    ["Ownership", one.Ownership],
  ]);
  for (const kind of classes.keys()) {
    const made: unknown = new (Reflect.get(other, kind))(`a-${kind}`, {});
    const knowing = [...classes].filter(([, type]) => type.isInstance(made)).map(([name]) => name);
    expect(knowing).toEqual([kind]);
    expect(one.ConversationAccount.isInstance(made)).toBe(false);
    expect(one.ConversationResource.isInstance(made)).toBe(kind !== "Ownership");
  }
  for (const none of [undefined, null, "x", {}, pulumi.output("x"), pulumi.output({})]) {
    for (const type of classes.values()) expect(type.isInstance(none)).toBe(false);
  }
});

test("a component takes parts that another copy made", async () => {
  const registered = await startProgram();
  const [one, other] = [await anotherCopy(), await anotherCopy()];
  const web = new other.Channel("web", channel);
  const party = { callback: "https://x.example.com/", notificationEmail: "ops@example.com" };
  const agent = new other.ClientApplication("agent", {
    roles: [{ ...party, name: "custom_agent", version: "v3" }],
  });
  const chatConfigurations = { entryPoint: "1007" };
  const args = { address: "shop", channel: web, customer: party, agent, chatConfigurations };
  const shop = new one.ConversationAccount("shop", args);
  expect(shop.channel).toBe(web);
  expect(shop.applications.agent).toBe(agent);
  await valueIn(shop.account.urn);
  expect(registered.filter(({ type }) => type.endsWith(":Channel"))).toHaveLength(1);
});

test("a reference to another kind is refused, whichever copy made what is given", async () => {
  await startProgram();
  const [one, other] = [await anotherCopy(), await anotherCopy()];
  const web = new other.Channel("web", channel);
  for (const application of [web, web.id]) {
    const args = { type: "custom_bot", application } as const;
    expect(() => new one.Participant("orders", Object.assign(args))).toThrow(
      /Participant "orders": application must be a ClientApplication; got the (id of the )?Channel "web"/,
    );
  }
});
