import { createHash } from "node:crypto";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { scopes } from "../support/specification.js";
import { type Running, running, start } from "./running.js";

const redirectUri = "https://spa.example.com/back";
const verifier = "a-code-verifier-of-43-to-128-characters.~_0123";
const challengeOf = (text: string) => createHash("sha256").update(text).digest("base64url");

const register = (service: Running, changes: object = {}) =>
  service.control("POST", "/clients", {
    clientId: "spa",
    public: true,
    redirectUris: [redirectUri, "https://spa.example.com/other?tenant=1"],
    scopes: [scopes.R, scopes.IR],
    ...changes,
  });

let service: Running;
beforeAll(async () => {
  service = await start();
  await register(service);
  await register(service, { clientId: "other-spa" });
});
afterAll(() => service[Symbol.asyncDispose]());

type Parameters = Readonly<Record<string, string | undefined>>;

const defined = (parameters: Parameters): Record<string, string> =>
  Object.fromEntries(
    Object.entries(parameters).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );

/** Specification §5.3, part 1. */
const part1: Parameters = {
  client_id: "spa",
  response_type: "code",
  redirect_uri: redirectUri,
  scope: `${scopes.R} ${scopes.IR}`,
  state: "opaque state & more",
  code_challenge: challengeOf(verifier),
  code_challenge_method: "S256",
};

const authorize = (changes: Parameters = {}, at = service, url = at.emulator.authUrl) =>
  at.send("GET", `${url}?${new URLSearchParams(defined({ ...part1, ...changes }))}`);

const target = (reply: { headers: Readonly<Record<string, unknown>> }) =>
  new URL(String(reply.headers.location));

const codeOf = async (changes: Parameters = {}, at = service, url = at.emulator.authUrl) =>
  target(await authorize(changes, at, url)).searchParams.get("code") ?? "";

/** Specification §5.3, part 2. */
const part2: Parameters = {
  grant_type: "authorization_code",
  redirect_uri: redirectUri,
  client_id: "spa",
  code_verifier: verifier,
};

const exchange = (changes: Parameters, at = service, url = at.emulator.tokenUrl) =>
  at.form(url, defined({ ...part2, ...changes }));

let code: string;
beforeEach(async () => {
  code = await codeOf();
});

const other = "https://spa.example.com/other?tenant=1";

test.each([
  ["with code and state", {}, redirectUri, ["code", "state"]],
  ["without state where none was given", { state: undefined }, redirectUri, ["code"]],
  ["and keeps the address's parameters", { redirect_uri: other }, other, ["code", "state"]],
])("the authorization address approves at once %s", async (_, changes, address, names) => {
  const { status, text, headers } = await authorize(changes);
  expect([status, text]).toEqual([302, ""]);
  const { searchParams } = target({ headers });
  expect(String(headers.location).startsWith(address)).toBe(true);
  expect([...searchParams.keys()].filter((name) => name !== "tenant")).toEqual(names);
  if (names.includes("state")) expect(searchParams.get("state")).toBe("opaque state & more");
});

test.each(["client_id", "redirect_uri"])("%s given twice sends nobody anywhere", async (name) => {
  const query = new URLSearchParams(defined(part1));
  query.append(name, query.get(name) ?? "");
  const reply = await service.send("GET", `${service.emulator.authUrl}?${query}`);
  expect(reply).toMatchObject({ status: 400, json: { error: "invalid_request" } });
  expect(reply.headers.location).toBeUndefined();
});

test.each([
  ["an unknown client_id", { client_id: "nobody" }],
  ["a client that is not public", { client_id: "emulator" }],
  ["another redirect_uri", { redirect_uri: "https://evil.example.com/back" }],
  ["a longer redirect_uri", { redirect_uri: `${redirectUri}/more` }],
])("%s is explained and sends nobody anywhere", async (_, changes) => {
  const reply = await authorize(changes);
  expect(reply).toMatchObject({ status: 400, json: { error: "invalid_request" } });
  expect(reply.headers.location).toBeUndefined();
});

test.each([
  ["another response_type", { response_type: "token" }, "unsupported_response_type"],
  ["scopes that are not granted", { scope: scopes.M }, "invalid_scope"],
  ["no code_challenge", { code_challenge: undefined }, "invalid_request"],
  ["a short code_challenge", { code_challenge: "short" }, "invalid_request"],
  ["the method plain", { code_challenge_method: "plain" }, "invalid_request"],
])("%s comes back as an error with the state and no code", async (_, changes, error) => {
  const reply = await authorize(changes);
  expect(reply.status).toBe(302);
  const { searchParams } = target(reply);
  expect(searchParams.get("error")).toBe(error);
  expect(searchParams.get("state")).toBe("opaque state & more");
  expect(searchParams.has("code")).toBe(false);
});

test.each([`${scopes.R} ${scopes.IR}`, scopes.IR])(
  "the code gives a token with the scopes asked for: %s",
  async (scope) => {
    const { status, json } = await exchange({ code: await codeOf({ scope }) });
    expect(status).toBe(200);
    expect(json).toEqual({
      access_token: expect.stringMatching(/^[\w-]{20,}$/),
      token_type: "Bearer",
      expires_in: 3600,
      scope,
    });
  },
);

test.each([
  ["no code", { code: undefined }, 400, "invalid_request"],
  ["an unknown code", { code: "unknown" }, 400, "invalid_grant"],
  [
    "another redirect_uri",
    { redirect_uri: "https://spa.example.com/other?tenant=1" },
    400,
    "invalid_grant",
  ],
  ["another public client", { client_id: "other-spa" }, 400, "invalid_grant"],
  ["a client that is not public", { client_id: "emulator" }, 401, "invalid_client"],
  ["another verifier", { code_verifier: `${verifier}x` }, 400, "invalid_grant"],
  ["the challenge as verifier", { code_verifier: challengeOf(verifier) }, 400, "invalid_grant"],
  ["a verifier of 42 characters", { code_verifier: "v".repeat(42) }, 400, "invalid_request"],
])("an exchange with %s is refused", async (_, changes, status, error) => {
  const reply = await exchange({ code, ...changes });
  expect({ status: reply.status, error: reply.json.error }).toEqual({ status, error });
});

test("a code is good once", async () => {
  expect((await exchange({ code })).status).toBe(200);
  expect((await exchange({ code })).json.error).toBe("invalid_grant");
});

test("a code is good for ten minutes", async () => {
  const own = await running();
  await register(own);
  const [early, late] = [await codeOf({}, own), await codeOf({}, own)];
  own.emulator.advance(599_999);
  expect((await exchange({ code: early }, own)).status).toBe(200);
  own.emulator.advance(1);
  expect((await exchange({ code: late }, own)).json.error).toBe("invalid_grant");
});

test("the token of a user is not good for the service's operations", async () => {
  const { json } = await exchange({ code });
  const token = String(json.access_token);
  const reply = await service.call("GET", "/channels", undefined, { token });
  expect(reply).toMatchObject({ status: 403, json: { code: "403-112" } });
});
