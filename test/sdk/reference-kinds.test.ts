import * as pulumi from "@pulumi/pulumi";
import { beforeEach, expect, test } from "vitest";
import { referencesOf } from "../../provider/definition/kinds.js";
import { resources } from "../../provider/resources/index.js";
import * as sdk from "../../sdk/index.js";
import { type Registered, startProgram, valueIn } from "./registered.js";

type AnyClass = new (name: string, args: pulumi.Inputs) => pulumi.CustomResource;

/** The class of a kind, its arguments unchecked: a program in JavaScript. */
const classOf = (kind: string): AnyClass => Reflect.get(sdk, kind);

const places = resources.flatMap(referencesOf);
let registered: readonly Registered[] = [];
beforeEach(async () => {
  registered = await startProgram();
});

/** Arguments with one value at a path such as `applications.botConfiguration.bots[].participant`. */
const argsWith = (path: string, value: unknown): pulumi.Inputs =>
  path.split(".").reduceRight<unknown>((inner, part) => {
    const [, name = "", list] = /^(\w+)(\[\])?$/.exec(part) ?? [];
    return { [name]: list ? [inner] : inner };
  }, value) as pulumi.Inputs;

const an = (kind: string): string => `${/^[AO]/.test(kind) ? "an" : "a"} ${kind}`;

test.each(places)("$from.kind: $path takes $to.kind and refuses every other", async (place) => {
  const { from, to, path } = place;
  const make = (given: unknown) => new (classOf(from.kind))("here", argsWith(path, given));
  const at = path.replaceAll("[]", "[0]");
  for (const { kind } of resources) {
    const given = new (classOf(kind))("given", {});
    if (kind === to.kind) {
      await valueIn(pulumi.all([make(given).urn, make(given.id).urn]));
      const sent = registered.filter(({ name }) => name === "here").map(({ inputs }) => inputs);
      for (const inputs of sent) expect(inputs).toMatchObject(argsWith(path, "given-id"));
      expect(sent).toHaveLength(2);
      continue;
    }
    const must = `${from.kind} "here": ${at} must be ${an(to.kind)}; got the`;
    expect(() => make(given)).toThrow(`${must} ${kind} "given"`);
    expect(() => make(given.id)).toThrow(`${must} id of the ${kind} "given"`);
  }
});

test("the refusal is shown without a stack trace, and nothing is registered", async () => {
  const channel = new sdk.Channel("web", { type: "custom.x", displayName: "X", icon: "aa" });
  await valueIn(channel.urn);
  const before = registered.length;
  let thrown: unknown;
  try {
    new (classOf("Participant"))("orders", { application: channel });
  } catch (error) {
    thrown = error;
  }
  expect(pulumi.RunError.isInstance(thrown)).toBe(true);
  expect(registered).toHaveLength(before);
});

test("what is not surely wrong passes: texts, other outputs, outputs of outputs", async () => {
  const channel = new sdk.Channel("web", { type: "custom.x", displayName: "X", icon: "aa" });
  const given = ["x", channel.type, channel.id.apply((id) => id), Promise.resolve("x"), undefined];
  for (const [index, application] of given.entries()) {
    const made = new (classOf("Participant"))(`p${index}`, { application });
    expect(await valueIn(made.urn)).toContain(`p${index}`);
  }
});

test("a resource of another package is called by its type", () => {
  class Bucket extends pulumi.ComponentResource {}
  const bucket = new Bucket("aws:s3/bucket:Bucket", "files");
  expect(() => new (classOf("Participant"))("orders", { application: bucket })).toThrow(
    'Participant "orders": application must be a ClientApplication; got the aws:s3/bucket:Bucket "files"',
  );
});

const account = (name: string, more: pulumi.Inputs = {}): sdk.ConversationAccount => {
  const party = { callback: "https://x.example.com/", notificationEmail: "ops@example.com" };
  const channel = { type: "custom.web", displayName: "Web", icon: "aa" };
  const chatConfigurations = { entryPoint: "1007" };
  const args = { address: "shop", channel, customer: party, bot: party, chatConfigurations };
  return new sdk.ConversationAccount(name, { ...args, ...more });
};

test("the component refuses, too", async () => {
  const shop = account("shop");
  const [application] = Object.values(shop.applications);
  expect(() => account("b", { channel: application })).toThrow(
    'ConversationAccount "b": channel must be a Channel; got the ClientApplication "shop-customer"',
  );
  expect(() => account("c", { agent: shop.channel })).toThrow(
    'ConversationAccount "c": agent must be a ClientApplication; got the Channel "shop"',
  );
});
