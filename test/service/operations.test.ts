import { expect, test } from "vitest";
import { resources } from "../../provider/resources/index.js";
import {
  allOperations,
  defaultScopes,
  setUpOperation,
} from "../../provider/service/http/operations.js";

const findOperation = (method: string, template: string) =>
  allOperations().find((each) => each.method === method && each.template === template);

const M = "app.conversation.conversationmgr.manage";
const R = "app.conversation.conversationmgr.read";
const IM = "app.conversation.conversationmgr.interaction.manage";
const IR = "app.conversation.conversationmgr.interaction.read";

// Copied by hand from specification §4.2, as the oracle.
test.each([
  ["POST", "/conversations/messages", [IM], "special"],
  ["GET", "/conversations/{id}", [IM, IR], "special"],
  ["POST", "/assets", [IM], "special"],
  ["GET", "/assets/{id}", [IM, IR], "special"],
  ["DELETE", "/assets/{id}", [IM], "standard"],
])("%s %s is a runtime operation with its scopes and rate", (method, template, scopes, rate) => {
  expect(findOperation(method, template)).toMatchObject({ scopes, rate });
});

const collections = [
  "authentications",
  "clientapplications",
  "participants",
  "channels",
  "orchestrations",
  "accounts",
];

// Specification §4.1.
test.each(
  collections.flatMap((collection) => [
    ["POST", `/${collection}`, [M]],
    ["GET", `/${collection}`, collection === "authentications" ? [M] : [M, R]],
    ["GET", `/${collection}/{id}`, [M, R]],
    ["PUT", `/${collection}/{id}`, [M]],
    ["DELETE", `/${collection}/{id}`, [M]],
  ]),
)("%s %s is a set-up operation at the standard rate", (method, template, scopes) => {
  expect(findOperation(`${method}`, `${template}`)).toMatchObject({ scopes, rate: "standard" });
});

test("there are five operations for each kind and five runtime ones, all different", () => {
  const names = allOperations().map(({ method, template }) => `${method} ${template}`);
  expect(new Set(names).size).toBe(resources.length * 5 + 5);
});

test("an unknown operation is not found", () => {
  expect(findOperation("PATCH", "/channels/{id}")).toBeUndefined();
});

test("the default scopes are the four of the specification", () => {
  expect([...defaultScopes].sort()).toEqual([IM, IR, M, R].sort());
});

test("titles read as a sentence would say them", () => {
  const [first] = resources;
  if (!first) throw new Error("no kinds");
  expect(setUpOperation(first, "list").title).toBe("list every authentication");
});
