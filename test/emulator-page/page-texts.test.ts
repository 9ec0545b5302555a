import fc from "fast-check";
import { expect, test } from "vitest";
import { hasOutcome, isCallWanted, toneOf } from "../../emulator/page/browser/calls.mjs";
import {
  messageToSend,
  shownMessage,
  sideOfSender,
} from "../../emulator/page/browser/composer.mjs";
import { isConversationWanted } from "../../emulator/page/browser/conversations.mjs";
import { beginningOf, clockTime, dayTime } from "../../emulator/page/browser/elements.mjs";
import { afterFailure, undelivered } from "../../emulator/page/browser/inspector.mjs";
import { refusalText } from "../../emulator/page/browser/page.mjs";

test("a time that is none, or beyond all calendars, is shown as it came", () => {
  for (const time of ["", "yesterday", 8.7e15, Number.NaN]) {
    expect(clockTime(time)).toBe(String(time));
    expect(dayTime(time)).toBe(String(time));
  }
  expect(clockTime("2026-01-01T12:30:05.000Z")).toMatch(/^\d\d:\d\d:05$/);
});

test("a long text is cut between characters, and never loses anything", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme" }), fc.nat(20), (text, most) => {
      const beginning = beginningOf(text, most);
      expect(text.startsWith(beginning)).toBe(true);
      expect(beginning.isWellFormed()).toBe(true);
      expect(beginning.length).toBeGreaterThanOrEqual(Math.min(text.length, most) - 1);
    }),
    { numRuns: 300, seed: 6 },
  );
});

test("whatever a message holds, it is shown", () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (body, content) => {
      const shown = shownMessage({ ...body, content });
      for (const text of [shown.text, shown.json, shown.name, shown.type, shown.recipients])
        expect(typeof text).toBe("string");
    }),
    { numRuns: 500, seed: 5 },
  );
});

test("a message is shown with its sender, text, JSON and attachments", () => {
  expect(
    shownMessage({
      id: "1",
      messageId: "m",
      type: { value: "richMessage.listpicker" },
      sender: { type: "custom_bot", participant: { name: "orders-bot" } },
      content: { json: '{"options":["a"]}' },
      attachments: {
        attachment: [
          { id: "i", name: "a.csv", size: 78, url: "javascript:harm()" },
          { url: "https://x.example/y" },
          { name: "b", url: "https://" },
          { name: "c", url: "https://x.example/z" },
          { name: "https://x.example.org/z", url: "https://x.example" },
          { url: "https://y.example@x.example/z" },
        ],
      },
      recipients: { recipient: [{ type: "customer", participant: { name: "Ada" } }] },
      created: "2026-01-01T00:00:00.000Z",
    }),
  ).toEqual({
    id: "1",
    messageId: "m",
    type: "richMessage.listpicker",
    sender: "custom_bot",
    side: "bot",
    name: "orders-bot",
    text: "",
    json: '{\n  "options": [\n    "a"\n  ]\n}',
    attachments: [
      { text: "a.csv (78 bytes)", id: "i", url: "", host: "" },
      { text: "https://x.example/y", id: "", url: "https://x.example/y", host: "" },
      { text: "b", id: "", url: "", host: "" },
      { text: "c", id: "", url: "https://x.example/z", host: "x.example" },
      // A text that seems to name another host.
      {
        text: "https://x.example.org/z",
        ...{ id: "", url: "https://x.example", host: "x.example" },
      },
      {
        text: "https://y.example@x.example/z",
        ...{ id: "", url: "https://y.example@x.example/z", host: "x.example" },
      },
    ],
    isEvent: false,
    time: "2026-01-01T00:00:00.000Z",
    recipients: "customer Ada",
  });
  expect(sideOfSender("acme_agent")).toBe("agent");
});

test("a message to be sent holds what was typed, and nothing empty", () => {
  const draft = {
    sender: "customer",
    type: "text",
    name: "",
    text: "Hi",
    json: "",
    conversation: { id: "c" },
  };
  expect(messageToSend(draft)).toEqual({
    type: { value: "text" },
    conversation: { id: "c" },
    sender: { type: "customer" },
    content: { text: "Hi" },
  });
  expect(messageToSend({ ...draft, name: "Ada", text: "", json: '{"a": 1}' })).toEqual({
    type: { value: "text" },
    conversation: { id: "c" },
    sender: { type: "customer", participant: { name: "Ada" } },
    content: { json: '{"a": 1}' },
  });
  expect(() => messageToSend({ ...draft, json: "{}" })).toThrow("either text or JSON");
  for (const json of ["[1]", "1", "{", "null"])
    expect(() => messageToSend({ ...draft, json })).toThrow("JSON object");
  expect(() => messageToSend({ ...draft, text: "" })).toThrow("Enter some text.");
  expect(messageToSend({ ...draft, type: "typing.start", text: "" })).not.toHaveProperty("content");
});

test("calls are filtered by path, client, method and outcome", () => {
  const entry = {
    at: "",
    method: "GET",
    template: "/channels/{id}",
    path: "/channels/X1",
    status: 429,
    ms: 1,
  };
  expect(isCallWanted(entry, ["", "", ""])).toBe(true);
  expect(isCallWanted(entry, [" get /channels/x1 ", "", ""])).toBe(true);
  expect(isCallWanted(entry, ["", "POST", ""])).toBe(false);
  expect(isCallWanted(entry, ["", "", "429"])).toBe(true);
  const outcomes = ["good", "bad", "4", "429", "5", "0"];
  const of = (status: number) => outcomes.filter((outcome) => hasOutcome(status, outcome));
  expect([of(200), of(404), of(429), of(503), of(0)]).toEqual([
    ["good"],
    ["bad", "4"],
    ["bad", "4", "429"],
    ["bad", "5"],
    ["bad", "0"],
  ]);
  expect([toneOf(204), toneOf(307), toneOf(429), toneOf(500), toneOf(0)]).toEqual([
    "good",
    "good",
    "wait",
    "bad",
    "bad",
  ]);
});

test("conversations are filtered by state", () => {
  const inState = (phase: "bot" | "agent" | "ended") =>
    ["", "running", "agent"].filter((wanted) => isConversationWanted({ phase }, wanted));
  expect(inState("bot")).toEqual(["", "running"]);
  expect(inState("agent")).toEqual(["", "running", "agent"]);
  expect(inState("ended")).toEqual([""]);
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

test("a delivery that failed counts once, until an attempt makes up for it", () => {
  const failed = attemptOf(1, 1, "askedToWait");
  const again = attemptOf(1, 2, "askedToWait");
  const other = attemptOf(3, 1, "askedToWait");
  expect(undelivered([])).toEqual([]);
  expect(undelivered([failed, other, again, attemptOf(2, 1)])).toEqual([again, other]);
  expect(undelivered([failed, attemptOf(2, 1), attemptOf(1, 2)])).toEqual([]);
  expect(undelivered([failed, attemptOf(2, 1)])).toEqual([failed]);
});

test("a failed attempt says what became of the message", () => {
  const first = attemptOf(1, 1, "askedToWait");
  const last = attemptOf(1, 2, "askedToWait", false);
  const elsewhere = attemptOf(2, 1);
  const after = (...entries: (typeof first)[]) =>
    entries.map((entry) => afterFailure([...entries, elsewhere], entry).text);
  expect(after(first)).toEqual(["The service will try again."]);
  expect(after(first, last)).toEqual(["Attempt 2 failed, too.", "This was the last attempt."]);
  expect(after(first, attemptOf(1, 2))[0]).toBe("Attempt 2 delivered the message.");
  expect(after(attemptOf(1, 0, "askedToWait", false))).toEqual([
    "The service does not attempt delivery.",
  ]);
});
