import { describe, expect, test } from "vitest";
import { account } from "../../provider/resources/account.js";
import { channel } from "../../provider/resources/channel.js";
import type { Collections } from "../../provider/service/collections.js";
import type { Service } from "../../provider/service/connect.js";
import { runtimeOperations } from "../../provider/service/operations.js";
import { connected, failureOf } from "./support/connected.js";
import { type Handler, json, raw } from "./support/fake-hub.js";

type Answers = Readonly<Record<string, Handler>>;

/** An answer for each method on objects, and one for the list; 404 for what is not given. */
const answering =
  (answers: Answers): Handler =>
  (seen, ...rest) => {
    const isList = seen.method === "GET" && !/^\/\w+\/[^?]/.test(seen.path);
    (answers[isList ? "LIST" : seen.method] ?? json(404, own404))(seen, ...rest);
  };

const own404 = { code: "404-101", developerMessage: "There is no such object." };
const own403 = { code: "403-197", developerMessage: "The token lacks the scope." };
const page = "<html><body>404 Not Found</body></html>";
const emptyList = json(200, { channel: [] });

/** The calls that take a 404 for absence, and how they tell it. */
const verbs: Readonly<Record<string, (service: Collections, id?: string) => Promise<unknown>>> = {
  read: (service, id = "c1") => service.read(channel, id),
  remove: (service, id = "c1") => service.remove(channel, id),
  replace: (service, id = "c1") =>
    service.replace(channel, id, {}).catch((error) => {
      if (error.code === "NOT_FOUND") return undefined;
      throw error;
    }),
};

/** What the object's call and the list are answered with where nobody else than the service would. */
const proofs: Readonly<Record<string, readonly [object: Handler, list: Handler]>> = {
  "the list answers": [raw(404, page), emptyList],
  "the list is refused in the service's own form": [json(404, own404), json(403, own403)],
};

/** The same where the address may be anybody's, and the code that the call fails with. */
const doubts: Readonly<Record<string, readonly [Handler, Handler, code: string]>> = {
  "the list is not there": [json(404, own404), json(404, own404), "BAD_RESPONSE"],
  "the list leads elsewhere": [json(404, own404), raw(302, "", { location: "/x" }), "BAD_RESPONSE"],
  "the list is a page": [json(404, own404), raw(200, page), "BAD_RESPONSE"],
  "the list is refused by a stranger": [json(404, own404), raw(403, page), "FORBIDDEN"],
  "the object is refused by a stranger": [raw(404, page), json(403, own403), "FORBIDDEN"],
  "the service is out of order": [
    json(404, own404),
    json(503, { code: "503-100", developerMessage: "Later." }),
    "UNAVAILABLE",
  ],
};

describe.each(Object.entries(verbs))("%s", (_, call) => {
  const either = (object: Handler, list: Handler) =>
    answering({ GET: object, PUT: object, DELETE: object, LIST: list });

  test.each(Object.entries(proofs))(
    "believes a 404 where %s, at one call more",
    async (_, pair) => {
      await using live = await connected(either(...pair));
      expect(await call(live.service)).toBeUndefined();
      expect(live.hub.log.slice(1)).toEqual(["GET /channels"]);
    },
  );

  test.each(Object.entries(doubts))("believes no 404 where %s", async (_, [object, list, code]) => {
    await using live = await connected(either(object, list));
    const failure = await failureOf(call(live.service));
    expect(failure).toMatchObject({ code, effect: "none" });
    expect(String(failure)).not.toContain("pulumi refresh");
    if (code !== "BAD_RESPONSE") return;
    expect(String(failure)).toMatch(
      /found nothing \(404.*GET \/channels .* does not seem to belong to the service\. The object stays in the state\. Check conversation:baseUrl \(CONVERSATION_BASE_URL\), whose path is "\/conversation\/v3", and run: npx pulumi-conversation doctor$/,
    );
  });

  test("believes no page where only another kind's path is known to be the service's", async () => {
    const known = json(200, { id: "a1" });
    const handler: Handler = (seen, ...rest) =>
      (seen.path.startsWith("/accounts") ? known : raw(404, page))(seen, ...rest);
    await using live = await connected(handler);
    await live.service.read(account, "a1");
    expect(await failureOf(call(live.service))).toMatchObject({ code: "BAD_RESPONSE" });
  });

  test("believes a 404 after a doubt, once the list answers", async () => {
    let list = json(404, own404);
    const later: Handler = (...seen) => list(...seen);
    await using live = await connected(answering({ LIST: later }));
    await failureOf(call(live.service));
    list = emptyList;
    expect(await call(live.service)).toBeUndefined();
  });

  test("asks for one list where many ask at once, and for none later", async () => {
    await using live = await connected(answering({ LIST: emptyList }));
    const ids = Array.from({ length: 20 }, (_, place) => `c${place}`);
    await Promise.all(ids.map((id) => call(live.service, id)));
    expect(live.hub.log.filter((each) => each === "GET /channels")).toHaveLength(1);
    await call(live.service);
    await live.service.read(account, "a1");
    expect(live.hub.log.slice(21)).toHaveLength(2);
  });
});

const { getAsset } = runtimeOperations;

/** Calls that are answered as only the service does. */
const sightings: Readonly<
  Record<string, readonly [Answers, (service: Service) => Promise<unknown>]>
> = {
  "a list": [{ LIST: emptyList }, (service) => service.list(channel)],
  "an object": [{ GET: json(200, { id: "c1" }) }, (service) => service.read(account, "c1")],
  "a creation": [{ POST: json(201, { id: "c1" }) }, (service) => service.create(channel, {})],
  "a change": [{ PUT: raw(204, "") }, (service) => service.replace(channel, "c1", {})],
  "a deletion": [{ DELETE: raw(204, "") }, (service) => service.remove(channel, "c1")],
  "any other operation": [
    { GET: json(200, { id: "a1" }) },
    (service) => service.request(getAsset, { id: "a1" }),
  ],
};

test.each(Object.entries(sightings))(
  "after %s a 404 needs no proof",
  async (_, [answers, call]) => {
    await using live = await connected(answering(answers));
    await call(live.service);
    live.hub.handle = json(404, own404);
    live.hub.calls.length = 0;
    for (const verb of Object.values(verbs)) expect(await verb(live.service)).toBeUndefined();
    expect(live.hub.log).toEqual(["GET /channels/c1", "DELETE /channels/c1", "PUT /channels/c1"]);
  },
);

test.each([
  ["a token", {}, (service: Service) => service.token()],
  ["a page for a deletion", { DELETE: raw(200, page) }, (s: Service) => s.remove(channel, "c1")],
  ["a page for a change", { PUT: raw(200, page) }, (s: Service) => s.replace(channel, "c1", {})],
  ["a list that is none", { LIST: json(200, { hello: 1 }) }, (s: Service) => s.list(channel)],
  ["an object that is none", { GET: json(200, ["x"]) }, (s: Service) => s.read(channel, "c1")],
  ["a refusal", { POST: json(400, own404) }, (s: Service) => s.create(channel, {})],
] as const)("after %s a 404 still does", async (_, answers, call) => {
  await using live = await connected(answering(answers));
  await call(live.service).catch(() => undefined);
  live.hub.handle = json(404, own404);
  for (const verb of Object.values(verbs))
    await expect(verb(live.service)).rejects.toMatchObject({ code: "BAD_RESPONSE" });
});

test.each(["list", "create"] as const)(
  "a %s at a wrong address says so, and nothing of a refresh",
  async (method) => {
    await using live = await connected(json(404, own404));
    const failure = await failureOf(live.service[method](channel, {}));
    expect(failure).toMatchObject({ code: "NOT_FOUND", effect: "none" });
    expect(String(failure)).toMatch(
      /found nothing \(404, .*whose path is "\/conversation\/v3", and run: npx pulumi-conversation doctor$/,
    );
    expect(String(failure)).not.toContain("refresh");
  },
);

test("a profile's own setting is named", async () => {
  await using live = await connected(json(404, {}), {}, { profile: "eu" });
  await expect(live.service.remove(channel, "c1")).rejects.toThrow(
    "conversation:eu.baseUrl (CONVERSATION_EU_BASE_URL)",
  );
});
