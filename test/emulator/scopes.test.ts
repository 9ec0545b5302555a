import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  runtimeOperations,
  type ScopeLabel,
  scopes,
  setUpOperations,
} from "../support/specification.js";
import { type Running, start } from "./running.js";

let service: Running;
const tokens = new Map<string, string>();

/** Every set of the four scopes but the empty one. */
const labels = Object.keys(scopes) as readonly ScopeLabel[];
const combinations: readonly (readonly ScopeLabel[])[] = Array.from({ length: 15 }, (_, place) =>
  labels.filter((_label, bit) => ((place + 1) >> bit) & 1),
);

beforeAll(async () => {
  service = await start();
  for (const combination of combinations) {
    const scope = combination.map((label) => scopes[label]).join(" ");
    tokens.set(combination.join(" "), await service.tokenFor(scope));
  }
});
afterAll(() => service[Symbol.asyncDispose]());

test("the specification has 35 operations", () => {
  expect([...setUpOperations, ...runtimeOperations]).toHaveLength(35);
});

test.each([...setUpOperations, ...runtimeOperations])(
  "$method $path needs one of $scopes",
  async (operation) => {
    const { method, path, scopes: enough } = operation;
    const where = path.replace("{id}", randomUUID());
    const body = method === "POST" || method === "PUT" ? {} : undefined;
    const replies = await Promise.all(
      [...tokens].map(async ([combination, token]) => {
        const { status, json } = await service.call(method, where, body, { token });
        return [combination, status === 403 ? json.code : "allowed"];
      }),
    );
    const expected = combinations.map((combination) => [
      combination.join(" "),
      combination.some((label) => enough.includes(label)) ? "allowed" : "403-197",
    ]);
    expect(replies).toEqual(expected);
  },
);

test("a missing scope is reported before a missing object and a wrong body", async () => {
  const token = tokens.get("R") ?? null;
  expect(
    (await service.call("DELETE", `/channels/${randomUUID()}`, undefined, { token })).status,
  ).toBe(403);
  expect((await service.call("PUT", `/channels/${randomUUID()}`, {}, { token })).status).toBe(403);
  expect((await service.call("POST", "/channels", { type: 5 }, { token })).status).toBe(403);
});

test.each(["PATCH", "OPTIONS", "HEAD", "POST"])(
  "%s on an object is no operation and says what is",
  async (method) => {
    const { status, headers } = await service.call(method, `/channels/${randomUUID()}`);
    expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: "GET, PUT, DELETE" });
  },
);

test.each(["PUT", "DELETE", "PATCH"])("%s on a collection is no operation", async (method) => {
  const { status, headers } = await service.call(method, "/channels");
  expect({ status, allow: headers.allow }).toEqual({ status: 405, allow: "POST, GET" });
});

test.each([
  "/",
  "/channel",
  "/Channels",
  "/channels/",
  "/channels//",
  "//channels",
  "/channels/{id}/more",
  "/../v3/channels",
  "/__proto__",
  "/constructor/x",
  "/channels%2F1",
])("the path %s is unknown", async (path) => {
  expect((await service.call("GET", path)).json.code).toBe("404-100");
});
