import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { expect, test } from "vitest";
import { ConversationStore, isWithin } from "../../emulator/runtime/conversation-store.js";
import { noJournal } from "../../emulator/service/journal.js";
import type { Field, Fields } from "../../provider/definition/define.js";
import { holdsSecret } from "../../provider/definition/fields.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { kindOf, type Running, running } from "../emulator/running.js";
import { messageTo, sampleSnapshot, sendAsset, smallAccount } from "./support/sample-account.js";

const first = "70000000-0000-4000-8000-000000000001";

/** One look of the page. */
const look = async (
  service: Running,
  cursor = "",
  conversation = "",
  messages = 0,
  object = "",
  search = "",
) => {
  const shown = { conversation, messages: String(messages), object, search };
  const query = new URLSearchParams({ cursor, ...shown });
  const reply = await service.control("GET", `/page/changes?${query}`);
  expect(reply.status, reply.text).toBe(200);
  return reply.json;
};

/** The entries of a list within a look. */
const entriesIn = (json: JsonObject, name: string): readonly JsonObject[] => {
  const { [name]: list } = json;
  const entries: unknown = isObject(list) ? list.entries : undefined;
  return Array.isArray(entries) ? entries.filter(isObject) : [];
};

const withSample = async (): Promise<Running> => {
  const service = await running();
  const reply = await service.control("PUT", "/snapshot", sampleSnapshot(smallAccount));
  expect(reply.text).toBe("");
  return service;
};

test("the first look gives everything, the next only what changed", async () => {
  const service = await withSample();
  await service.call("GET", "/channels");
  const one = await look(service);
  expect(isObject(one.graph) && one.graph.total).toBe(14);
  expect(entriesIn(one, "calls").map(({ path }) => path)).toEqual(["/channels"]);
  expect(entriesIn(one, "conversations")).toHaveLength(3);

  const two = await look(service, String(one.cursor));
  expect(two.graph).toBeUndefined();
  expect(two.addresses).toBeUndefined();
  for (const name of ["calls", "deliveries", "conversations"])
    expect(entriesIn(two, name)).toEqual([]);
  expect(JSON.stringify(two).length).toBeLessThan(3_000);

  await service.make(kindOf("Channel"));
  await service.call("GET", "/channels/x");
  const three = await look(service, String(two.cursor));
  expect(isObject(three.graph) && three.graph.total).toBe(15);
  expect(entriesIn(three, "calls").map(({ template }) => template)).toEqual([
    "/channels",
    "/channels/{id}",
  ]);
});

test("a conversation that is shown grows by what is new in it", async () => {
  const service = await withSample();
  const one = await look(service, "", first, 0);
  expect(one.conversation).toMatchObject({ id: first, from: 0, isCompleted: false });
  expect(isObject(one.conversation) && one.conversation.messages).toHaveLength(6);
  await service.call("POST", "/conversations/messages", {
    messages: {
      message: [
        {
          type: { value: "conversation.end" },
          conversation: { id: first },
          sender: { type: "customer" },
        },
      ],
    },
  });
  const two = await look(service, String(one.cursor), first, 6);
  expect(two.conversation).toMatchObject({
    from: 6,
    isCompleted: true,
    messages: [{ type: { value: "conversation.end" } }],
  });
  expect(entriesIn(two, "conversations")).toMatchObject([
    { id: first, phase: "ended", messages: 7 },
  ]);
  expect((await look(service, "", "no-such-conversation")).conversation).toBeUndefined();
});

/** What a search finds since a cursor: the id of each conversation, and the excerpt. */
const found = async (service: Running, search: string, cursor = "") => {
  const json = await look(service, cursor, "", 0, "", search);
  const hits = entriesIn(json, "found").map(({ id, excerpt }) => [String(id), excerpt]);
  return { cursor: String(json.cursor), hits, isWhole: isObject(json.found) && json.found.isWhole };
};

test("a search finds conversations by their messages and details, then only what changed", async () => {
  const service = await withSample();
  const one = await found(service, "TUESDAY. the");
  const excerpt = "…shoes, ordered last Tuesday. The tracking page says nothing since then.";
  expect(one.hits.map(([, text]) => text)).toEqual(Array(3).fill(excerpt));
  expect(await found(service, "TUESDAY. the", one.cursor)).toMatchObject({ hits: [] });
  await service.call("POST", "/conversations/messages", messageTo(first));
  const two = await found(service, "TUESDAY. the", one.cursor);
  expect(two).toMatchObject({ isWhole: false, hits: [[first, excerpt]] });
  // Another text starts over; without one nothing is searched.
  expect(await found(service, "Example 1", two.cursor)).toMatchObject({
    isWhole: true,
    hits: [[first, undefined]],
  });
  expect((await found(service, first)).hits).toEqual([[first, undefined]]);
  expect((await found(service, "hI", two.cursor)).hits).toContainEqual([first, "Hi"]);
  expect((await look(service)).found).toBeUndefined();
  await service.control("POST", "/reset");
  expect(await found(service, "Example 1", two.cursor)).toMatchObject({ isWhole: true, hits: [] });
});

test.each([
  ["ΚΩΔΙΚΟΣ", "ο κωδικοσ μου"],
  ["κωδικος", "Ο ΚΩΔΙΚΟΣΑ"],
  ["κωδικοσ", "ο κωδικος μου"],
  ["istanbul", "aus İSTANBUL"],
  ["İSTANBUL", "aus istanbul"],
  ["needle", `${"İ".repeat(300)} needle`],
])("whatever the case of %s, it is found, and the excerpt shows it: %s", async (sought, text) => {
  const service = await withSample();
  const message = messageTo(first).messages.message.map((each) => ({ ...each, content: { text } }));
  await service.call("POST", "/conversations/messages", { messages: { message } });
  const { hits } = await found(service, sought);
  expect(hits).toHaveLength(1);
  expect(String(hits[0]?.[1])).toContain(text.slice(-6));
});

test("a search also finds conversations that the page never got", async () => {
  const service = await running();
  const size = { ...smallAccount, conversations: 2_001, messages: 1 };
  await service.control("PUT", "/snapshot", sampleSnapshot(size));
  const oldest = "70000000-0000-4000-8000-000000000000";
  const { conversations, found: hits } = await look(service, "", "", 0, "", "order");
  expect(entriesIn({ conversations }, "conversations").map(({ id }) => id)).not.toContain(oldest);
  expect(entriesIn({ hits }, "hits")).toHaveLength(2_000);
  expect((await found(service, "Ada Example 0")).hits).toEqual([[oldest, undefined]]);
});

/** A store with one conversation, whose messages have these contents. */
const storeWith = (contents: readonly JsonObject[]): ConversationStore => {
  const store = new ConversationStore(noJournal);
  const created = "2026-11-22T09:00:00.000Z";
  const conversation = { id: "c", phase: "bot", accountId: "a", about: {} } as const;
  const common = { conversationId: "c", type: "text", recipients: [], created };
  store.add(
    [{ ...conversation, created, modified: created }],
    contents.map((body, place) => ({ ...common, id: `${place}`, messageId: `${place}`, body })),
  );
  return store;
};

test("whatever a message holds, and wherever: what is sought is found there, and nowhere else", () => {
  const signs = fc.constantFrom(...'aBc\\"\n\t\u0000/{}\u202e\u{1f468}éßİ');
  const text = fc.array(signs, { maxLength: 12 }).map((each) => each.join(""));
  const sought = fc.array(signs, { minLength: 1, maxLength: 2 }).map((each) => each.join(""));
  const places: readonly ((said: string) => JsonObject)[] = [
    (content) => ({ content }),
    (said) => ({ content: { text: said } }),
    (said) => ({ content: { options: [{ title: said, count: 1 }] } }),
    (name) => ({ attachments: { attachment: [{ id: "abc", name }] } }),
    (url) => ({ attachments: { attachment: [{ url }] } }),
  ];
  fc.assert(
    fc.property(fc.array(text), sought, fc.nat(4), (texts, wanted, place) => {
      const store = storeWith(texts.map((each) => places[place]?.(each) ?? {}));
      const { entries } = store.find(wanted, -1, 10, () => false);
      const expected = texts.findLast((each) => isWithin(each, wanted));
      expect(entries.map((each) => each.text)).toEqual(expected === undefined ? [] : [expected]);
    }),
    { numRuns: 500, seed: 11 },
  );
  const hidden = storeWith([{ content: { text: "b" }, sender: { id: "abc" }, attributes: "abc" }]);
  expect(hidden.find("abc", -1, 10, () => false).entries).toEqual([]);
});

test("after a reset, and with another emulator, everything is sent anew", async () => {
  const service = await withSample();
  await service.call("GET", "/channels");
  const one = await look(service);
  await service.control("POST", "/reset");
  const two = await look(service, String(one.cursor));
  expect(two.conversations).toEqual({ isWhole: true, total: 0, entries: [] });
  expect(isObject(two.graph) && two.graph.total).toBe(0);
  expect(two.calls).toMatchObject({ entries: [] });
  expect(isObject(two.calls) && two.calls.first).toBe(isObject(two.calls) && two.calls.next);

  const other = await withSample();
  await other.call("GET", "/accounts");
  const three = await look(other, String(two.cursor));
  expect(isObject(three.graph) && three.graph.total).toBe(14);
  expect(entriesIn(three, "calls")).toHaveLength(1);
  for (const odd of ["x", "-1-1-1-1-1", `${two.cursor}-9`, "a-b-c-d-e", "%00", "__proto__-0-0-0-0"])
    expect(entriesIn(await look(other, odd), "conversations")).toHaveLength(3);
});

test("no secret is shown, whatever the service itself would show", async () => {
  const service = await withSample();
  await service.control("PUT", "/switches", { secrets: "echo" });
  const key = "authentications/10000000-0000-4000-8000-000000000000";
  const shown = await look(service, "", "", 0, key);
  expect(shown.object).toMatchObject({ basicAuth: { username: "hub", password: "********" } });
  expect(JSON.stringify(shown)).not.toContain("hunter2-hidden");
  expect(JSON.stringify(shown)).not.toContain(service.emulator.clientSecret);
});

test("each asset of a message has a link that needs no secret and never expires", async () => {
  const service = await withSample();
  const { id, reply } = await sendAsset(service, "harm.svg", "<svg/>", [
    { id: "__proto__" },
    { id: "accounts" },
  ]);
  expect(reply.status, reply.text).toBe(202);
  const { conversation } = await look(service, "", first);
  const { downloads } = isObject(conversation) ? conversation : {};
  expect(Object.keys(isObject(downloads) ? downloads : {})).toEqual([id]);
  await service.emulator.control.advance(1e11);
  const path = String(isObject(downloads) && downloads[id]);
  expect(await service.send("GET", path)).toMatchObject({ status: 200, text: "<svg/>" });
  expect((await service.send("GET", path.replace(id, "x"))).status).toBe(403);
  expect((await service.send("POST", path)).status).toBe(403);
});

test.each([
  ["harm.svg", "harm.svg"],
  ["a b'(1)*.html", "a%20b%27%281%29%2a.html"],
  ["\u202egnp.exe", "_gnp.exe"],
  ["../..\\x.png", ".._.._x.png"],
  ['a"\ud800;filename=x\u2069\u0000.js', "a%22_%3Bfilename%3Dx__.js"],
  ["Rechnung für \u{1f468}.pdf", "Rechnung%20f%C3%BCr%20%F0%9F%91%A8.pdf"],
])("the content of %j is saved as %s, and can never run", async (name, savedAs) => {
  const service = await withSample();
  const { reply } = await sendAsset(service, name, "<script>harm()</script>");
  expect(reply.status, reply.text).toBe(202);
  const { conversation } = await look(service, "", first);
  const [path] = Object.values(
    isObject(conversation) && isObject(conversation.downloads) ? conversation.downloads : {},
  );
  const { headers, text } = await service.send("GET", String(path));
  expect(text).toBe("<script>harm()</script>");
  expect(headers).toMatchObject({
    "content-disposition": `attachment; filename*=UTF-8''${savedAs}`,
    "content-security-policy": "sandbox; default-src 'none'",
    "x-content-type-options": "nosniff",
  });
});

/** The look at one call, by its place in the log. */
const inspected = async (service: Running, place: number) => {
  const reply = await service.control("GET", `/page/changes?call=${place}`);
  expect(reply.status, reply.text).toBe(200);
  return { text: reply.text, call: isObject(reply.json.call) ? reply.json.call : {} };
};

const sentinel = "hunter2-anywhere";
/** What stands for a value that the emulator does not know. */
const unknown = "******** (unknown)";

/** Values of a field with the sentinel in each of its secrets, in the right shape and in wrong ones. */
const withSentinel = (field: Field): readonly unknown[] => {
  if (field.secret) return [sentinel, { deeper: sentinel }, [sentinel]];
  switch (field.type) {
    case "object":
      return [...membersWith(field.fields), { misspelled: sentinel }, sentinel, [sentinel]];
    case "list":
      return [...withSentinel(field.of).map((item) => [item]), sentinel, { item: sentinel }];
    case "map":
      return [
        [{ name: "n", value: sentinel }],
        [{ name: "n", val: sentinel }],
        [sentinel],
        sentinel,
      ];
    default:
      return [];
  }
};

const membersWith = (fields: Fields): readonly JsonObject[] =>
  Object.entries(fields).flatMap(([name, field]) =>
    holdsSecret(field) ? withSentinel(field).map((value) => ({ [field.wire ?? name]: value })) : [],
  );

test("no secret of a call is shown, in whatever shape or place it was sent", async () => {
  const service = await running();
  await service.control("PUT", "/switches", { secrets: "echo" });
  let place = 0;
  for (const { fields, collection } of resources) {
    for (const body of membersWith(fields)) {
      await service.call("POST", `/${collection}`, body);
      const { text, call } = await inspected(service, place);
      place += 1;
      expect(call.sent, text).toMatchObject({ json: {} });
      expect(text).not.toContain(sentinel);
    }
  }
  expect(place).toBeGreaterThan(20);
});

test("lists and objects are answered with secrets, and shown without", async () => {
  const service = await withSample();
  await service.control("PUT", "/switches", { secrets: "echo" });
  const path = "/authentications/10000000-0000-4000-8000-000000000000";
  const list = await service.call("GET", "/authentications");
  expect(list.text).toContain("hunter2-hidden");
  await service.call("GET", path);
  await service.call("POST", "/assets", {
    name: "a.txt",
    size: 1,
    channel: { type: "custom.orders" },
    sender: { type: "customer" },
  });
  for (const place of [0, 1, 2]) {
    const { call, text } = await inspected(service, place);
    expect(call.answer, text).toMatchObject({ json: {} });
    expect(text).not.toMatch(/hunter2-hidden|signature=/);
    expect(call.explanation).toBeUndefined();
  }
});

test.each([
  ["GET", "/nowhere", undefined, {}, "NOT_FOUND"],
  ["PATCH", "/channels", undefined, {}, "NOT_FOUND"],
  ["GET", "/channels", undefined, { token: "wrong" }, "UNAUTHORIZED"],
  ["GET", "/channels/none", undefined, {}, "NOT_FOUND"],
  ["GET", "/channels?$filter=x", undefined, {}, "REJECTED"],
  ["POST", "/channels", {}, {}, "REJECTED"],
  ["DELETE", "/channels/40000000-0000-4000-8000-000000000000", undefined, {}, "IN_USE"],
] as const)("%s %s %o %o is explained by %s", async (method, path, body, options, section) => {
  const service = await withSample();
  await service.call(method, path, body, options);
  const page = "troubleshooting.md";
  expect((await inspected(service, 0)).call.explanation).toMatchObject({ page, section });
  expect(readFileSync(join(__dirname, "../../docs", page), "utf8")).toContain(`## ${section}\n`);
});

test("a conversation that has not completed is explained by its status", async () => {
  const service = await withSample();
  const explained: unknown[] = [];
  for (const runningConversationStatus of [404, 400] as const) {
    await service.control("PUT", "/switches", { runningConversationStatus });
    const { status } = await service.call("GET", `/conversations/${first}`);
    expect(status).toBe(runningConversationStatus);
    explained.push((await inspected(service, explained.length)).call.explanation);
  }
  expect(explained).toMatchObject([{ section: "NOT_FOUND" }, { section: "REJECTED" }]);
});

test("a forbidden list is explained by FORBIDDEN", async () => {
  const service = await running();
  await service.emulator.control.faults({ on: "GET /channels", kind: "forbidden-list" });
  await service.call("GET", "/channels");
  const explanation = { section: "FORBIDDEN" };
  expect((await inspected(service, 0)).call).toMatchObject({
    explanation,
    fault: "forbidden-list",
  });
});

test.each([
  ["a wrong secret", { client_secret: sentinel }, "invalid_client", { client_id: "emulator" }],
  ["an unknown client", { client_id: "nobody" }, "invalid_client", { client_id: unknown }],
  ["a secret as the id", { client_id: sentinel }, "invalid_client", { client_id: unknown }],
  ["a secret as the scope", { scope: sentinel }, "invalid_scope", { scope: unknown }],
  ["a secret as the type", { grant_type: sentinel }, "unsupported_", { grant_type: unknown }],
  ["no secret", { client_secret: "" }, "invalid_request", { client_secret: "" }],
  ["a secret as a name", { [sentinel]: sentinel }, "", { client_secret: "********" }],
])(
  "the page lists a token call with %s, without what may be a secret",
  async (_, changes, reason, sent) => {
    const service = await running();
    // What a client got is no refusal.
    expect((await service.form(service.emulator.tokenUrl, service.credentials())).status).toBe(200);
    const fields = new URLSearchParams(service.credentials(changes)).toString();
    const raw = reason === "" ? `${fields}&${sentinel}=twice` : fields;
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    const query = `?client_secret=${sentinel}`;
    await service.send("POST", service.emulator.tokenUrl + query, { raw, headers });
    const { calls, counts } = await look(service);
    expect(calls).toMatchObject({ next: 1, entries: [{ method: "POST", path: "/oauth/token" }] });
    expect(counts).toEqual({});
    expect(JSON.stringify(calls)).toContain(reason || "a parameter appears twice");
    const { call, text } = await inspected(service, 0);
    expect(call.sent).toMatchObject({ size: raw.length, json: sent });
    expect(call.answer).toMatchObject({ json: { error: expect.stringContaining(reason) } });
    expect(call.explanation).toMatchObject({ section: "CREDENTIALS_REFUSED" });
    expect(await service.emulator.control.log()).toEqual([]);
    for (const shown of [text, JSON.stringify(calls)])
      for (const secret of [sentinel, service.emulator.clientSecret])
        expect(shown).not.toContain(secret);
  },
);

test("a token call that a fault refuses says so", async () => {
  const service = await running();
  await service.emulator.control.faults({ on: "TOKEN", kind: "status", status: 503 });
  await service.form(service.emulator.tokenUrl, service.credentials());
  const { call, text } = await inspected(service, 0);
  expect(call).toMatchObject({ fault: "status", explanation: { section: "Faults" } });
  expect(call.sent).toMatchObject({ json: { client_id: "emulator", client_secret: "********" } });
  expect(text).not.toContain(service.emulator.clientSecret);
});

test("a call that is not there, or no longer kept, is none", async () => {
  const service = await running();
  await service.call("GET", "/channels");
  for (const place of [1, 999_999]) expect((await inspected(service, place)).call).toEqual({});
  expect((await service.control("GET", "/page/changes?call=x")).status).toBe(400);
  await service.control("POST", "/reset");
  expect((await inspected(service, 0)).call).toEqual({});
});

test("a failed delivery is listed with its fault and its client application", async () => {
  const service = await withSample();
  const { control } = service.emulator;
  await control.switches({ deliveryRetries: 0 });
  await control.faults({ on: "CALLBACK", kind: "hang" });
  const id = "70000000-0000-4000-8000-000000000000";
  await service.call("POST", "/conversations/messages", messageTo(id));
  await expect.poll(control.deliveries).toHaveLength(1);
  const one = await look(service);
  const [attempt] = entriesIn(one, "deliveries");
  expect(attempt).toMatchObject({
    error: expect.stringContaining("no response"),
    failure: { cause: "fault", fault: "hang", isRetried: false },
  });
  const application = "clientapplications/20000000-0000-4000-8000-000000000001";
  expect(attempt?.subjects).toContain(application);
  const { json } = await service.control("GET", "/deliveries?since=0");
  const tried = ["at", "attempt", "error", "messageId", "type", "url"];
  expect(Object.keys(entriesIn({ json }, "json")[0] ?? {}).sort()).toEqual(tried);
});

test("the log and the deliveries of control are as they were", async () => {
  const service = await withSample();
  await service.call("GET", "/channels");
  const [entry] = await service.emulator.control.log();
  const members = ["at", "clientId", "method", "ms", "path", "status", "template"];
  expect(Object.keys(entry ?? {}).sort()).toEqual(members);
});

test.each(["nothing/x", "authentications/x", "authentications", "__proto__/x", "/", "../snapshot"])(
  "there is no object %s",
  async (key) => {
    expect((await look(await withSample(), "", "", 0, key)).object).toBeUndefined();
  },
);

test("references are those of the definitions, each to its kind", async () => {
  const service = await running();
  for (const definition of resources) await service.make(definition);
  const { graph } = await look(service);
  const text = JSON.stringify(graph);
  for (const { collection } of resources) expect(text).toContain(`"collection":"${collection}"`);
  expect(text).toContain('"path":"roles[0].authentication.id"');
  expect(text).toContain('"path":"applications.botConfiguration.bots[0].participant.id"');
  expect(text).toContain('"path":"chatConfigurations.orchestration.id"');
});

test("forms offer what the emulator obeys, in its own words", async () => {
  const service = await running();
  const { json: tables } = await service.control("GET", "/page/tables");
  const names = (list: unknown, member: string): unknown[] =>
    Array.isArray(list) ? list.filter(isObject).map(({ [member]: value }) => value) : [];
  expect(names(tables.kinds, "noun")).toEqual(resources.map(({ noun }) => noun));
  expect(names(tables.senders, "type")).toContain("platform_agent");
  await service.control("PUT", "/switches", { platformName: "acme" });
  const { json: renamed } = await service.control("GET", "/page/tables");
  expect(names(renamed.senders, "type")).toContain("acme_agent");
});

test("the page's token sends messages, and does nothing else", async () => {
  const service = await withSample();
  const { json } = await service.control("POST", "/page/token");
  const token = String(json.token);
  const body = messageTo(first, "customer");
  const sent = await service.call("POST", "/conversations/messages", body, { token });
  expect(sent.status).toBe(202);
  expect((await service.call("GET", "/channels", undefined, { token })).status).toBe(403);
  expect((await service.call("POST", "/channels", {}, { token })).status).toBe(403);
  await sleep(0);
  const [call] = entriesIn(await look(service), "calls");
  expect(call).toMatchObject({ clientId: "page", status: 202 });
});

test.each(["/page/tables", "/page/changes", "/page/client"])(
  "%s is for this machine and this page alone",
  async (path) => {
    const service = await running();
    const url = `/control${path}`;
    for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }])
      expect((await service.send("GET", url, { headers })).status).toBe(403);
    const token = await service.send("POST", "/control/page/token", {
      headers: { origin: "https://evil.example" },
    });
    expect(token.status).toBe(403);
  },
);
