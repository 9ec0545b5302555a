import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import {
  authorizationUrl,
  type CodeExchange,
  challengeOf,
  codeFromRedirect,
  createProofKey,
  createState,
  createVerifier,
  exchangeCode,
  startAuthorization,
} from "../../sdk/runtime/pkce.js";

/** The example of RFC 7636, appendix B. */
const verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";
const challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM";

const request = {
  authUrl: "https://login.example.com/users/authorize",
  clientId: "spa-1",
  redirectUri: "https://app.example.com/back?from=hub",
  scope: ["a.read", "b.write"],
};

test("the challenge of the RFC's example", async () => {
  expect(await challengeOf(verifier)).toBe(challenge);
});

test("a new verifier has 43 to 128 unreserved characters and is never the same", () => {
  const made = Array.from({ length: 100 }, createVerifier);
  for (const each of made) expect(each).toMatch(/^[A-Za-z0-9._~-]{43,128}$/);
  expect(new Set(made).size).toBe(100);
});

test("a new key fits together", async () => {
  const key = await createProofKey();
  const expected = createHash("sha256").update(key.verifier).digest("base64url");
  expect(key.challenge).toBe(expected);
});

test.each([
  [42, false],
  [43, true],
  [128, true],
  [129, false],
])("a verifier of %i characters: allowed is %s", async (length, allowed) => {
  const made = challengeOf("a".repeat(length));
  if (allowed) expect(await made).toHaveLength(43);
  else await expect(made).rejects.toMatchObject({ code: "INPUT_INVALID" });
});

test.each(["+", "/", "=", " ", "é"])(
  "a verifier with %j is refused, and not shown",
  async (bad) => {
    await expect(challengeOf(`${"canary".repeat(8)}${bad}`)).rejects.toMatchObject({
      code: "INPUT_INVALID",
      message: expect.not.stringContaining("canary"),
    });
  },
);

test("the authorization address has every parameter of the specification's table", () => {
  const url = new URL(authorizationUrl({ ...request, state: "s-1", challenge }));
  expect(url.origin + url.pathname).toBe("https://login.example.com/users/authorize");
  expect(Object.fromEntries(url.searchParams)).toEqual({
    client_id: "spa-1",
    response_type: "code",
    redirect_uri: "https://app.example.com/back?from=hub",
    scope: "a.read b.write",
    state: "s-1",
    code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
    code_challenge_method: "S256",
  });
});

test("the customers' variant is another address, whose own parameters stay", () => {
  const authUrl = "https://login.example.com/customers/authorize?tenant=acme&state=old";
  const url = new URL(authorizationUrl({ ...request, authUrl, state: "s-1", challenge }));
  expect(url.pathname).toBe("/customers/authorize");
  expect(url.searchParams.get("tenant")).toBe("acme");
  expect(url.searchParams.getAll("state")).toEqual(["s-1"]);
});

test.each<[string, object]>([
  ["no client", { clientId: "" }],
  ["no redirect address", { redirectUri: "" }],
  ["a redirect address that is not absolute", { redirectUri: "/back" }],
  ["a redirect address with a fragment", { redirectUri: "https://app.example.com/#back" }],
  ["no scope", { scope: [] }],
  ["no state", { state: "" }],
  ["a challenge that is no S256", { challenge: "short" }],
  ["an address without TLS", { authUrl: "http://login.example.com/authorize" }],
])("no address is made with %s", (_, change) => {
  expect(() => authorizationUrl({ ...request, state: "s-1", challenge, ...change })).toThrow(
    expect.objectContaining({ code: "INPUT_INVALID" }),
  );
});

test("an authorization that begins holds what its end needs", async () => {
  const begun = await startAuthorization(request);
  const { searchParams } = new URL(begun.url);
  expect(searchParams.get("state")).toBe(begun.state);
  expect(searchParams.get("code_challenge")).toBe(await challengeOf(begun.verifier));
  expect(begun.redirectUri).toBe(request.redirectUri);
  expect(begun.state).not.toBe(createState());
});

const back = (query: string): string => `https://app.example.com/back?from=hub&${query}`;

test("the code comes out of the redirect", () => {
  expect(codeFromRedirect(back("code=c%2F1&state=s-1"), "s-1")).toBe("c/1");
});

test.each([
  ["another state", "code=c&state=s-2", "s-1"],
  ["no state", "code=c", "s-1"],
  ["an empty state on both sides", "code=c&state=", ""],
  ["no code", "state=s-1", "s-1"],
  ["two codes", "code=c&code=d&state=s-1", "s-1"],
  ["a refusal with another state", "error=access_denied&state=s-2", "s-1"],
])("a redirect with %s is not used", (_, query, state) => {
  expect(() => codeFromRedirect(back(query), state)).toThrow(
    expect.objectContaining({ code: "BAD_RESPONSE" }),
  );
});

test("a refusal gives its error code", () => {
  expect(() => codeFromRedirect(back("error=access_denied&state=s-1"), "s-1")).toThrow(
    expect.objectContaining({ code: "REJECTED", details: { serviceCode: "access_denied" } }),
  );
});

test.each([
  ["access_denied", "(access_denied). Start the authorization again."],
  ["invalid_scope", "Check clientId, redirectUri and scope. Then start the authorization again."],
])("after %s, the advice is what helps", (error, advice) => {
  expect(() => codeFromRedirect(back(`error=${error}&state=s-1`), "s-1")).toThrow(advice);
});

const exchange: CodeExchange = {
  tokenUrl: "https://login.example.com/users/token",
  clientId: "spa-1",
  redirectUri: request.redirectUri,
  code: "c/1",
  verifier,
};

/** A token address that answers once, and what it was sent. */
const answering = (status: number, text: string) => {
  const sent: { url: string; method: string; type: string | undefined; form: object }[] = [];
  const fetch: CodeExchange["fetch"] = async (url, { method, headers, body }) => {
    const form = Object.fromEntries(new URLSearchParams(body));
    sent.push({ url, method, type: headers["content-type"], form });
    return { status, text: async () => text };
  };
  return { sent, fetch };
};

test("the exchange sends every parameter of the specification's table, and no more", async () => {
  const { sent, fetch } = answering(200, '{"access_token":"t"}');
  expect(await exchangeCode({ ...exchange, fetch })).toEqual({
    accessToken: "t",
    raw: { access_token: "t" },
  });
  expect(sent).toEqual([
    {
      url: "https://login.example.com/users/token",
      method: "POST",
      type: "application/x-www-form-urlencoded",
      form: {
        grant_type: "authorization_code",
        code: "c/1",
        redirect_uri: "https://app.example.com/back?from=hub",
        client_id: "spa-1",
        code_verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
      },
    },
  ]);
});

test("what else the token address gives is kept", async () => {
  const body = {
    access_token: "t",
    token_type: "Bearer",
    expires_in: "60",
    refresh_token: "r",
    id_token: "i",
    scope: "a",
  };
  const { fetch } = answering(200, JSON.stringify(body));
  expect(await exchangeCode({ ...exchange, fetch })).toMatchObject({
    tokenType: "Bearer",
    expiresIn: 60,
    refreshToken: "r",
    idToken: "i",
    scope: "a",
  });
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
  ["no JSON", 200, "<html>", { code: "BAD_RESPONSE" }],
  ["no token", 200, "{}", { code: "BAD_RESPONSE" }],
])(
  "%s (%i) of the token address is an error without secrets",
  async (_, status, text, expected) => {
    const { fetch } = answering(status, text);
    await expect(exchangeCode({ ...exchange, fetch })).rejects.toMatchObject({
      ...expected,
      message: expect.not.stringMatching(/dBjft|c\/1/),
    });
  },
);

test("no answer is an error", async () => {
  const fetch = () => Promise.reject(new TypeError("failed"));
  await expect(exchangeCode({ ...exchange, fetch })).rejects.toMatchObject({ code: "UNREACHABLE" });
});

test.each<[string, Partial<CodeExchange>]>([
  ["a code", { code: "" }],
  ["a redirect address", { redirectUri: "" }],
  ["a client", { clientId: "" }],
  ["a verifier that is one", { verifier: "short" }],
  ["a safe address", { tokenUrl: "http://login.example.com/token" }],
])("nothing is sent without %s", async (_, change) => {
  const { sent, fetch } = answering(200, "{}");
  await expect(exchangeCode({ ...exchange, ...change, fetch })).rejects.toMatchObject({
    code: "INPUT_INVALID",
  });
  expect(sent).toEqual([]);
});
