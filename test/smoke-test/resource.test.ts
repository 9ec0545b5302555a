import * as pulumi from "@pulumi/pulumi";
import { beforeEach, expect, test } from "vitest";
import { pointerTo } from "../../provider/pointer.js";
import {
  Account,
  Channel,
  ConversationAccount,
  ConversationSmokeTest,
  type ConversationSmokeTestArgs,
} from "../../sdk/index.js";
import { unsealed } from "../lifecycle/steps.js";

type Inputs = Record<string, unknown>;

let registered: { readonly type: string; readonly inputs: Inputs }[] = [];
/** What the engine adds to the outputs of every resource. */
let added: Inputs = {};

beforeEach(async () => {
  registered = [];
  added = {};
  await pulumi.runtime.setMocks(
    {
      newResource: ({ type, name, inputs }) => {
        registered.push({ type, inputs });
        return { id: `${name}-id`, state: { ...inputs, ...added } };
      },
      call: () => ({}),
    },
    "shop",
    "prod",
    false,
  );
});

const type = "pulumi-nodejs:dynamic/conversation:ConversationSmokeTest";

const valueIn = (output: pulumi.Output<unknown>): Promise<void> =>
  new Promise((resolve) => {
    output.apply(() => resolve());
  });

/** Registers a test and gives back what the engine got. */
const inputsOf = async (args: ConversationSmokeTestArgs): Promise<Inputs> => {
  await valueIn(new ConversationSmokeTest("smoke", args).urn);
  return registered.filter((each) => each.type === type).at(-1)?.inputs ?? {};
};

/** The digests that the engine got, which are secrets. */
const triggersOf = async (args: ConversationSmokeTestArgs): Promise<unknown[]> => {
  const { triggers } = unsealed(await inputsOf(args));
  return [triggers].flat();
};

const account = (address = "shop", name = "shop") =>
  new Account(name, { address, channel: "c-1", chatConfigurations: { entryPoint: "1007" } });

const channel = (name: string, displayName = "Web") =>
  new Channel(name, { type: "custom.web", displayName, icon: "aVZC" });

const shop = ({
  icon = "aVZC",
  callback = "https://x.example.com/",
  password = "canary",
}: Readonly<Partial<Record<"icon" | "callback" | "password", string>>>) => {
  const party = { callback, notificationEmail: "ops@example.com" };
  return new ConversationAccount("shop", {
    address: "shop",
    channel: { type: "custom.web", displayName: "Web", icon },
    customer: party,
    bots: { orders: { ...party, basicAuth: { username: "hub", password } } },
  });
};

test("it carries the pointer, the id of the account, and a digest that is a secret", async () => {
  const inputs = await inputsOf({ account: account(), enabled: true });
  expect(inputs).toMatchObject({
    account: "shop-id",
    enabled: true,
    __provider: pointerTo("ConversationSmokeTest"),
  });
  expect(JSON.stringify(inputs.triggers)).toContain("1b47061264138c4ac30d75fd1eb44270");
  expect(unsealed(inputs).triggers).toEqual([expect.stringMatching(/^[0-9a-f]{16}$/)]);
});

test("an id alone has no digest", async () => {
  expect(await inputsOf({ account: "a-1" })).toMatchObject({ account: "a-1", triggers: [] });
});

test("what the program says of the account counts, what the service adds does not", async () => {
  const one = await triggersOf({ account: account("shop") });
  added = { created: "2026-01-01T00:00:00.000Z", modified: "2026-01-02T00:00:00.000Z" };
  expect(await triggersOf({ account: account("shop") })).toEqual(one);
  expect(await triggersOf({ account: account("shop-2") })).not.toEqual(one);
});

test("other resources and values that are given count", async () => {
  const of = (...triggers: NonNullable<ConversationSmokeTestArgs["triggers"]>) =>
    triggersOf({ account: "a-1", triggers });
  const first = await of(channel("web"), { b: 1, a: [2, undefined] }, "text");
  expect(first).toHaveLength(3);
  expect(await of(channel("web"), { a: [2, null], b: 1 }, "text")).toEqual(first);
  const changed = await of(channel("web", "Web chat"), { b: 1, a: [2] }, "text!");
  expect(changed.filter((digest) => first.includes(digest))).toEqual([]);
  expect(await of([channel("web")])).not.toEqual(await of([channel("web", "Web chat")]));
  const inside = (name: string) => of(pulumi.output({ in: [pulumi.output(channel("web", name))] }));
  expect(await inside("Web")).not.toEqual(await inside("Web chat"));
});

test.each<[string, Parameters<typeof shop>[0]]>([
  ["the channel", { icon: "aVZD" }],
  ["a callback", { callback: "https://y.example.com/" }],
  ["a password", { password: "other" }],
])("a change of %s counts for the account that depends on it", async (_, change) => {
  const before = await triggersOf({ account: shop({}) });
  expect(await triggersOf({ account: shop({}) })).toEqual(before);
  expect(await triggersOf({ account: shop(change) })).not.toEqual(before);
});
