import type { ServerResponse } from "node:http";
import { expect, test } from "vitest";
import type { ShownDelivery } from "../../emulator/conversations/deliveries.js";
import { deliveryFailures } from "../../emulator/conversations/delivery-failures.js";
import type { JsonObject } from "../../provider/kernel/json.js";
import { kindOf, type Running } from "../emulator/running.js";
import { type CallbackServer, callbackServer } from "./callback-server.js";
import { type Hub, type HubOptions, hub, message } from "./hub.js";

const basicAuth = { username: "hub", password: "canary-password" };

const made = (authentication: JsonObject) => async (service: Running) => ({
  authentication: { id: await service.make(kindOf("Authentication"), authentication) },
});

const basic = made({ type: "basic", basicAuth, oauth2: undefined });

const json = (response: ServerResponse, body: unknown, status = 200): void =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

/** Gives token-1, token-2 and so on. */
const tokenServer = async (): Promise<CallbackServer> => {
  const server = await callbackServer();
  server.answer = (_call, response, place) =>
    json(response, { data: { accessToken: `token-${place}` } });
  return server;
};

const oauth2For = (tokens: CallbackServer): JsonObject => ({
  tokenRequestUrl: `${tokens.url}/oauth`,
  method: "GET",
  headers: [{ name: "X-Key", value: "canary-header" }],
  payload: '{"clientSecret":"canary-payload"}',
  accessTokenPath: "$.data.accessToken",
});

const withOAuth = async (
  tokens: CallbackServer,
  changes: JsonObject = {},
  options: HubOptions = {},
): Promise<Hub> => {
  const oauth2 = { ...oauth2For(tokens), ...changes };
  return hub({ prepare: made({ type: "oauth2", oauth2 }), ...options });
};

const accepting = (server: CallbackServer, token: string): void => {
  server.answer = ({ headers }, response) =>
    void response.writeHead(headers.authorization === `Bearer ${token}` ? 200 : 401).end();
};

const authorizations = ({ received }: CallbackServer): unknown[] =>
  received.map(({ headers }) => headers.authorization);

test("Basic credentials are sent as the role's authentication says", async () => {
  const { begin, bot, logged } = await hub({ prepare: basic });
  await begin();
  await logged(1);
  const encoded = Buffer.from("hub:canary-password").toString("base64");
  expect(authorizations(bot)).toEqual([`Basic ${encoded}`]);
});

test("the role's own headers are sent, none that would break the message", async () => {
  const headers = [
    { name: "X-Tenant-Hint", value: "acme" },
    { name: "Transfer-Encoding", value: "chunked" },
    { name: "Content-Length", value: "3" },
  ];
  const { begin, bot, logged } = await hub({ role: { headers } });
  await begin();
  expect(await logged(1)).toMatchObject([{ status: 200 }]);
  expect(bot.received[0]?.headers["x-tenant-hint"]).toBe("acme");
  expect(bot.messageIds).toEqual(["m-0001"]);
});

test("a token is fetched as the authentication says", async () => {
  const tokens = await tokenServer();
  const { begin, bot, logged } = await withOAuth(tokens);
  await begin();
  await logged(1);
  expect(authorizations(bot)).toEqual(["Bearer token-1"]);
  const [call] = tokens.received;
  expect([call?.method, call?.path, call?.text]).toEqual([
    "GET",
    "/oauth",
    '{"clientSecret":"canary-payload"}',
  ]);
  expect(call?.headers).toMatchObject({
    "x-key": "canary-header",
    "content-type": "application/json",
  });
});

test("a token is fetched once for many deliveries", async () => {
  const tokens = await tokenServer();
  const { begin, logged } = await withOAuth(tokens);
  await Promise.all([begin(), begin(), begin(), begin()]);
  await logged(4);
  await begin();
  await logged(5);
  expect(tokens.received.length).toBe(1);
});

test("after a 401 a new token is fetched and the message delivered at once", async () => {
  const tokens = await tokenServer();
  const { begin, bot, logged } = await withOAuth(tokens);
  accepting(bot, "token-2");
  await begin();
  expect(await logged(2)).toMatchObject([
    { attempt: 1, status: 401 },
    { attempt: 2, status: 200 },
  ]);
  expect(authorizations(bot)).toEqual(["Bearer token-1", "Bearer token-2"]);
  await begin();
  expect((await logged(3)).at(-1)).toMatchObject({ attempt: 1, status: 200 });
});

test("a callback that accepts no token gets one new one, and no endless attempts", async () => {
  const tokens = await tokenServer();
  const { service, begin, bot, deliveries, logged } = await withOAuth(tokens);
  accepting(bot, "another");
  await begin();
  for (const attempts of [2, 3, 4]) {
    await logged(attempts);
    service.emulator.advance(1_000);
  }
  expect(await deliveries()).toHaveLength(4);
  expect([bot.received.length, tokens.received.length]).toEqual([4, 2]);
});

test("several deliveries that meet a 401 share one new token", async () => {
  const tokens = await tokenServer();
  const { begin, bot, logged } = await withOAuth(tokens);
  const refused: ServerResponse[] = [];
  bot.answer = (_call, response) => void refused.push(response);
  await Promise.all(Array.from({ length: 10 }, () => begin()));
  await bot.count(10);
  accepting(bot, "token-2");
  for (const response of refused) response.writeHead(401).end();
  const log = await logged(20);
  expect(log.filter(({ status }) => status === 200).length).toBe(10);
  expect(tokens.received.length).toBe(2);
});

test("a changed authentication makes the token stale", async () => {
  const tokens = await tokenServer();
  const { service, begin, bot, logged } = await withOAuth(tokens);
  await begin();
  await logged(1);
  const { objects } = (await service.control("GET", "/snapshot")).json as {
    objects: Record<string, JsonObject[]>;
  };
  const [object] = objects.authentications ?? [];
  service.emulator.advance(1);
  const { id, created: _created, modified: _modified, ...body } = object ?? {};
  await service.call("PUT", `/authentications/${String(id)}`, body);
  await begin();
  await logged(2);
  expect(authorizations(bot)).toEqual(["Bearer token-1", "Bearer token-2"]);
});

test.each<[string, JsonObject, (response: ServerResponse) => void, unknown]>([
  [
    "a refusal",
    {},
    (response) => json(response, {}, 403),
    "no token: the token URL responded with 403",
  ],
  [
    "no JSON",
    {},
    (response) => void response.end("hello"),
    "no token: the response from the token URL is not JSON",
  ],
  [
    "too much",
    {},
    (response) => void response.end("x".repeat(70_000)),
    expect.stringMatching(/^no token from \S+\/oauth: the response is larger than 64 KiB$/),
  ],
  [
    "a path that is not simple",
    { accessTokenPath: "$..token" },
    (response) => json(response, { token: "x" }),
    "no token: accessTokenPath must be a path such as $.accessToken",
  ],
])("where the token address gives %s the log says so", async (_what, changes, answer, error) => {
  const tokens = await tokenServer();
  tokens.answer = (_call, response) => answer(response);
  const { begin, bot, logged } = await withOAuth(tokens, changes, {
    switches: { deliveryRetries: 0 },
  });
  await begin();
  expect(await logged(1)).toMatchObject([{ attempt: 1, error }]);
  expect(bot.received.length + tokens.received.filter(({ path }) => path !== "/oauth").length).toBe(
    0,
  );
});

test("no credential is in the log", async () => {
  const tokens = await tokenServer();
  const { service, ids, bot, begin, send, logged } = await withOAuth(tokens);
  const secretUrl = bot.url.replace("http://", "http://user:canary-user@");
  const { roles } = (await service.call("GET", `/clientapplications/${ids.bot}`)).json;
  const [role] = Array.isArray(roles) ? roles : [];
  await service.call("PUT", `/clientapplications/${ids.bot}`, {
    name: "secretive",
    roles: [{ ...role, callback: `${secretUrl}/in?key=canary-query` }],
  });
  const conversation = await begin();
  await send(message(conversation, "custom_bot", "text"));
  const log = await logged(2);
  expect(JSON.stringify(log)).not.toMatch(/canary|token-/);
  expect(log.map(({ url }) => url)).toContain(`${bot.url}/in`);
  expect(bot.received[0]?.path).toBe("/in?key=canary-query");
});

test("a token URL that cannot be reached is named without its query", async () => {
  const failed: ShownDelivery[] = [];
  // No server ever listens on this port.
  const url = "http://127.0.0.1:1";
  const options: HubOptions = {
    switches: { deliveryRetries: 0 },
    onUndelivered: (entry) => void failed.push(entry),
    callbackRoute: (address) => (URL.parse(address)?.port ? address : url),
  };
  for (const address of [url, "https://bot.example.com"]) {
    const changes = { tokenRequestUrl: `${address}/oauth?key=canary` };
    const { begin, logged } = await withOAuth(await tokenServer(), changes, options);
    await begin();
    await logged(1);
  }
  const { noLogin, example } = deliveryFailures;
  expect(failed).toMatchObject([
    { error: `no token from ${url}/oauth: ECONNREFUSED`, failure: noLogin },
    { error: "no token from https://bot.example.com/oauth: ECONNREFUSED", failure: example },
  ]);
});
