import * as pulumi from "@pulumi/pulumi";
import { expect, test } from "vitest";
import type { Definition } from "../../provider/definition/define.js";
import { normaliseFields } from "../../provider/definition/normalise.js";
import { fieldViolations } from "../../provider/definition/violations.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { unknownValue } from "../../provider/kernel/stand-ins.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { resources } from "../../provider/resources/index.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { participant } from "../../provider/resources/participant.js";

const id = "1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10";

const withIds = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value).replaceAll(/"\$\{\w+\}"/g, JSON.stringify(id)));

const found = (definition: Definition, inputs: JsonObject) =>
  fieldViolations(definition, normaliseFields(definition, inputs)).map(
    ({ path, rule }) => `${path}: ${rule}`,
  );

const role = {
  name: "customer",
  version: "v3",
  callback: "https://web.example.com/",
  notificationEmail: "ops@example.com",
};

test.each(resources)("the example of $kind is right", (definition) => {
  expect(found(definition, withIds(definition.example) as JsonObject)).toEqual([]);
});

test.each(resources)("$kind names what is missing", (definition) => {
  const derived =
    definition.rule && "exactlyOne" in definition.rule ? definition.rule.discriminator : "";
  const required = Object.entries(definition.fields).filter(
    ([name, field]) => field.required && name !== derived,
  );
  for (const [name] of required) expect(found(definition, {})).toContain(`${name}: is required`);
});

test.each<[string, Definition, JsonObject, string[]]>([
  [
    "a long name",
    participant,
    { name: "n".repeat(256), type: "custom_bot", application: id },
    ["name: must have 1 to 255 characters, not 256"],
  ],
  [
    "an empty description",
    participant,
    { name: "n", description: "", type: "custom_bot", application: id },
    ["description: must have 1 to 1023 characters, not 0"],
  ],
  [
    "a short id",
    participant,
    { name: "n", type: "custom_bot", application: "short" },
    [
      'application: must be the id of a client application: 36 letters, digits and hyphens; not "short"',
    ],
  ],
  [
    "a hostile id",
    account,
    { name: "n", address: "a", channel: "../x", chatConfigurations: {} },
    ['channel: must be the id of a channel: letters, digits, "_" and "-"; not "../x"'],
  ],
  ["no roles", clientApplication, { name: "n", roles: [] }, ["roles: must have 1 to 7 items"]],
  [
    "a role twice",
    clientApplication,
    { name: "n", roles: [role, role] },
    ['roles: must not hold two items with the same name, "customer"'],
  ],
  [
    "a wrong callback",
    clientApplication,
    { name: "n", roles: [{ ...role, callback: "ftp://x" }] },
    ["roles[0].callback: must be an absolute http or https address"],
  ],
  [
    "a wrong e-mail",
    clientApplication,
    { name: "n", roles: [{ ...role, notificationEmail: "ops" }] },
    ['roles[0].notificationEmail: must be an e-mail address, not "ops"'],
  ],
  [
    "a typing error",
    clientApplication,
    { name: "n", roles: [role], rolls: 1 },
    ["rolls: is not a property of ClientApplication; did you mean roles?"],
  ],
  [
    "a member that nobody knows",
    clientApplication,
    { name: "n", roles: [role], priority: 1 },
    [
      'priority: is not a property of ClientApplication; fields that only the service knows go into "extra"',
    ],
  ],
  [
    "an output inside a text",
    participant,
    {
      name: `bot of ${pulumi.output("x")}`,
      type: "custom_bot",
      application: id,
    },
    ["name: holds an output inside a text: write pulumi.interpolate`…` instead of `…`"],
  ],
  [
    "a word in other letters",
    participant,
    { name: "n", type: "customBot", application: id },
    ['type: must be one of custom_bot, platform_bot, not "customBot"; did you mean custom_bot?'],
  ],
  [
    "an object for a list",
    clientApplication,
    { name: "n", roles: role },
    ["roles: must be a list, not an object"],
  ],
  [
    "both methods",
    authentication,
    { name: "n", basicAuth: { username: "u", password: "p" }, oauth2: {} },
    [": needs exactly one of basicAuth and oauth2"],
  ],
  [
    "another method",
    authentication,
    { name: "n", type: "basic", oauth2: {} },
    [": has type basic, which needs basicAuth, but gives oauth2"],
  ],
  [
    "a method in other letters",
    authentication,
    { name: "n", type: "Basic", basicAuth: { username: "u", password: "p" } },
    ['type: must be one of basic, oauth2, not "Basic"; did you mean basic?'],
  ],
  [
    "an object for the id of an entry point",
    account,
    { name: "n", address: "a", channel: id, chatConfigurations: { entryPoint: { id: "1007" } } },
    ["chatConfigurations.entryPoint: must be text, not an object: give its id"],
  ],
  [
    "no bots and no agents",
    orchestration,
    { name: "n", applications: {} },
    ["applications: needs botConfiguration or agentConfiguration"],
  ],
  [
    "a data address as icon",
    channel,
    { type: "t", displayName: "d", icon: "data:image/png;base64,aa" },
    ["icon: must be base64 text, without a data: prefix"],
  ],
  [
    "26 languages",
    channel,
    {
      type: "t",
      displayName: "d",
      icon: "aa",
      l10nProperties: Object.fromEntries(Array.from({ length: 26 }, (_, i) => [`l${i}`, {}])),
    },
    ["l10nProperties: must have 1 to 25 entries"],
  ],
  [
    "text for a number",
    account,
    { name: "n", address: "a", channel: id, chatConfigurations: { timeout: "30" } },
    ["chatConfigurations.timeout: must be a number, not text"],
  ],
  [
    "text for an object",
    account,
    { name: "n", address: "a", channel: id, chatConfigurations: "x" },
    ["chatConfigurations: must be an object, not text"],
  ],
  [
    "an empty key",
    channel,
    { type: "t", displayName: "d", icon: "aa", l10nProperties: { "": {}, en: { "": "x" } } },
    ["l10nProperties.en: must not have an empty key", "l10nProperties: must not have an empty key"],
  ],
  [
    "a long id",
    account,
    { name: "n", address: "a", channel: "é".repeat(200), chatConfigurations: {} },
    [
      `channel: must be the id of a channel: letters, digits, "_" and "-"; not "${"é".repeat(39)}…"`,
    ],
  ],
  [
    "a number for an id",
    account,
    { name: "n", address: "a", channel: 1007, chatConfigurations: {} },
    ["channel: must be a resource or its id, not 1007"],
  ],
  [
    "an object for an id, without what it holds",
    account,
    { name: "n", address: "a", channel: { token: "canary" }, chatConfigurations: {} },
    ["channel: must be a resource or its id, not an object"],
  ],
])("%s is named", (_, definition, inputs, expected) => {
  expect(found(definition, inputs)).toEqual(expected);
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
    found(authentication, { name: "n", oauth2: { payload: { secret: unknownValue } } }),
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
