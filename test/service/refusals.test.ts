import { expect, test } from "vitest";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import {
  type Operation,
  runtimeOperations,
  scopes,
  setUpOperation,
} from "../../provider/service/operations.js";
import { type Connected, connected, failureOf } from "./support/connected.js";
import { type Handler, json } from "./support/fake-hub.js";

const { getAsset, createAsset } = runtimeOperations;
const body429 = { code: "429-001", developerMessage: "Too many requests." };

test("a refusal names the call, what the service said, and what to do", async () => {
  await using live = await connected(
    json(400, {
      code: "400-143",
      developerMessage: "A required attribute is missing.",
      details: [{ key: "name", value: "missing" }],
    }),
  );
  const failure = await failureOf(
    live.service.request(setUpOperation(channel, "update"), { id: "c1", body: {} }),
  );
  expect(failure).toMatchObject({
    message:
      "Could not update channel: PUT /channels/c1 was refused (400, 400-143: A required attribute is missing; name: missing). Fix the problem that the service reports, and try again.",
    details: { serviceNotes: [{ key: "name", value: "missing" }] },
  });
});

const withScopes =
  (scope: string): Handler =>
  (...call) =>
    json(200, { access_token: "t", expires_in: 3600, scope })(...call);

test("a note that only repeats the message is reported once", async () => {
  const details = [{ key: "name", value: "must be unique; another object has the same value" }];
  const body = {
    code: "400-196",
    developerMessage: "name must be unique; another object has the same value.",
    details,
  };
  await using live = await connected(json(400, body));
  await expect(live.service.list(channel)).rejects.toThrow(
    "was refused (400, 400-196: name must be unique; another object has the same value).",
  );
});

test.each([
  ["unknown", "https://id.example.com/.default", /needs the scope \S+\.manage\. Check/],
  [
    "too few",
    scopes.interactionRead,
    /needs the scope \S+\.manage; the token has only \S+interaction\.read/,
  ],
  ["enough", `${scopes.manage} ${scopes.read}`, /has the scope that the operation needs/],
])("403 names the scope that is needed; granted: %s", async (_, scope, advice) => {
  await using live = await connected(json(403, { code: "403-197" }));
  live.hub.handleToken = withScopes(scope);
  await expect(live.service.list(authentication)).rejects.toMatchObject({
    code: "FORBIDDEN",
    message: expect.stringMatching(advice),
  });
});

test("text of the service is cut and stripped of control characters", async () => {
  const developerMessage = `one\r\ntwo\u001b[31m${"x".repeat(1000)}`;
  await using live = await connected(json(400, { code: "400-1", developerMessage }));
  const failure = await failureOf(live.service.request(createAsset, { body: {} }));
  const message = failure instanceof Error ? failure.message : "";
  expect(message).toContain("one two [31mxxx");
  expect(message.length).toBeLessThan(500);
});

/** What a call that is given up at some moment ends with, and how often it was sent. */
const givenUp: readonly (readonly [
  when: string,
  operation: Operation,
  giveUpWhen: (live: Connected, giveUp: () => void) => void,
  outcome: object,
  sent: number,
])[] = [
  [
    "before it is sent",
    createAsset,
    (_live, giveUp) => giveUp(),
    { code: "CANCELLED", effect: "none" },
    0,
  ],
  [
    "while it waits for the token",
    createAsset,
    (live, giveUp) => {
      live.hub.handleToken = giveUp;
    },
    { code: "CANCELLED", effect: "none" },
    0,
  ],
  [
    "under way, a read: it ends at once",
    getAsset,
    (live, giveUp) => {
      live.hub.handle = giveUp;
    },
    { code: "CANCELLED" },
    1,
  ],
  [
    "under way, a write: its answer is not lost",
    createAsset,
    (live, giveUp) => {
      live.hub.handle = (...call) => {
        giveUp();
        setImmediate(() => json(201, { id: "a1" })(...call));
      };
    },
    { body: { id: "a1" } },
    1,
  ],
  [
    "under way, a write whose answer is lost: its effect is unknown",
    createAsset,
    (live, giveUp) => {
      live.hub.handle = (_seen, _response, socket) => {
        giveUp();
        setImmediate(() => socket.resetAndDestroy());
      };
    },
    { code: "UNREACHABLE", effect: "unknown" },
    1,
  ],
];

test.each(givenUp)("a call is given up %s", async (_, operation, giveUpWhen, outcome, sent) => {
  await using live = await connected(json(200, { id: "a1" }));
  const controller = new AbortController();
  giveUpWhen(live, () => controller.abort());
  const given = operation === getAsset ? { id: "a1" } : { body: {} };
  const call = live.service.request(operation, { ...given, signal: controller.signal });
  expect(await call.catch((error: unknown) => error)).toMatchObject(outcome);
  expect(live.hub.calls).toHaveLength(sent);
});

test("closing ends waiting calls", async () => {
  await using live = await connected(json(429, body429), {
    pace: (_endpoint, _attempt, signal) =>
      new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason)),
      ),
  });
  const call = failureOf(live.service.request(getAsset, { id: "a1" }));
  await new Promise((resolve) => setImmediate(resolve));
  await live.service.close();
  expect(await call).toMatchObject({ code: "CANCELLED" });
});
