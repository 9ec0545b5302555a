import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import type { Field, Fields } from "../../provider/definition/define.js";
import { holdsSecret } from "../../provider/definition/fields.js";
import { isObject, type JsonObject } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { kindOf, type Running, running } from "../emulator/running.js";
import { messageTo, sampleSnapshot, sendAsset, smallAccount } from "./support/sample-account.js";

const first = "70000000-0000-4000-8000-000000000001";

const look = async (service: Running, cursor = "", conversation = "", object = "") => {
  const query = new URLSearchParams({ cursor, conversation, object });
  const reply = await service.control("GET", `/page/changes?${query}`);
  expect(reply.status, reply.text).toBe(200);
  return reply.json;
};

const memberOf = (json: JsonObject, name: string, member: string): unknown => {
  const { [name]: part } = json;
  return isObject(part) ? part[member] : undefined;
};

const objectsIn = (list: unknown): readonly JsonObject[] =>
  Array.isArray(list) ? list.filter(isObject) : [];

/** The entries of a log within a look. */
const entriesIn = (json: JsonObject, name: string): readonly JsonObject[] =>
  objectsIn(memberOf(json, name, "entries"));

const withSample = async (): Promise<Running> => {
  const service = await running();
  const reply = await service.control("PUT", "/snapshot", sampleSnapshot(smallAccount));
  expect(reply.text).toBe("");
  return service;
};

/** What is left out of a look if it did not change. */
const parts = ["tables", "account", "object", "conversations", "transcript", "calls", "deliveries"];

test("the first look gives everything, the next nothing that did not change", async () => {
  const service = await withSample();
  await service.call("GET", "/channels");
  const one = await look(service);
  expect(memberOf(one, "account", "total")).toBe(14);
  expect(entriesIn(one, "calls").map(({ path }) => path)).toEqual(["/channels"]);
  expect(objectsIn(one.conversations)).toHaveLength(3);
  expect(parts.filter((part) => part in one)).toEqual(parts);

  const two = await look(service, String(one.cursor));
  expect(parts.filter((part) => part in two)).toEqual([]);

  await service.make(kindOf("Channel"));
  const three = await look(service, String(two.cursor));
  expect(parts.filter((part) => part in three)).toEqual(parts);
  expect(memberOf(three, "account", "total")).toBe(15);
  expect(entriesIn(three, "calls").map(({ method }) => method)).toEqual(["GET", "POST"]);
});

test("a conversation that is shown grows, and says when it has completed", async () => {
  const service = await withSample();
  const one = await look(service, "", first);
  expect(one).toMatchObject({ transcript: { id: first }, isCompleted: false });
  expect(memberOf(one, "transcript", "messages")).toHaveLength(6);
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
  const two = await look(service, String(one.cursor), first);
  expect(two.isCompleted).toBe(true);
  expect(objectsIn(memberOf(two, "transcript", "messages")).at(-1)).toMatchObject({
    type: { value: "conversation.end" },
  });
  // The last changed one comes last.
  expect(objectsIn(two.conversations).at(-1)).toMatchObject({
    id: first,
    phase: "ended",
    messages: 7,
  });
  expect((await look(service, String(two.cursor), "no-such-conversation")).transcript).toBeNull();
});

test("no secret is shown, whatever the service itself would show", async () => {
  const service = await withSample();
  await service.control("PUT", "/switches", { secrets: "echo" });
  const key = "authentications/10000000-0000-4000-8000-000000000000";
  const shown = await look(service, "", "", key);
  expect(shown.object).toMatchObject({ basicAuth: { username: "hub", password: "********" } });
  expect(JSON.stringify(shown)).not.toContain("hunter2-hidden");
  expect(JSON.stringify(shown)).not.toContain(service.emulator.clientSecret);
});

test.each([
  ["harm.svg", "harm.svg"],
  ["a b'(1)*.html", "a%20b__1__.html"],
  ["\u202egnp.exe", "_gnp.exe"],
  ["../..\\x.png", ".._.._x.png"],
  ['a"\ud800;filename=x\u2069\u0000.js', "a___filename_x__.js"],
  ["Rechnung für \u{1f468}.pdf", "Rechnung%20f%C3%BCr%20_.pdf"],
])("the content of %j is saved as %s, and can never run", async (name, savedAs) => {
  const service = await withSample();
  const { reply } = await sendAsset(service, name, "<script>harm()</script>");
  expect(reply.status, reply.text).toBe(202);
  const downloads = memberOf(await look(service, "", first), "transcript", "downloads");
  const [path] = Object.values(isObject(downloads) ? downloads : {});
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
  }
});

test.each([
  ["a wrong secret", { client_secret: sentinel }, "invalid_client"],
  ["a secret as the id", { client_id: sentinel }, "invalid_client"],
  ["a secret as the type", { grant_type: sentinel }, "unsupported_"],
  ["a secret as a name, twice", { [sentinel]: sentinel }, "a parameter appears twice"],
])("the page lists a token call with %s, without what was sent", async (what, changes, reason) => {
  const service = await running();
  // What a client got is no refusal.
  expect((await service.form(service.emulator.tokenUrl, service.credentials())).status).toBe(200);
  const fields = new URLSearchParams(service.credentials(changes)).toString();
  const raw = what.endsWith("twice") ? `${fields}&${sentinel}=twice` : fields;
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const query = `?client_secret=${sentinel}`;
  await service.send("POST", service.emulator.tokenUrl + query, { raw, headers });
  const { calls, rates } = await look(service);
  expect(calls).toMatchObject({ first: 0, entries: [{ method: "POST", path: "/oauth/token" }] });
  expect(objectsIn(rates).filter(({ accepted, refused }) => accepted || refused)).toEqual([]);
  expect(JSON.stringify(calls)).toContain(reason);
  const { text } = await inspected(service, 0);
  for (const shown of [text, JSON.stringify(calls)])
    for (const secret of [sentinel, service.emulator.clientSecret])
      expect(shown).not.toContain(secret);
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
    failure: { rule: "A fault was requested.", fault: "hang", isRetried: false },
  });
  expect(attempt?.conversationId).toBe(id);
  const [tried = {}] = await control.deliveries();
  expect(Object.keys(tried).sort()).toEqual([
    "at",
    "attempt",
    "error",
    "messageId",
    "recipient",
    "type",
    "url",
  ]);
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

test("what the page reads is for this machine and this page alone", async () => {
  const service = await running();
  for (const headers of [{ host: "evil.example" }, { origin: "https://evil.example" }]) {
    const changes = await service.send("GET", "/control/page/changes", { headers });
    const token = await service.send("POST", "/control/page/token", { headers });
    expect([changes.status, token.status]).toEqual([403, 403]);
  }
});
