import fc from "fast-check";
import { expect, test } from "vitest";
import { readMessage, writeMessage } from "../../emulator/page/browser/conversations.mjs";
import { takeChanges } from "../../emulator/page/browser/emulator.mjs";
import { describeRest, findUndelivered } from "../../emulator/page/browser/logs.mjs";
import { drawGraph } from "../../emulator/page/browser/objects.mjs";
import { clockTime, isFound, refusalText, shortText } from "../../emulator/page/browser/texts.mjs";
import type { GraphObject, PageChanges } from "../../emulator/page/page-routes.js";

test("a time that is none, or beyond all calendars, is shown as it came", () => {
  for (const time of ["yesterday", 8.7e15]) expect(clockTime(time)).toBe(String(time));
  expect(clockTime("2026-01-01T12:30:05.000Z")).toMatch(/^\d\d:\d\d:05$/);
});

test("a long name is cut between characters, and turns nothing round", () => {
  expect(shortText("a".repeat(200))).toBe("a".repeat(200));
  expect(shortText(`${"a".repeat(199)}\u{1f468}b`)).toBe(`${"a".repeat(199)}…`);
  expect(shortText("\u202egnp.exe\u2069")).toBe("\\u202egnp.exe\\u2069");
});

test("what is sought is found whatever its case", () => {
  for (const [sought, text] of [
    ["", "anything"],
    [" get /ch ", "GET /channels"],
    ["ΚΩΔΙΚΟΣ", "ο κωδικος μου"],
    ["istanbul", "aus İSTANBUL"],
  ] as const)
    expect(isFound(sought, "first", text), sought).toBe(true);
  expect(isFound("channel", "GET", "/accounts")).toBe(false);
});

test("whatever a message holds, it is shown", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (body, content) => {
      const { text, json, name, type, sender } = readMessage({ ...body, content });
      for (const each of [text, json, name, type, sender]) expect(typeof each).toBe("string");
    }),
    { numRuns: 500, seed: 5 },
  );
});

test("a message is shown with its sender, text, JSON and attachments", () => {
  const message = readMessage({
    id: "1",
    messageId: "m",
    type: { value: "richMessage.listpicker" },
    sender: { type: "custom_bot", participant: { name: "orders-bot" } },
    content: { json: '{"options":["a"]}' },
    attachments: {
      attachment: [
        { id: "i", name: "a.csv", size: 78, url: "javascript:harm()" },
        { name: "b", url: "https://" },
        { name: "c", url: "https://y.example@x.example/z" },
      ],
    },
    created: "2026-01-01T00:00:00.000Z",
  });
  expect(message).toMatchObject({
    messageId: "m",
    type: "richMessage.listpicker",
    sender: "custom_bot",
    name: "orders-bot",
    text: "",
    json: '{\n  "options": [\n    "a"\n  ]\n}',
    isEvent: false,
    time: "2026-01-01T00:00:00.000Z",
  });
  expect(message.files.map(({ text }) => text)).toEqual([
    "a.csv (78 bytes)",
    "b",
    // The name of a user in front of the host deceives nobody.
    "c on x.example",
  ]);
  expect(readMessage({ type: { value: "agent.join" } }).isEvent).toBe(true);
});

test("a message to be sent holds what was typed, and nothing empty", () => {
  const draft = {
    account: "",
    customer: "",
    sender: "customer",
    type: "text",
    text: "Hi",
    said: "",
  };
  expect(writeMessage(draft, { id: "c" }, "")).toEqual({
    type: { value: "text" },
    conversation: { id: "c" },
    sender: { type: "customer" },
    content: { text: "Hi" },
  });
  const picker = { ...draft, type: "richMessage.listpicker", text: '{"a": 1}' };
  expect(writeMessage(picker, { id: "c" }, "Ada")).toMatchObject({
    sender: { type: "customer", participant: { name: "Ada" } },
    content: { json: '{"a": 1}' },
  });
  expect(writeMessage({ ...picker, type: "text" }, {}, "").content).toEqual({ text: '{"a": 1}' });
  expect(writeMessage({ ...picker, text: "[1]" }, {}, "").content).toEqual({ text: "[1]" });
  expect(() => writeMessage({ ...draft, text: "" }, {}, "")).toThrow("Enter some text.");
  expect(writeMessage({ ...draft, type: "typing.start", text: "" }, {}, "")).not.toHaveProperty(
    "content",
  );
});

test("a refusal is shown in the words of control or of the service", () => {
  expect(refusalText({ error: "There is no switch x." }, 400)).toBe("There is no switch x.");
  const details = [
    { key: "a", value: "is missing" },
    { key: "b", value: "is odd" },
  ];
  expect(refusalText({ code: "400-143", developerMessage: "a: is missing.", details }, 400)).toBe(
    "400 (400-143): a: is missing.\nb: is odd",
  );
  expect(refusalText(undefined, 502)).toBe("The emulator returned status 502.");
});

const attemptOf = (delivery: number, attempt: number, cause?: "askedToWait", isRetried = true) => ({
  delivery,
  attempt,
  ...(cause === undefined ? {} : { failure: { cause, isRetried } }),
});

const entryOf = <T>({ entry }: { readonly entry: T }): T => entry;

test("a delivery that failed counts once, until an attempt makes up for it", () => {
  const failed = attemptOf(1, 1, "askedToWait");
  const again = attemptOf(1, 2, "askedToWait");
  const other = attemptOf(3, 1, "askedToWait");
  const find = (...entries: (typeof failed)[]) =>
    findUndelivered(entries.map((entry, place) => ({ entry, place })).reverse()).map(entryOf);
  expect(find()).toEqual([]);
  expect(find(failed, other, again, attemptOf(2, 1))).toEqual([again, other]);
  expect(find(failed, attemptOf(2, 1), attemptOf(1, 2))).toEqual([]);
});

test("a failed attempt says what became of the message, and what to do", () => {
  const first = attemptOf(1, 1, "askedToWait");
  const last = attemptOf(1, 2, "askedToWait", false);
  const after = (...entries: (typeof first)[]) =>
    entries.map((entry) => describeRest([...entries, attemptOf(2, 1)], entry, "Wait."));
  expect(after(first)).toEqual(["The service will try again. Wait."]);
  const [one, two] = after(first, last);
  expect([one, two]).toEqual(["Attempt 2 failed, too. Wait.", "This was the last attempt. Wait."]);
  expect(after(first, attemptOf(1, 2))[0]).toBe("Attempt 2 delivered the message.");
  const [none] = after(attemptOf(1, 0, "askedToWait", false));
  expect(none).toBe("The service does not attempt delivery. Wait.");
});

const object = (collection: string, id: string, ...references: readonly string[]): GraphObject => ({
  collection,
  id,
  name: id,
  isActive: true,
  references: references.map((key) => {
    const [to = "", target = ""] = key.split("/");
    return { collection: to, id: target, path: "x" };
  }),
});

test("a look replaces what changed, and keeps the rest as it was", () => {
  const account = { objects: [object("a", "1")], total: 1, addresses: [] };
  const question = { conversation: "", object: "", call: "" };
  const answer = (parts: object) => parts as PageChanges;
  const one = takeChanges(undefined, answer({ cursor: "1", account, conversations: [] }), question);
  expect(one.objects.get("a/1")).toBe(account.objects[0]);
  const two = takeChanges(one, answer({ cursor: "2", now: 5 }), { ...question, object: "a/1" });
  expect(two).toMatchObject({ cursor: "2", now: 5, question: { object: "a/1" } });
  expect([two.account, two.objects]).toEqual([one.account, one.objects]);
  expect(two.objects).toBe(one.objects);
});

const kinds = ["a", "b", "c", "d", "e", "f"].map((collection) => ({
  collection,
  noun: collection,
  doc: "",
}));

test("each object stands once, in the column of its kind, beside what it refers to", () => {
  const objects = [
    object("a", "top"),
    object("a", "bottom"),
    object("b", "1", "a/bottom"),
    object("b", "2", "a/top"),
    object("b", "3", "a/bottom", "a/gone"),
    object("c", "4", "a/top", "b/1", "a/top"),
  ];
  const { columns, lines, height } = drawGraph(kinds, objects);
  expect(columns.map((column) => column.objects.map(({ id }) => id))).toEqual([
    ["top", "bottom"],
    ["2", "1", "3"],
    ["4"],
    [],
    [],
    [],
  ]);
  expect(height).toBe(3 * 60);
  // One line for each pair, from the right side of what is used to the left side of what uses it.
  expect(lines.map(({ from, to }) => `${from} ${to}`)).toEqual([
    "b/1 a/bottom",
    "b/2 a/top",
    "b/3 a/bottom",
    "c/4 a/top",
    "c/4 b/1",
  ]);
  // A line past a column runs below a row of it.
  const far = lines.find(({ from, to }) => from === "c/4" && to === "a/top")?.path;
  expect(far).toMatch(/^M\S+ 23C.* 53H.* 23$/);
  expect(lines.filter(({ path }) => path.includes("H"))).toHaveLength(1);
});
