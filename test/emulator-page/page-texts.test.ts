import { expect, test } from "vitest";
import {
  findDeliveries,
  readMessage,
  writeMessage,
} from "../../emulator/page/browser/conversations.mjs";
import { clockTime, isFound, refusalText, shortText } from "../../emulator/page/browser/texts.mjs";

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
  ] as const)
    expect(isFound(sought, "first", text), sought).toBe(true);
  expect(isFound("channel", "GET", "/accounts")).toBe(false);
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
    time: "2026-01-01T00:00:00.000Z",
  });
  expect(message.files.map(({ text }) => text)).toEqual([
    "a.csv (78 bytes)",
    "b",
    // The name of a user in front of the host deceives nobody.
    "c on x.example",
  ]);
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

test("a message shows its own last delivery, not that of another conversation with its ID", () => {
  const entries = ["a", "b", "a", "b"].map((conversationId) => ({
    messageId: "m",
    conversationId,
  }));
  expect([...findDeliveries(entries, "a")]).toEqual([["m", 2]]);
});
