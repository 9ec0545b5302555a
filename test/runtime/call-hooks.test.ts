import { expect, test } from "vitest";
import { connect, type RequestEvent, type ResponseEvent } from "../../sdk/runtime/index.js";
import { JumpingClock } from "../service/support/clocks.js";
import { inTurn, json, raw } from "../service/support/fake-hub.js";
import { AssetHub, status } from "./support/asset-hub.js";
import { connectedClient } from "./support/connected-client.js";

/** Hooks that write down what they are told. */
const recorder = () => {
  const requests: RequestEvent[] = [];
  const responses: ResponseEvent[] = [];
  const hooks = {
    onRequest: (event: RequestEvent) => void requests.push(event),
    onResponse: (event: ResponseEvent) => void responses.push(event),
  };
  return { requests, responses, hooks };
};

const lineOf = ({ method, template, attempt }: RequestEvent, rest: unknown): string =>
  `${method} ${template} ${attempt}: ${rest}`;

test("hooks see every attempt, and of the token, by templates", async () => {
  const { requests, responses, hooks } = recorder();
  const handle = inTurn(json(429, {}), raw(503, ""), json(200, { id: "c-1" }));
  await using live = await connectedClient(handle, {}, hooks);
  await live.client.conversations.get("c-1");
  expect(responses.map((event) => lineOf(event, event.status))).toEqual([
    "POST TOKEN 1: 200",
    "GET /conversations/{id} 1: 429",
    "GET /conversations/{id} 2: 503",
    "GET /conversations/{id} 3: 200",
  ]);
  expect(requests).toEqual(responses.map(({ status: _, ms: _ms, ...request }) => request));
  for (const { ms } of responses) expect(ms).toBeGreaterThanOrEqual(0);
  const known = /^(method|template|attempt|status|ms)$/;
  for (const name of responses.flatMap(Object.keys)) expect(name).toMatch(known);
});

test("an attempt without an answer has no status", async () => {
  const { responses, hooks } = recorder();
  await using live = await connectedClient(
    (_seen, _response, socket) => void socket.destroy(),
    {},
    hooks,
  );
  await expect(live.client.messages.end("c-1", "customer")).rejects.toMatchObject({
    code: "UNREACHABLE",
  });
  expect(responses.at(-1)).toEqual({
    method: "POST",
    template: "/conversations/messages",
    attempt: 1,
    ms: 0,
  });
});

test("calls of other services are reported by their own templates, without what is filled in", async () => {
  const { responses, hooks } = recorder();
  await using live = await connectedClient(json(200, {}), {}, hooks);
  await live.client.request({
    service: "Portal Manager",
    version: "v4",
    baseUrl: `http://127.0.0.1:${live.hub.port}/portal/v4`,
    method: "GET",
    path: "/portals/{portalID}/search/typeahead",
    params: { portalID: "secret" },
  });
  expect(responses.at(-1)?.template).toBe("/portals/{portalID}/search/typeahead");
});

test("transfers are reported without their address", async () => {
  const { responses, hooks } = recorder();
  await using hub = await AssetHub.start();
  hub.content = [status(503), status(200)];
  const { origin } = hub;
  const settings = { clientId: "c", clientSecret: "s", tokenUrl: `${origin}/token` };
  await using client = connect(
    { ...settings, baseUrl: `${origin}/conversation/v3` },
    { ...hooks, environment: {}, clock: new JumpingClock(), pacing: "after-refusal" },
  );
  const options = { channel: "custom.kiosk", sender: "customer", name: "a.png" } as const;
  await client.assets.upload(new Uint8Array([1]), options);
  expect(responses.map((event) => lineOf(event, event.status))).toEqual([
    "POST TOKEN 1: 200",
    "POST /assets 1: 200",
    "POST {contentUrl} 1: 503",
    "DELETE /assets/{id} 1: 204",
    "POST /assets 1: 200",
    "POST {contentUrl} 1: 200",
  ]);
});

test("hooks that fail become warnings, and change no call", async () => {
  const warnings: string[] = [];
  const listen = (warning: Error) => void warnings.push(warning.message);
  process.on("warning", listen);
  const failing = () => {
    throw new Error("broken hook");
  };
  const clock = new JumpingClock();
  let calls = 0;
  await using other = await connectedClient(
    (...call) => {
      calls += 1;
      json(calls <= 3 ? 429 : 202, {})(...call);
    },
    {},
    {
      clock,
      onWait: failing,
      onRequest: failing,
      onResponse: () => Promise.reject(new Error("x")),
    },
  );
  expect(await other.client.messages.end("c-1", "customer")).toMatchObject({
    conversationId: "c-1",
  });
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", listen);
  expect(new Set(warnings)).toEqual(
    new Set([
      "onWait failed: broken hook",
      "onRequest failed: broken hook",
      "onResponse failed: x",
    ]),
  );
});
