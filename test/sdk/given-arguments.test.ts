import { writeFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { memberPath } from "../../provider/definition/fields.js";
import { channel } from "../../provider/resources/channel.js";
import { resources } from "../../provider/resources/index.js";
import * as sdk from "../../sdk/index.js";
import { Channel } from "../../sdk/index.js";
import { withFileContent } from "../../sdk/resource-class.js";
import { folderOfFile } from "../support/temporary-folder.js";
import { inputsOf, startProgram } from "./registered.js";

beforeAll(() =>
  pulumi.runtime.setMocks({
    call: () => ({}),
    newResource: ({ name, inputs }) => ({ id: `${name}-id`, state: inputs }),
  }),
);

/** Every class that a program makes objects of, called as JavaScript may call it. */
const classes = {
  Authentication: sdk.Authentication,
  ClientApplication: sdk.ClientApplication,
  Participant: sdk.Participant,
  Channel: sdk.Channel,
  Orchestration: sdk.Orchestration,
  Account: sdk.Account,
  ConversationAccount: sdk.ConversationAccount,
};

const made = (kind: keyof typeof classes, ...args: readonly unknown[]): unknown =>
  Reflect.construct(classes[kind], args);

/** What a program may give by mistake, and how a message calls it. */
const mistakes: readonly (readonly [value: unknown, called: string])[] = [
  ["custom.web", "a string"],
  [42, "a number"],
  [true, "true or false"],
  [[], "a list"],
  [Promise.resolve({}), "a promise"],
  [pulumi.output({}), "an output"],
  [() => ({}), "a function"],
];

const kinds = fc.constantFrom(...(Object.keys(classes) as (keyof typeof classes)[]));

test("what is no object of properties is refused before anything is registered, whatever the class", () => {
  fc.assert(
    fc.property(kinds, fc.constantFrom(...mistakes), (kind, [args, called]) => {
      expect(() => made(kind, "web", args)).toThrow(
        `${kind} "web": the properties must be an object; got ${called}.`,
      );
    }),
  );
});

test("an object that Pulumi would forget with another one of the service is refused", () => {
  const whole = new Channel("whole", { type: "custom.whole", displayName: "Whole", icon: "aVZC" });
  const foreign = new pulumi.ComponentResource("other:index:Tenant", "tenant");
  const part = { type: "custom.part", displayName: "Part", icon: "aVZC" };
  expect(() => new Channel("part", part, { deletedWith: whole })).toThrow(
    'Channel "part": deletedWith cannot be the Channel "whole", because the service deletes each object by itself.',
  );
  expect(() => new Channel("other", part, { deletedWith: foreign })).not.toThrow();
});

test("what is no name is refused before anything is registered, whatever the class", () => {
  const names = mistakes.filter(([, called]) => called !== "a string");
  const wrong = fc.constantFrom(...names, ["", "an empty string"], [undefined, "nothing"]);
  fc.assert(
    fc.property(kinds, wrong, (kind, [name, called]) => {
      expect(() => made(kind, name, {})).toThrow(
        `new ${kind}(name, properties): the name must be a non-empty string, because Pulumi identifies the resource by it; got ${called}`,
      );
    }),
  );
});

test("an option of Pulumi among the properties is reported with its place", () => {
  expect(() => made("Channel", "web", { protect: true })).toThrow(
    'Channel "web": protect is a Pulumi option, not a property: pass it in the third argument, as in new Channel(name, properties, { protect: … })',
  );
});

test.each(["id", "urn"])("%s, which Pulumi would drop, is refused", (member) => {
  expect(() => made("Channel", "web", { type: "custom.web", [member]: "known" })).toThrow(
    `Channel "web": ${member} cannot be set. For an object that exists, use Channel.get("web", id), or set adopt to its ID`,
  );
  expect(() => made("Channel", "web", { [member]: undefined })).not.toThrow();
});

test("an option that is undefined is left out, and so is an argument of an account", () => {
  expect(() => made("Channel", "left-out", { protect: undefined })).not.toThrow();
  const args = { ...whole, timeout: undefined, agent: undefined };
  expect(() => made("ConversationAccount", "shop", args)).toThrow("declare a bot, an agent");
});

/** A value with half of a character in place of its texts, one after the other, each with its path. */
const halved = (value: unknown, path = ""): readonly (readonly [string, unknown])[] => {
  if (typeof value === "string") return [[path, "x\ud83d"]];
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(Object(value));
  return entries.flatMap(([key, member]) =>
    halved(member, Array.isArray(value) ? `${path}[${key}]` : memberPath(path, `${key}`)).map(
      ([at, to]) => [
        at,
        Array.isArray(value)
          ? value.map((item, place) => (place === key ? to : item))
          : { ...Object(value), [key]: to },
      ],
    ),
  );
};

test.each(resources)(
  "half of a character in any text of a $kind is refused by its property",
  ({ kind, example }) => {
    const places = halved({ ...example, extra: { deep: [{ text: "" }] } });
    expect(places.length).toBeGreaterThan(2);
    for (const [path, args] of places)
      expect(() => made(kind as keyof typeof classes, "web", args)).toThrow(
        `${kind} "web": ${path} contains an unpaired surrogate`,
      );
  },
);

test("half of a character in a key or a logical name is refused, too", () => {
  expect(() => made("Channel", "web", { extra: { "k\ud83d": 1 } })).toThrow(
    'extra["k\\ud83d"] contains an unpaired',
  );
  expect(() => made("Channel", "web\ud83d", {})).toThrow(
    /the name .* contains an unpaired surrogate/,
  );
});

const itself: Record<string, unknown> = {};
itself.list = [{ itself }];

/** What JavaScript has and JSON lacks, and how a message calls it. */
const beyondJson: readonly (readonly [called: string, value: unknown])[] = [
  [" is a Date", new Date(1)],
  [" is a bigint", 10n],
  [" is a URL", new URL("https://x.example.com")],
  [" is a Map", new Map([["a", 1]])],
  [" is a Set", new Set([1])],
  [" is a Uint8Array", Buffer.from("a")],
  [" is a RegExp", /a/],
  [" is NaN", Number.NaN],
  [" is -Infinity", Number.NEGATIVE_INFINITY],
  [" is a function", () => 1],
  [" is a symbol", Symbol("s")],
  [" is an object with toJSON", { toJSON: () => 1 }],
  [".list[0].itself contains itself", itself],
];

test("a value of too many levels is refused, not recursed into", () => {
  const deep = Array.from({ length: 5000 }).reduce((inner) => ({ inner }), {});
  expect(() => made("Channel", "web", { extra: { deep } })).toThrow(
    'Channel "web": extra.deep.inner.inner.inner.inner.inner… has more than 128 levels.',
  );
});

test.each(beyondJson)("what JSON lacks is refused by its path: it%s", (called, value) => {
  expect(() => made("Channel", "web", { extra: { a: [{ "b c": value }] } })).toThrow(
    `Channel "web": extra.a[0]["b c"]${called}. Values are sent as JSON`,
  );
  expect(() => made("Channel", "web", { restrictions: { inbound: value } })).toThrow(
    `Channel "web": restrictions.inbound${called}.`,
  );
  expect(() => made("ConversationAccount", "shop", { ...whole, customer: value })).toThrow(
    `ConversationAccount "shop": customer${called}.`,
  );
});

test("what JSON has is taken: plain objects of a class, too", () => {
  class Region {
    readonly name = "eu";
  }
  const extra = { region: new Region(), none: null, list: [undefined, 0, "", false] };
  const twice = { a: extra, b: [extra, extra] };
  expect(() => made("Channel", "fine", { ...webChat, extra: twice })).not.toThrow();
});

test("a name that holds an output is reported", () => {
  expect(() => made("Channel", `web-${pulumi.output("x")}`, {})).toThrow(
    /the name contains an output/,
  );
});

const party = { callback: "https://x.example.com", notificationEmail: "o@example.com" };
const webChat = { type: "custom.web", displayName: "Web", icon: "aVZC" };
const chatConfigurations = { entryPoint: "1007" };
const whole = {
  address: "shop",
  channel: webChat,
  customer: party,
  agent: party,
  chatConfigurations,
};

test.each<[string, object, string]>([
  ["no customer", { ...whole, customer: undefined }, "customer must be an object"],
  ["an id for the channel", { ...whole, channel: "id" }, "channel must be an object"],
  ["a promise", { ...whole, channel: Promise.resolve(webChat) }, "got a promise"],
  [
    "a list of bots",
    { ...whole, bot: [party] },
    "bot must be an object with properties; got a list",
  ],
  [
    "no settings for conversations",
    { ...whole, chatConfigurations: undefined },
    "chatConfigurations must be an object",
  ],
  ["nobody to answer", { ...whole, agent: undefined }, "declare a bot, an agent, or both"],
  ["a typing error", { ...whole, bots: {} }, "there is no argument bots; did you mean bot?"],
  [
    "what nobody knows",
    { ...whole, timeout: 3 },
    "there is no argument timeout. Use address, channel,",
  ],
  [
    "two ways to sign in",
    { ...whole, customer: { ...party, basicAuth: {}, oauth2: {} } },
    "customer accepts only one kind of authentication, not basicAuth and oauth2",
  ],
])("an account with %s is refused", (_, args, message) => {
  expect(() => made("ConversationAccount", "shop", args)).toThrow(message);
  expect(() => made("ConversationAccount", "shop", args)).toThrow(/^ConversationAccount "shop": /);
});

test.each<[unknown, string]>([
  [undefined, 'Channel.get("web", id): the ID must be a non-empty string; got nothing'],
  ["", "got an empty string"],
  [{}, "got an object"],
])("Channel.get with %j for the id is refused and makes nothing", (id, message) => {
  expect(() => Reflect.apply(sdk.Channel.get, sdk.Channel, ["web", id])).toThrow(message);
});

test.each<[unknown, string]>([
  [{}, "Channel.find: specify a value to search for"],
  ["custom.web", "Channel.find: specify a value to search for"],
  [{ type: 3 }, "Channel.find: specify a value to search for"],
  [
    { displayname: "x" },
    "Channel.find: displayname is not a text property of Channel; did you mean displayName?",
  ],
])("Channel.find(%j) is refused without a call", (where, message) => {
  expect(() => Reflect.apply(sdk.Channel.find, sdk.Channel, [where])).toThrow(message);
});

test.each([
  new pulumi.asset.StringAsset("abc"),
  new pulumi.asset.RemoteAsset("https://x.example.com/i.png"),
])("an icon from an asset that is no file is reported as that", async (icon) => {
  await expect(withFileContent(channel, "web", { icon }).icon).rejects.toThrow(
    'Channel "web": icon: must be base64 text or a local file',
  );
});

test.each([undefined, {}, { version: null }])("fromEnv with %j names the version", (options) => {
  expect(() => Reflect.apply(sdk.fromEnv, undefined, ["TOKEN", options])).toThrow(
    /the version, such as \{ version: 1 \}, must be/,
  );
});

const folder = folderOfFile();

test("the icon of a channel may be a file", async () => {
  const file = join(folder, "icon.png");
  writeFileSync(file, Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff]));
  const registered = await startProgram();
  const icon = new pulumi.asset.FileAsset(file);
  const web = new Channel("web", { type: "custom.web", displayName: "Web", icon });
  await new Promise((resolve) => web.id.apply(resolve));
  expect(inputsOf(registered, "web").icon).toBe("iVBOR/8=");
});

test("a file that cannot be read is named, with the property", async () => {
  const icon = new pulumi.asset.FileAsset(join(folder, "none.png"));
  const { icon: content } = withFileContent(channel, "web", { icon });
  await expect(content).rejects.toThrow(
    /^Channel "web": icon: could not read the file .*none\.png: ENOENT/,
  );
});

test("what is no file stays as it is", () => {
  const args = { icon: "aVZC", displayName: new pulumi.asset.FileAsset("x") };
  expect(withFileContent(channel, "web", args)).toBe(args);
});
