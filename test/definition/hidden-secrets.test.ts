import { expect, test } from "vitest";
import type { JsonObject } from "../../provider/kernel/json.js";
import { account } from "../../provider/resources/account.js";
import { authentication } from "../../provider/resources/authentication.js";
import { clientApplication } from "../../provider/resources/client-application.js";
import { attributes, merge, role } from "./support/merging.js";

test("hand-set headers stay where they are shown, and are told where they are hidden", () => {
  const app = (...roles: JsonObject[]) => ({ name: "app", description: "d", roles });
  const headers = (value?: string | null) => [{ name: "X-Key", value, order: 1 }];
  const desired = app(role("custom_bot"), role("acme_bot"));
  const shown = app(role("acme_bot", { headers: headers("clear") }), role("custom_bot"));
  expect(merge(clientApplication, shown, desired, desired)).toEqual({
    body: app(role("custom_bot"), role("acme_bot", { headers: headers("clear") })),
    undeclared: ["roles[platform_bot].headers"],
    hidden: [],
  });
  for (const value of ["********", "", null, undefined]) {
    const live = app(role("custom_bot", { headers: headers(value) }), role("acme_bot"));
    const result = merge(clientApplication, live, desired, desired, true);
    expect(result.hidden).toEqual(['roles[custom_bot].headers["X-Key"]']);
    expect(result.body).toEqual(desired);
  }
});

test("what is left of a member with hidden parts is written", () => {
  const live = {
    name: "a",
    attributes: [
      { name: "open", value: "shown" },
      { name: "key", value: "••••", order: 1 },
    ],
  };
  const result = merge(account, live, { name: "a" });
  expect(result).toEqual({
    body: { name: "a", attributes: [{ name: "open", value: "shown" }] },
    undeclared: ["attributes"],
    hidden: ["attributes.key"],
  });
  expect(merge(account, live, { name: "a" }, {}, true)).toEqual({
    body: { name: "a" },
    undeclared: ["attributes"],
    hidden: [],
  });
});

test.each([
  "*",
  "••••••",
  "●●●",
  "xxx",
  "XXXXXXXX",
  "xxxx-xxxx-xxxx",
  "----",
  "...",
  "###",
  "ab***yz",
  "sk-••••",
  "[hidden]",
  "[SECRET]",
  "<redacted>",
  "REDACTED",
  "masked",
  "Hidden",
  "secret",
  "string",
  "(masked)",
  "[FILTERED]",
  "PROTECTED",
  "<encrypted>",
  "(sensitive)",
  "**REMOVED**",
])("%j in place of a secret is never written back", (shown) => {
  const { body, hidden } = merge(
    account,
    { name: "a", attributes: attributes({ k: shown }) },
    { name: "a" },
  );
  expect(body).toEqual({ name: "a" });
  expect(hidden).toEqual(["attributes.k"]);
});

test.each([
  "x",
  "xx",
  "X",
  "a*b",
  "hidden door",
  "secretary",
  "strings attached",
  "s3cret",
  "0",
  "a.b-c",
  "**a",
])("%j can be a secret", (shown) => {
  const live = { name: "a", attributes: attributes({ k: shown }) };
  expect(merge(account, live, { name: "a" })).toMatchObject({ body: live, hidden: [] });
});

const token = (payload: unknown, headers: Record<string, unknown>) => ({
  name: "a",
  type: "oauth2",
  oauth2: { headers: attributes(headers), ...(payload === undefined ? {} : { payload }) },
});
const onlyPayload = (payload: string) => ({ name: "a", type: "oauth2", oauth2: { payload } });

test("a service that shows a known secret as it is hides nothing", () => {
  const live = token("known", { a: "hidden", b: "***", c: "" });
  const result = merge(authentication, live, onlyPayload("new"), onlyPayload("known"));
  expect(result.hidden).toEqual([]);
  expect(result.body).toEqual(token("new", { a: "hidden", b: "***", c: "" }));
  const json = token('{"b":2,"a":1}', { a: "hidden" });
  expect(
    merge(authentication, json, onlyPayload("new"), onlyPayload('{"a":1,"b":2}')).hidden,
  ).toEqual([]);
});

test("what a service shows in place of a known secret is a mask elsewhere, too", () => {
  const live = { ...token("TOP", { a: "TOP", b: "clear" }), unknown: "TOP" };
  const { body, hidden } = merge(authentication, live, onlyPayload("known"), onlyPayload("known"));
  expect(hidden).toEqual(["oauth2.headers.a", "unknown"]);
  expect(body).toEqual(token("known", { b: "clear" }));
});

test("secrets that are shown unlike each other are no mask", () => {
  const live = token("changed", { a: "also changed", b: "changed", c: "also changed" });
  const { hidden } = merge(authentication, live, token("p", { a: "1" }), token("p", { a: "1" }));
  expect(hidden).toEqual([]);
  const alike = token("changed", { a: "changed", b: "changed", c: "also changed" });
  expect(merge(authentication, alike, onlyPayload("p"), token("p", { a: "1" })).hidden).toEqual([]);
  const desired = { name: "a", type: "oauth2", oauth2: { payload: "p", method: "POST" } };
  expect(merge(authentication, alike, desired, desired).hidden).toEqual([
    "oauth2.headers.a",
    "oauth2.headers.b",
  ]);
});

test("an absent secret is taken for hidden only where the service is known to leave out others", () => {
  const desired = token(undefined, { a: "1" });
  const shown = merge(authentication, token(undefined, { a: "***" }), desired, desired);
  expect(shown.hidden).toEqual([]);
  const unsure = merge(authentication, token(null, { a: "***" }), desired, desired);
  expect(unsure.hidden).toEqual([]);
  expect(unsure.body.oauth2).not.toHaveProperty("payload");
  const omitted = merge(authentication, token(undefined, { a: undefined }), desired, desired);
  expect(omitted.hidden).toEqual(["oauth2.payload"]);
  expect(omitted.body).toEqual(desired);
  // The program gave it and does so no more: it goes, and nobody misses it.
  const gone = merge(
    authentication,
    token(undefined, { a: undefined }),
    desired,
    token("p", { a: "1" }),
  );
  expect(gone.hidden).toEqual([]);
});

test("a required secret that is not shown is hidden, and what held it cannot stand", () => {
  const live = { name: "a", type: "basic", basicAuth: { username: "u" } };
  const result = merge(authentication, live, { name: "a" });
  expect(result).toEqual({
    body: { name: "a", type: "basic" },
    undeclared: ["type", "basicAuth"],
    hidden: ["basicAuth.password"],
  });
});

test("what surely is a mask is not written back where no field knows it, either", () => {
  const live = {
    name: "a",
    vault: { key: "********", url: "x" },
    keys: ["****1234"],
    note: "a *** b",
  };
  const result = merge(account, live, { name: "a" });
  expect(result.hidden).toEqual(["vault.key", "keys[0]"]);
  expect(result.body).toEqual({ name: "a", vault: { url: "x" }, note: "a *** b" });
});
