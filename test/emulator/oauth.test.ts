import { afterAll, beforeAll, expect, test } from "vitest";
import { scopes } from "../support/specification.js";
import { type Running, running, start } from "./running.js";

let service: Running;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service[Symbol.asyncDispose]());

const ask = (changes: Readonly<Record<string, string | undefined>>, at = service) =>
  at.form(at.emulator.tokenUrl, at.credentials(changes));

test("client credentials give a bearer token for an hour, never to be cached", async () => {
  const { status, json, headers } = await ask({});
  expect(status).toBe(200);
  expect(json).toEqual({
    access_token: expect.stringMatching(/^[\w-]{20,}$/),
    token_type: "Bearer",
    expires_in: 3600,
    scope: Object.values(scopes).join(" "),
  });
  expect(headers["content-type"]).toBe("application/json");
  expect(headers["cache-control"]).toBe("no-store");
});

test.each([
  ["one scope", scopes.R, scopes.R],
  ["an unknown scope beside a known one", `nothing ${scopes.R}`, scopes.R],
  ["scopes with many spaces between", `  ${scopes.IR}   ${scopes.M} `, `${scopes.M} ${scopes.IR}`],
  ["a scope that ends in .default: all of them", "hub/.default", Object.values(scopes).join(" ")],
])("a token carries the scopes asked for and granted: %s", async (_, asked, given) => {
  expect((await ask({ scope: asked })).json.scope).toBe(given);
});

test.each([
  ["no grant_type", { grant_type: undefined }, 400, "invalid_request"],
  ["another grant type", { grant_type: "password" }, 400, "unsupported_grant_type"],
  ["grant_type in capitals", { grant_type: "CLIENT_CREDENTIALS" }, 400, "unsupported_grant_type"],
  ["no client_id", { client_id: undefined }, 400, "invalid_request"],
  ["no scope", { scope: undefined }, 400, "invalid_request"],
  ["only unknown scopes", { scope: "nothing at all" }, 400, "invalid_scope"],
  ["an unknown client", { client_id: "nobody" }, 401, "invalid_client"],
  ["a client named like a member of objects", { client_id: "__proto__" }, 401, "invalid_client"],
  ["a wrong secret", { client_secret: "wrong" }, 401, "invalid_client"],
])("%s is refused", async (_, changes, status, error) => {
  const reply = await ask(changes);
  expect({ status: reply.status, error: reply.json.error }).toEqual({ status, error });
  expect(Object.keys(reply.json)).toEqual(["error", "error_description"]);
  expect(reply.headers["cache-control"]).toBe("no-store");
});

interface Changes {
  readonly type?: string;
  readonly more?: string;
  readonly method?: string;
}

/** A request of the token address that is right but for what a test changes. */
const posted = (changes: Changes) => {
  const { type = "application/x-www-form-urlencoded", more = "", method = "POST" } = changes;
  const raw = new URLSearchParams(service.credentials()).toString() + more;
  const body = method === "POST" ? { raw, headers: { "content-type": type } } : {};
  return service.send(method, service.emulator.tokenUrl, body);
};

test.each<[string, Changes]>([
  ["a parameter given twice", { more: `&scope=${scopes.R}` }],
  ["a body of more than 2 MiB", { more: `&padding=${"x".repeat(5 * 1024 * 1024)}` }],
  ...["application/json", "text/plain", "application/x-www-form-urlencodedly"].map(
    (type): [string, Changes] => [`the content type ${type}`, { type }],
  ),
  ["the method GET", { method: "GET" }],
  ["the method PUT", { method: "PUT" }],
  ["the method DELETE", { method: "DELETE" }],
])("%s is refused at the token address, and the refusal can be read", async (_, changes) => {
  const { status, json } = await posted(changes);
  expect([status, json.error]).toEqual([400, "invalid_request"]);
  expect(json.error_description).toMatch(/./);
});

const unauthorised = {
  code: "401-104",
  developerMessage: "The token in the Authorization header is missing, invalid, or expired.",
};

test.each([
  ["no header", undefined],
  ["an empty header", ""],
  ["Basic", "Basic ZW11bGF0b3I6c2VjcmV0"],
  ["an unknown token", "Bearer unknown"],
])("a call with %s is answered with 401", async (_, authorization) => {
  const headers = authorization === undefined ? {} : { authorization };
  const reply = await service.call("GET", "/channels", undefined, { token: null, headers });
  expect({ status: reply.status, json: reply.json }).toEqual({ status: 401, json: unauthorised });
  expect(reply.headers["content-type"]).toBe("application/json");
  expect(reply.headers["www-authenticate"]).toBe("Bearer");
});

test("a token is good for an hour", async () => {
  const own = await running();
  expect((await ask({}, own)).json.expires_in).toBe(3600);
  await own.token();
  own.emulator.advance(3_599_999);
  expect((await own.call("GET", "/channels")).status).toBe(200);
  own.emulator.advance(1);
  expect((await own.call("GET", "/channels")).status).toBe(401);
  own.forgetToken();
  expect((await own.call("GET", "/channels")).status).toBe(200);
});
