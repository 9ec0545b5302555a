import * as pulumi from "@pulumi/pulumi";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Definition, number } from "../../provider/definition/define.js";
import { fieldsIn, normaliseFields } from "../../provider/definition/fields.js";
import { namingOf } from "../../provider/definition/kinds.js";
import { fieldViolations, type Violation } from "../../provider/definition/violations.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { unknownValue } from "../../provider/kernel/pulumi.js";
import { nearestWord } from "../../provider/kernel/text.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { resources } from "../../provider/resources/index.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";
import { bound, oauth2, roleOf } from "../support/forms.js";

const id = "1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10";

const found = (definition: Definition, inputs: JsonObject) =>
  fieldViolations(definition, normaliseFields(definition, inputs)).map(
    ({ path, rule }) => `${path}: ${rule}`,
  );

const role = roleOf("customer");

test.each(resources)("the example of $kind is right", (definition) => {
  const example = bound(definition.example, () => id);
  expect(found(definition, example as JsonObject)).toEqual([]);
});

test.each(resources)("$kind names what is missing", (definition) => {
  const derived =
    definition.rule && "exactlyOne" in definition.rule ? definition.rule.discriminator : "";
  const required = Object.entries(definition.fields).filter(
    ([name, field]) => field.required && name !== derived,
  );
  const { key, isAutomatic } = namingOf(definition);
  for (const [name, { type }] of required) {
    // Of a resource that a targeted run does not create, Pulumi leaves out the outputs.
    const leftOut = type === "reference" ? "its resource" : "the stack's Ownership";
    const isFromOutput = type === "reference" || (isAutomatic && name === key);
    expect(found(definition, {})).toContain(
      `${name}: is required${isFromOutput ? ` (with --target, target ${leftOut}, too)` : ""}`,
    );
  }
});

const chat = { orchestration: id, entryPoint: "1007" };

/** The least that is right of each kind but for the change. */
const least: Readonly<Record<string, JsonObject>> = {
  Authentication: { name: "n" },
  ClientApplication: { name: "n", roles: [role] },
  Participant: { name: "n", type: "custom_bot", application: id },
  Channel: { type: "t", displayName: "d", icon: "aa" },
  Orchestration: { name: "n" },
  Account: { name: "n", address: "a", channel: id, chatConfigurations: chat },
};

const anId = "36 letters, digits, and hyphens; not";
const bot = { application: id, participant: id };

test.each<[Definition, JsonObject, string]>([
  [participant, { name: "n".repeat(256) }, "name: must have 1 to 255 characters, not 256"],
  [
    participant,
    { application: "short" },
    'application: must be the ID of a client application: 36 letters, digits, and hyphens; not "short"',
  ],
  [clientApplication, { roles: [] }, "roles: must have 1 to 7 items, not 0"],
  [
    clientApplication,
    { roles: [role, role] },
    'roles: must not contain two items with the same name, "customer"',
  ],
  [
    clientApplication,
    { roles: [{ ...role, callback: "ftp://x" }] },
    "roles[0].callback: must be an absolute http or https URL",
  ],
  [
    clientApplication,
    { roles: [{ ...role, callback: "https://:canary@bot.example.com/" }] },
    "roles[0].callback: must not contain a user name or password: set them in an Authentication (basicAuth, or headers of oauth2)",
  ],
  [
    authentication,
    { oauth2: { ...oauth2, tokenRequestUrl: "https://ops:canary@bot.example.com/" } },
    "oauth2.tokenRequestUrl: must not contain a user name or password: set them in an Authentication (basicAuth, or headers of oauth2)",
  ],
  [
    clientApplication,
    { roles: [{ ...role, notificationEmail: "ops" }] },
    'roles[0].notificationEmail: must be an email address, not "ops"',
  ],
  [
    clientApplication,
    { rolls: 1 },
    "rolls: is not a property of ClientApplication; did you mean roles?",
  ],
  [clientApplication, { priority: 1 }, "priority: is not a property of ClientApplication"],
  [
    participant,
    { name: `bot of ${pulumi.output("x")}` },
    "name: contains an output inside a string: write pulumi.interpolate`…` instead of `…`",
  ],
  [
    participant,
    { type: "customBot" },
    'type: must be one of custom_bot, platform_bot, not "customBot"; did you mean custom_bot?',
  ],
  [clientApplication, { roles: role }, "roles: must be a list, not an object"],
  [
    account,
    { chatConfigurations: { ...chat, entryPoint: { id: "1007" } } },
    "chatConfigurations.entryPoint: must be a string, not an object: pass its id",
  ],
  [
    orchestration,
    { applications: {} },
    "applications: needs botConfiguration or agentConfiguration",
  ],
  [
    channel,
    { icon: "data:image/png;base64,aa" },
    "icon: must be base64 text, without a data: prefix",
  ],
  [
    channel,
    { l10nProperties: { "en-us": { a: "x" } } },
    "l10nProperties.en-us: must be one of en-US, es-ES, fr-FR, it-IT, de-DE, nl-NL, pt-BR, pt-PT, da-DK, ru-RU, fr-CA, zh-CN, ja-JP, ko-KR, sv-SE; did you mean en-US?",
  ],
  [
    orchestration,
    { applications: { botConfiguration: { bots: [bot, bot] } } },
    "applications.botConfiguration.bots: must have exactly 1 item, not 2",
  ],
  [
    participant,
    { options: { ["k".repeat(256)]: "v" } },
    `options.${"k".repeat(256)}: must have a key of 1 to 255 characters`,
  ],
  [
    account,
    { chatConfigurations: { ...chat, timeout: "30" } },
    "chatConfigurations.timeout: must be a number, not a string",
  ],
  [account, { chatConfigurations: "x" }, "chatConfigurations: must be an object, not a string"],
  [
    channel,
    { l10nProperties: { "en-US": { "": "x" } } },
    "l10nProperties.en-US: must not have an empty key",
  ],
  [
    account,
    { channel: "é".repeat(200) },
    `channel: must be the ID of a channel: ${anId} "${"é".repeat(39)}…"`,
  ],
  [account, { channel: 1007 }, "channel: must be a resource or its ID, not 1007"],
  [
    account,
    { channel: { token: "canary" } },
    "channel: must be a resource or its ID, not an object",
  ],
])("$0.kind with %j is told what is wrong: %s", (definition, change, expected) => {
  expect(found(definition, { ...least[definition.kind], ...change })).toEqual([expected]);
});

test("unknown values are forgiven at every depth, and nothing else", () => {
  expect(
    found(clientApplication, {
      name: unknownValue,
      roles: [{ ...role, callback: unknownValue, authentication: unknownValue, version: "v2" }],
    }),
  ).toEqual(['roles[0].version: must be one of v1, v3, not "v2"']);
  expect(found(clientApplication, { name: "n", roles: unknownValue })).toEqual([]);
  expect(
    found(authentication, {
      name: "n",
      oauth2: { ...oauth2, payload: { secret: unknownValue } },
    }),
  ).toEqual([]);
  expect(found(authentication, { name: "n", basicAuth: unknownValue })).toEqual([]);
});

test("normal form: defaults, the derived type, JSON text", () => {
  expect(
    normaliseFields(authentication, {
      name: "n",
      oauth2: { payload: { a: 1 } },
      description: undefined,
    }),
  ).toEqual({
    name: "n",
    active: true,
    type: "oauth2",
    oauth2: { payload: '{"a":1}' },
  });
});

test("of members of which one is chosen, an unknown one may turn out to be left out", () => {
  const basicAuth = { username: "u", password: "p" };
  const choose = (inputs: JsonObject) => found(authentication, { name: "n", ...inputs });
  expect(choose({ basicAuth: unknownValue, oauth2: unknownValue })).toEqual([]);
  expect(choose({ type: "basic", basicAuth: unknownValue, oauth2: unknownValue })).toEqual([]);
  expect(choose({ type: unknownValue, basicAuth, oauth2: unknownValue })).toEqual([]);
  expect(choose({ basicAuth, oauth2: unknownValue })).toEqual([]);
  expect(choose({ type: "oauth2", basicAuth, oauth2: unknownValue })).toEqual([
    ": has type oauth2, which needs oauth2, but gives basicAuth",
  ]);
  expect(choose({ type: "basic", oauth2: unknownValue })).toEqual([
    ": has type basic, which needs basicAuth, but gives oauth2",
  ]);
  for (const wrong of [{ type: "basic" }, { basicAuth, oauth2 }])
    expect(choose(wrong)).toEqual([": needs exactly one of basicAuth and oauth2"]);
});

test("of members of which there may be only one, two are too many", () => {
  const rule = { atLeastOne: ["description", "active"], only: true } as const;
  const broken = (inputs: JsonObject) => found({ ...participant, rule }, { ...whole, ...inputs });
  const whole = bound(participant.example, () => id) as JsonObject;
  expect(broken({ description: undefined })).toEqual([]);
  expect(broken({})).toEqual([": needs only one of description, active"]);
});

test.each(["=", "a", "aa=", "aaaa=", "aaa==", "a===", "aa==aa", "a-b_", "a a"])(
  "%j is no base64",
  (icon) => {
    expect(found(channel, { type: "t", displayName: "d", icon })).toHaveLength(1);
  },
);

test.each(["aa", "aa==", "aaa", "aaa=", "aaaa", "aaaaaa+/"])("%j is base64", (icon) => {
  expect(found(channel, { type: "t", displayName: "d", icon })).toEqual([]);
});

test("the bounds of a number are named as far as there are any", () => {
  const one = (field: Parameters<typeof number>[0], value: number) =>
    found({ ...channel, kind: "One", fields: { n: number(field) } }, { n: value });
  const notes = { doc: "", basis: "assumed" } as const;
  expect(one({ ...notes, max: 600 }, 601)).toEqual(["n: must be at most 600, not 601"]);
  expect(one({ ...notes, min: 1 }, 0)).toEqual(["n: must be at least 1, not 0"]);
  expect(one({ ...notes, min: 1, max: 600 }, 0)).toEqual(["n: must be 1 to 600, not 0"]);
});

/** A text with one letter left out, put in, exchanged, or written large. */
const withTypo = (text: string): fc.Arbitrary<string> =>
  fc
    .tuple(fc.nat(text.length - 1), fc.constantFrom("x", "q", ""), fc.constantFrom(0, 1))
    .map(([at, letter, left]) => text.slice(0, at) + letter + text.slice(at + left))
    .filter((typed) => typed !== text);

const properties = resources.flatMap((definition) =>
  Object.keys(definition.fields)
    .filter((name) => name.length >= 4)
    .map((name) => ({ definition, name })),
);

test("a property that is one letter off is reported with one that there is", () => {
  const typed = fc
    .constantFrom(...properties)
    .chain(({ definition, name }) => fc.tuple(fc.constant(definition), withTypo(name)));
  fc.assert(
    fc.property(typed, ([definition, name]) => {
      fc.pre(!Object.hasOwn(definition.fields, name));
      const found = fieldViolations(definition, { [name]: "x" }).find(({ path }) => path === name);
      const [, meant = ""] = /; did you mean (\w+)\?$/.exec(found?.rule ?? "") ?? [];
      expect(Object.keys(definition.fields)).toContain(meant);
    }),
  );
});

/** Every property inside others, and the members that lead to it: `["applications", "botConfiguration"]`. */
const nested = resources.flatMap((definition) =>
  fieldsIn(definition.fields).flatMap(({ path }) => {
    const members = path.split(".");
    const name = members.at(-1) ?? "";
    // The items of a list and the values of a map have no name of their own.
    if (members.length < 2 || /[\]}]$/.test(name) || path.includes("{}")) return [];
    return [{ definition, path, name, holders: members.slice(0, -1) }];
  }),
);

/** An object that holds a member, below so many holders. */
const below = (holders: readonly string[], inner: JsonObject): JsonObject =>
  holders.reduceRight<JsonObject>((held, holder) => {
    const name = holder.replace("[]", "");
    return { [name]: name === holder ? held : [held] };
  }, inner);

test("a property that is given some levels too high is shown where it belongs", () => {
  const misplaced = fc
    .constantFrom(...nested)
    .chain((property) =>
      fc.record({ property: fc.constant(property), depth: fc.nat(property.holders.length - 1) }),
    );
  fc.assert(
    fc.property(misplaced, ({ property: { definition, path, name, holders }, depth }) => {
      const at = holders.slice(0, depth);
      const isThere = fieldsIn(definition.fields).some(
        (field) => field.path === [...at, name].join("."),
      );
      fc.pre(!isThere);
      const given = [...at, name].join(".").replaceAll("[]", "[0]");
      const rules = fieldViolations(definition, below(at, { [name]: "x" }))
        .filter((found) => found.path === given)
        .map(({ rule }) => rule);
      expect(rules).toHaveLength(1);
      expect(rules[0]).toMatch(
        new RegExp(`^is not a property of ${definition.kind}( here)?: it belongs in `),
      );
      expect(rules[0]?.split(/ in | or /)).toContain(path);
      expect(rules[0]).not.toContain("extra");
    }),
    { numRuns: 300, seed: 17 },
  );
});

const outputs = [
  `for ${pulumi.output("x")}`,
  JSON.stringify({ channel: pulumi.output("x") }),
] as const;

test("an output inside a text is reported wherever a value can stand, also as an id", () => {
  const places = nested.filter(({ path }) => !path.includes("[]"));
  const given = fc.record({ place: fc.constantFrom(...places), text: fc.constantFrom(...outputs) });
  fc.assert(
    fc.property(given, ({ place: { definition, holders, name, path }, text }) => {
      const wanted = text === outputs[0] ? "pulumi.interpolate" : "pulumi.jsonStringify";
      const reported = (found: readonly Violation[], where: string) =>
        expect(found.find((each) => each.path === where)?.rule).toContain(wanted);
      reported(fieldViolations(definition, below(holders, { [name]: text })), path);
    }),
    { numRuns: 200, seed: 17 },
  );
});

describe("the nearest word", () => {
  test.each([
    ["baseurl", ["baseUrl", "burst"], "baseUrl"],
    ["baseulr", ["baseUrl"], "baseUrl"],
    ["PLAN", ["plan", "share"], "plan"],
    ["clentId", ["clientId", "clientSecret"], "clientId"],
    ["flag", ["plan"], undefined],
    ["ab", ["cd"], undefined],
    ["", ["put"], undefined],
    ["x".repeat(100_000), ["plan"], undefined],
  ])("of %j among %j: %j", (text, words, expected) => {
    expect(nearestWord(text, words)).toBe(expected);
  });
});
