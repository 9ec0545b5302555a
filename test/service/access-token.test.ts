import { expect, test } from "vitest";
import { runtimeOperations } from "../../provider/service/operations.js";
import { readGrant } from "../../provider/service/token.js";
import { connected, failureOf } from "./support/connected.js";
import { type Handler, inTurn, json, raw } from "./support/fake-hub.js";

const { getAsset, createAsset } = runtimeOperations;
const accepted = json(200, { id: "a1" });

const onlyToken =
  (token: string): Handler =>
  (seen, ...rest) =>
    (seen.headers.authorization === `Bearer ${token}` ? accepted : json(401, { code: "401-104" }))(
      seen,
      ...rest,
    );

test("the client credentials travel as four form fields", async () => {
  await using live = await connected(accepted, {}, { scope: "a b", clientSecret: "s&=+ é" });
  await live.service.request(getAsset, { id: "a1" });
  const [call] = live.hub.tokenCalls;
  expect(call?.headers["content-type"]).toBe("application/x-www-form-urlencoded");
  expect(Object.fromEntries(new URLSearchParams(call?.body))).toEqual({
    grant_type: "client_credentials",
    scope: "a b",
    client_id: "client-1",
    client_secret: "s&=+ é",
  });
});

test("every call carries the token and the agreed headers", async () => {
  await using live = await connected(accepted);
  await live.service.request(createAsset, { body: { name: "x" } });
  expect(live.hub.calls[0]?.headers).toMatchObject({
    authorization: "Bearer token-1",
    accept: "application/json",
    "accept-language": "en-US",
    "content-type": "application/json",
    "user-agent": expect.stringMatching(/^pulumi-conversation\/\d+\.\d+\.\d+/),
  });
});

test("fifty calls refused with 401 at once cost exactly one more token call", async () => {
  await using live = await connected(accepted);
  await live.service.request(getAsset, { id: "a1" });
  live.hub.handle = onlyToken("token-2");
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => live.service.request(createAsset, { body: {} })),
  );
  expect(answers.every(({ status }) => status === 200)).toBe(true);
  expect(live.hub.tokenCalls).toHaveLength(2);
});

test("a 401 that comes late, for a token already replaced, costs no further token call", async () => {
  const { promise: held, resolve: hold } = Promise.withResolvers<() => void>();
  const first: Handler = (...call) => hold(() => json(401, {})(...call));
  await using live = await connected(inTurn(first, json(401, {}), accepted));
  const late = live.service.request(getAsset, { id: "late" });
  const release = await held;
  await live.service.request(getAsset, { id: "a1" });
  release();
  expect(await late).toMatchObject({ status: 200 });
  expect(live.hub.tokenCalls).toHaveLength(2);
});

test("nobody uses a refused token while its successor is on the way", async () => {
  const { promise: held, resolve: hold } = Promise.withResolvers<() => void>();
  await using live = await connected(onlyToken("token-2"));
  const granted = live.hub.handleToken;
  const slow: Handler = (...call) => hold(() => granted(...call));
  live.hub.handleToken = inTurn(granted, slow);
  const first = live.service.request(getAsset, { id: "a1" });
  const release = await held;
  const second = live.service.request(getAsset, { id: "a2" });
  release();
  await Promise.all([first, second]);
  expect(live.hub.log.toSorted()).toEqual(["GET /assets/a1", "GET /assets/a1", "GET /assets/a2"]);
});

test.each([
  ["an hour", { expires_in: 3600 }, 3_540_000],
  ["a short life", { expires_in: 100 }, 90_000],
  ["an unknown life", {}, 270_000],
  ["a life that is no number", { expires_in: "" }, 270_000],
])("a token with %s is used until shortly before its end", async (_, reply, lifeMs) => {
  await using live = await connected(accepted);
  live.hub.handleToken = json(200, { access_token: "t", ...reply });
  await live.service.request(getAsset, { id: "a1" });
  live.clock.time += lifeMs - 1;
  await live.service.request(getAsset, { id: "a1" });
  expect(live.hub.tokenCalls).toHaveLength(1);
  live.clock.time += 1;
  await live.service.request(getAsset, { id: "a1" });
  expect(live.hub.tokenCalls).toHaveLength(2);
});

test("a token without a life serves the call that waits for it, and no other", async () => {
  await using live = await connected(accepted);
  live.hub.handleToken = json(200, { access_token: "t", expires_in: 0 });
  for (const id of ["a1", "a2"])
    expect(await live.service.request(getAsset, { id })).toMatchObject({ status: 200 });
  expect(live.hub.tokenCalls).toHaveLength(2);
});

test.each([
  [401, "invalid_client", /clientId.*clientSecret/],
  [400, "invalid_scope", /conversation:scope \(CONVERSATION_SCOPE\)/],
  [403, "unauthorized_client", /clientId.*tokenUrl/],
  // As REJECTED, it would look as if the service had refused the call itself.
  [404, "", /tokenUrl/],
])("refused credentials (%i %s) name the code and what to check", async (status, error, advice) => {
  await using live = await connected(accepted);
  live.hub.handleToken = json(status, { error, error_description: "No canary-client-secret here" });
  const failure = await failureOf(live.service.request(getAsset, { id: "a1" }));
  expect(failure).toMatchObject({ code: "CREDENTIALS_REFUSED", effect: "none" });
  expect(String(failure)).toMatch(advice);
  expect(String(failure)).toContain(error);
  expect(String(failure)).not.toContain("canary");
  expect([live.hub.calls.length, live.hub.tokenCalls.length]).toEqual([0, 1]);
});

test("where the scope is not known, the forms of both kinds of tenants are named", async () => {
  await using live = await connected(accepted);
  const settings = live.hub.settings({ baseUrl: "https://hub.example.com/conversation/v3" });
  const response = { status: 400, headers: {}, text: '{"error":"invalid_scope"}' };
  expect(() => readGrant(settings, response)).toThrow(
    /one scope, https:\/\/hub\.example\.com\/auth\/\.default; a self-service tenant has short/,
  );
});

test.each([
  ["no JSON", raw(200, "<html>canary</html>")],
  ["no token", json(200, { token: "canary" })],
  ["a token that fits no header", json(200, { access_token: "canary\r\nX: 1" })],
])("an answer with %s cannot be used", async (_, handler) => {
  await using live = await connected(accepted);
  live.hub.handleToken = handler;
  const failure = await failureOf(live.service.request(getAsset, { id: "a1" }));
  expect(failure).toMatchObject({ code: "BAD_RESPONSE", effect: "none" });
  expect(String(failure)).not.toContain("canary");
});

test("the granted scopes can be looked at, the token cannot", async () => {
  await using live = await connected(accepted);
  live.hub.handleToken = json(200, { access_token: "canary", expires_in: 3600, scope: "a b" });
  expect(await live.service.token()).toEqual({ scopes: ["a", "b"] });
});
