import { expect, test } from "vitest";
import { type Definition, number } from "../../provider/definition/define.js";
import { normaliseFields } from "../../provider/definition/normalise.js";
import { fieldViolations } from "../../provider/definition/violations.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { unknownValue } from "../../provider/kernel/stand-ins.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";

const found = (definition: Definition, inputs: JsonObject) =>
  fieldViolations(definition, normaliseFields(definition, inputs)).map(
    ({ path, rule }) => `${path}: ${rule}`,
  );

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
  expect(choose({ type: "basic" })).toEqual([": needs exactly one of basicAuth and oauth2"]);
});

test.each([
  "",
  "=",
  "==",
  "a",
  "aa=",
  "aaaa=",
  "aaaaa",
  "a===",
  "aaa==",
  "a=a",
  "aa==aa",
  "a-b_",
  "a a",
])("%j is no base64", (icon) => {
  expect(found(channel, { type: "t", displayName: "d", icon })).toHaveLength(1);
});

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
