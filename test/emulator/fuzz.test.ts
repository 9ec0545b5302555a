import fc from "fast-check";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { resources } from "../../provider/resources/index.js";
import { order } from "../emulator-runtime/asset-calls.js";
import { firstMessage } from "../emulator-runtime/hub.js";
import { changedAt, placesIn } from "../support/json-places.js";
import { type Running, start } from "./running.js";

/** `npm run test:long` sends 60 times as many requests. */
const scale = Number(process.env.FUZZ_SCALE ?? 1);
vi.setConfig({ testTimeout: 180_000 * scale });

let service: Running;
const bodies = new Map<string, object>();
beforeAll(async () => {
  service = await start();
  for (const definition of resources)
    bodies.set(definition.collection, await service.body(definition));
});
afterAll(() => service[Symbol.asyncDispose]());

/** What looks like an object of its own kind, and fails where it is made text or a number. */
const notConvertible: readonly object[] = [
  { toString: 1, valueOf: 1 },
  { toString: null },
  [{ toString: 1, valueOf: 1 }],
  { toJSON: 1, length: -1 },
  { constructor: 1, hasOwnProperty: 1 },
];

const collections = resources.map(({ collection }) => collection);

const sane = (status: number): boolean => status >= 200 && status < 500;

/** An answer of the service: a refusal has the error body of the specification's §2 reference. */
const expectAnswer = ({ status, text, json }: { status: number; text: string; json: object }) => {
  expect(status, text).toSatisfy(sane);
  if (status < 400) return;
  expect(json).toMatchObject({
    code: expect.stringMatching(new RegExp(`^${status}-\\d+$`)),
    developerMessage: expect.stringMatching(/^.{1,255}$/s),
  });
};

test("any value at any place of a good body is taken or refused, and what is taken can be read", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...collections),
      fc.nat(),
      fc.oneof(
        fc.jsonValue({ maxDepth: 2 }),
        fc.string({ unit: "binary", maxLength: 300 }),
        fc.constantFrom(...notConvertible),
      ),
      async (collection, at, value) => {
        const body = bodies.get(collection) ?? {};
        const all = placesIn(body);
        const place = all[at % all.length] ?? [];
        const reply = await service.call("POST", `/${collection}`, changedAt(body, place, value));
        expectAnswer(reply);
        if (reply.status !== 201) return;
        const path = `/${collection}/${reply.json.id}`;
        expect((await service.call("GET", path)).json.id).toBe(reply.json.id);
        await service.call("DELETE", path);
      },
    ),
    { numRuns: 200 * scale },
  );
});

const greeting = firstMessage({
  attachments: { attachment: [{ name: "a.png", url: "https://files.example.com/a.png", size: 1 }] },
  parent: { id: "21822806-0000-4000-8000-097b4f0d68a7" },
});

const runtimeBodies: readonly (readonly [path: string, body: object])[] = [
  [
    "/conversations/messages",
    { metadata: { attributes: [{ name: "a", value: "b" }] }, messages: { message: [greeting] } },
  ],
  ["/assets", order()],
];

test("any value at any place of a message or an asset is taken or refused", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom(...runtimeBodies),
      fc.nat(),
      fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.constantFrom(...notConvertible)),
      async ([path, body], at, value) => {
        const all = placesIn(body);
        const place = all[at % all.length] ?? [];
        expectAnswer(await service.call("POST", path, changedAt(body, place, value)));
      },
    ),
    { numRuns: 150 * scale },
  );
});

const segment = fc.oneof(
  fc.constantFrom(
    ...collections,
    "conversations",
    "assets",
    "messages",
    "..",
    "{id}",
    "%00",
    "",
    "__proto__",
  ),
  fc.stringMatching(/^[!-~]{0,20}$/).filter((text) => !text.includes("#")),
);

test("any method on any path and query is answered", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("GET", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "HEAD"),
      fc.array(segment, { maxLength: 4 }),
      fc.webQueryParameters(),
      async (method, segments, query) => {
        const path = `/${segments.join("/")}${query ? `?${query}` : ""}`;
        const reply = await service.call(method, path);
        if (method === "HEAD") expect(reply.status).toSatisfy(sane);
        else expectAnswer(reply);
      },
    ),
    { numRuns: 200 * scale },
  );
});

test("any form at the token address is answered with an OAuth error", async () => {
  const names = [
    "grant_type",
    "client_id",
    "client_secret",
    "scope",
    "code",
    "code_verifier",
    "redirect_uri",
  ];
  const word = fc.oneof(
    fc.string(),
    fc.constantFrom("authorization_code", "client_credentials", "emulator"),
  );
  await fc.assert(
    fc.asyncProperty(fc.dictionary(fc.constantFrom(...names), word), async (form) => {
      const { status, json } = await service.form(service.emulator.tokenUrl, form);
      expect([400, 401]).toContain(status);
      expect(json).toHaveProperty("error");
    }),
    { numRuns: 200 * scale },
  );
});

test("any JSON at the control calls is taken or refused", async () => {
  const calls = ["POST /faults", "POST /clients", "PUT /switches", "PUT /snapshot"];
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...calls), fc.jsonValue(), async (call, body) => {
      const [method = "", path = ""] = call.split(" ");
      expect((await service.control(method, path, body)).status).toSatisfy(sane);
    }),
    { numRuns: 200 * scale },
  );
  expect((await service.call("GET", "/channels")).status).toBe(200);
});
