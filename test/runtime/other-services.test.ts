import { expect, test } from "vitest";
import type { ServiceCall } from "../../sdk/runtime/index.js";
import { inTurn, json, raw } from "../service/support/fake-hub.js";
import { type ConnectedClient, connectedClient } from "./support/connected-client.js";

const ok = json(200, { answer: 42 });

/** Another service on the same server: below `/portal/v4`. */
const portal = (live: ConnectedClient): ServiceCall => ({
  service: "Portal Manager",
  version: "v4",
  baseUrl: `http://127.0.0.1:${live.hub.port}/portal/v4`,
  method: "GET",
  path: "/portals/{portalID}/search/typeahead",
  params: { portalID: "p/1 é" },
});

test("another service is called with the same token", async () => {
  await using live = await connectedClient(ok);
  await live.client.messages.end("c-1", "customer");
  const answer = await live.client.request({ ...portal(live), query: { q: "shoes" } });
  expect(answer).toEqual({ status: 200, body: { answer: 42 } });
  expect(live.hub.log.at(-1)).toBe(
    "GET /portal/v4/portals/p%2F1%20%C3%A9/search/typeahead?q=shoes",
  );
  expect(live.hub.calls.at(-1)?.headers.authorization).toBe("Bearer token-1");
  expect(live.hub.tokenCalls).toHaveLength(1);
});

test("a body travels as JSON", async () => {
  await using live = await connectedClient(ok);
  const { params: _, ...call } = portal(live);
  await live.client.request({ ...call, method: "POST", path: "/portals", body: { name: "x" } });
  expect(live.lastBody).toEqual({ name: "x" });
});

test("objects of one template share a bucket, and other templates have their own", async () => {
  await using live = await connectedClient(inTurn(json(429, { code: "429-001" }), ok));
  const call = portal(live);
  const waits: number[] = [];
  await Promise.all([
    live.client.request(call).then(() => waits.push(live.clock.time)),
    live.client.request({ ...call, params: { portalID: "2" } }),
  ]);
  expect(waits).toEqual([1_000]);
});

/** User Manager, the one service whose rates name a PATCH (specification §8.3). */
const user = (live: ConnectedClient, method: ServiceCall["method"]): ServiceCall => ({
  service: "User Manager",
  version: "v3",
  baseUrl: `http://127.0.0.1:${live.hub.port}/users/v3`,
  method,
  path: "/user",
  body: { name: "Ada" },
});

test("a PATCH travels with its body, and an answer without one is fine", async () => {
  await using live = await connectedClient(raw(204, ""));
  const answer = await live.client.request(user(live, "PATCH"));
  expect(answer).toEqual({ status: 204, body: undefined });
  expect(live.hub.log).toEqual(["PATCH /users/v3/user"]);
  expect(live.lastBody).toEqual({ name: "Ada" });
});

test.each<[string, Partial<ServiceCall>, string]>([
  ["an unknown service", { service: "Weather" }, "Weather"],
  ["an unknown version", { version: "v9" }, "v9"],
  ["a base address of another version", { version: "v3" }, "must end with the version segment /v3"],
  ["a base address without TLS", { baseUrl: "http://hub.example.com/portal/v4" }, "https://"],
  ["a base address with a query", { baseUrl: "https://hub.example.com/portal?x=/v4" }, '"?"'],
  ["a path with a query", { path: "/portals?x=1" }, "path must look like"],
  ["a path that climbs", { path: "/portals/../x", params: {} }, "path must look like"],
  ["a missing placeholder", { params: {} }, "params.portalID"],
  ["a placeholder that climbs", { params: { portalID: ".." } }, "params.portalID"],
])("%s is refused before anything is sent", async (_, change, rule) => {
  await using live = await connectedClient(ok);
  await expect(live.client.request({ ...portal(live), ...change })).rejects.toMatchObject({
    message: expect.stringContaining(rule),
    effect: "none",
  });
  expect([live.hub.calls, live.hub.tokenCalls]).toEqual([[], []]);
});
