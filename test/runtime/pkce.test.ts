import { createHash } from "node:crypto";
import { afterEach, expect, test, vi } from "vitest";
import {
  type CodeExchange,
  codeFromRedirect,
  exchangeCode,
  startAuthorization,
} from "../../sdk/runtime/pkce.js";

afterEach(() => void vi.unstubAllGlobals());

const request = {
  authUrl: "https://login.example.com/users/authorize",
  clientId: "spa-1",
  redirectUri: "https://app.example.com/back?from=hub",
  scope: "a.read b.write",
};

test("the authorization address has every parameter of the specification's table", async () => {
  const { url: text, state, verifier } = await startAuthorization(request);
  const url = new URL(text);
  expect(verifier).toMatch(/^[A-Za-z0-9._~-]{43,128}$/);
  expect(url.origin + url.pathname).toBe("https://login.example.com/users/authorize");
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: "spa-1",
    response_type: "code",
    redirect_uri: "https://app.example.com/back?from=hub",
    scope: "a.read b.write",
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
});

test("every authorization has a state and a verifier of its own", async () => {
  const begun = await Promise.all(Array.from({ length: 50 }, () => startAuthorization(request)));
  expect(new Set(begun.flatMap(({ state, verifier }) => [state, verifier])).size).toBe(100);
});

test("the customers' variant is another address, whose own parameters stay", async () => {
  const authUrl = "https://login.example.com/customers/authorize?tenant=acme&state=old";
  const { url: text, state } = await startAuthorization({ ...request, authUrl });
  const url = new URL(text);
  expect(url.pathname).toBe("/customers/authorize");
  expect(url.searchParams.get("tenant")).toBe("acme");
  expect(url.searchParams.getAll("state")).toEqual([state]);
});

test.each<[string, object]>([
  ["clientId", { clientId: "" }],
  ["redirectUri", { redirectUri: "/back" }],
  ["redirectUri", { redirectUri: "https://app.example.com/#back" }],
  ["scope", { scope: undefined }],
  ["authUrl", { authUrl: "http://login.example.com/authorize" }],
])("no address is made with a wrong %s (%j)", async (name, change) => {
  await expect(startAuthorization({ ...request, ...change })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining(name),
  });
});

const back = (query: string): string => `https://app.example.com/back?from=hub&${query}`;

test("the code comes out of the redirect", () => {
  expect(codeFromRedirect(back("code=c%2F1&state=s-1"), "s-1")).toBe("c/1");
});

test.each([
  ["another state", "code=c&state=s-2", "s-1"],
  ["no state", "code=c", "s-1"],
  ["a second state", "code=c&state=s-1&state=s-2", "s-1"],
  ["no code", "state=s-1", "s-1"],
  ["two codes", "code=c&code=d&state=s-1", "s-1"],
  ["a refusal with another state", "error=access_denied&state=s-2", "s-1"],
])("a redirect with %s is not used", (_, query, state) => {
  expect(() => codeFromRedirect(back(query), state)).toThrow(
    expect.objectContaining({ code: "BAD_RESPONSE" }),
  );
});

test("an address without its origin is the caller's mistake", () => {
  expect(() => codeFromRedirect("/back?code=c&state=s-1", "s-1")).toThrow(
    expect.objectContaining({
      code: "INPUT_INVALID",
      message: expect.stringContaining("address must be the complete URL"),
    }),
  );
});

test("a refusal gives its error code, without what acts on a terminal", () => {
  const forged = back(`error=${encodeURIComponent("x\n::error::\u001b[2J")}&state=s-1`);
  expect(() => codeFromRedirect(forged, "s-1")).toThrow("access was not granted (x::error::[2J)");
  expect(() => codeFromRedirect(back("error=access_denied&state=s-1"), "s-1")).toThrow(
    expect.objectContaining({ code: "REJECTED", details: { serviceCode: "access_denied" } }),
  );
});

const exchange: CodeExchange = {
  tokenUrl: "https://login.example.com/users/token",
  clientId: "spa-1",
  redirectUri: request.redirectUri,
  code: "c/1",
  verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
};

/** A token address that answers, and what it was sent. */
const answering = (status: number, text: string) => {
  const sent: Request[] = [];
  vi.stubGlobal("fetch", async (url: URL, init: RequestInit) => {
    sent.push(new Request(url, init));
    return new Response(text, { status });
  });
  return sent;
};

test("the exchange sends every parameter of the specification's table, and no more", async () => {
  const sent = answering(200, '{"access_token":"t"}');
  const raw = { access_token: "t" };
  expect(await exchangeCode(exchange)).toEqual({ accessToken: "t", raw });
  const [{ url, method, headers, redirect } = new Request("x:"), ...others] = sent;
  expect([url, method, redirect, others]).toEqual([exchange.tokenUrl, "POST", "error", []]);
  expect(headers.get("content-type")).toMatch(/^application\/x-www-form-urlencoded/);
  expect(Object.fromEntries(new URLSearchParams(await sent[0]?.text()))).toEqual({
    grant_type: "authorization_code",
    code: "c/1",
    redirect_uri: "https://app.example.com/back?from=hub",
    client_id: "spa-1",
    code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  });
});

test("what else the token address gives is kept", async () => {
  const body = { token_type: "Bearer", expires_in: "60", refresh_token: "r", id_token: "i" };
  answering(200, JSON.stringify({ access_token: "t", scope: "a", ...body }));
  expect(await exchangeCode(exchange)).toMatchObject({
    tokenType: "Bearer",
    expiresIn: 60,
    refreshToken: "r",
    idToken: "i",
    scope: "a",
  });
});

test.each([
  [0, 0],
  ["0", 0],
  [-1, undefined],
  [null, undefined],
  ["soon", undefined],
])("a token whose expires_in is %j lives for %s seconds", async (given, expected) => {
  answering(200, JSON.stringify({ access_token: "t", expires_in: given }));
  expect((await exchangeCode(exchange)).expiresIn).toBe(expected);
});

test.each<[string, number, string, object]>([
  [
    "a refusal",
    400,
    '{"error":"invalid_grant"}',
    { code: "REJECTED", details: { status: 400, serviceCode: "invalid_grant" } },
  ],
  ["a refusal without a body", 401, "", { code: "REJECTED", details: { status: 401 } }],
  ["a failure", 502, "<html>", { code: "UNAVAILABLE" }],
  ["too many", 429, "", { code: "THROTTLED", details: { status: 429 } }],
  ["no JSON", 200, "<html>", { code: "BAD_RESPONSE" }],
  ["no token", 200, "{}", { code: "BAD_RESPONSE" }],
])(
  "%s (%i) of the token address is an error without secrets",
  async (_, status, text, expected) => {
    answering(status, text);
    await expect(exchangeCode(exchange)).rejects.toMatchObject({
      ...expected,
      effect: "unknown",
      message: expect.not.stringMatching(/dBjft|c\/1/),
    });
  },
);

test("no answer is an error", async () => {
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("failed")));
  await expect(exchangeCode(exchange)).rejects.toMatchObject({ code: "UNREACHABLE" });
});

test.each<[string, Partial<CodeExchange>]>([
  ["code", { code: "" }],
  ["verifier", { verifier: "" }],
  ["tokenUrl", { tokenUrl: "http://login.example.com/token" }],
])("nothing is sent without %s", async (name, change) => {
  const sent = answering(200, "{}");
  await expect(exchangeCode({ ...exchange, ...change })).rejects.toMatchObject({
    code: "INPUT_INVALID",
    message: expect.stringContaining(name),
  });
  expect(sent).toEqual([]);
});
