import { expect, test } from "vitest";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { redact, shownText } from "../../provider/service/redaction.js";
import { secretTexts } from "../../provider/service/secret-texts.js";

test.each([
  ["as it is", "pass s3cr&t word", "pass [secret] word"],
  ["in an address", "x=s3cr%26t;", "x=[secret];"],
  ["cut off at the end", "the value is s3cr", "the value is [secret]"],
  ["cut off at the end with dots", "the value is s3cr...", "the value is [secret]"],
])("a secret %s is hidden", (_, text, hidden) => {
  expect(redact(text, ["s3cr&t"])).toBe(hidden);
});

test("the longer of two secrets is hidden first", () => {
  expect(redact("abcdef", ["abc", "abcdef"])).toBe("[secret]");
});

test("an empty secret hides nothing", () => {
  expect(redact("text", [""])).toBe("text");
});

test("a text is cut at whole characters", () => {
  expect(shownText("😀".repeat(400), [])).toBe(`${"😀".repeat(300)}…`);
});

test("secrets of an authentication are found in its wire form, inside JSON text too", () => {
  const body = {
    name: "shown",
    basicAuth: { username: "shown", password: "s1" },
    oauth2: { headers: [{ name: "shown", value: "s2" }], payload: '{"a":{"b":"s3"}}' },
  };
  expect(secretTexts(authentication, body)).toEqual(["s1", "s2", '{"a":{"b":"s3"}}', "s3"]);
});

test("secrets are found inside lists", () => {
  const body = { roles: [{ name: "customer", headers: [{ name: "shown", value: "s1" }] }] };
  expect(secretTexts(clientApplication, body)).toEqual(["s1"]);
});

test("values of account attributes are secrets", () => {
  const body = { attributes: [{ name: "shown", value: "s1" }] };
  expect(secretTexts(account, body)).toEqual(["s1"]);
});

test("a body that does not fit its definition holds no secrets rather than failing", () => {
  expect(secretTexts(clientApplication, { roles: "x" })).toEqual([]);
});
