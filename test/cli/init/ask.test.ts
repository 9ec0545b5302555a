import { PassThrough } from "node:stream";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { askPerson, initAnswers } from "../../../cli/init/init-answers.js";

/** A person at a terminal, who types what is called for. */
const person = () => {
  const keys = new PassThrough();
  let seen = "";
  const shown = {
    write: (text: string | Uint8Array) => {
      seen += Buffer.from(text).toString();
    },
  };
  // Without what moves the cursor.
  const plain = () => stripVTControlCharacters(seen);
  return { keys, ask: askPerson(keys, shown), seen: plain };
};

test("each key is shown once, however many questions came before", async () => {
  const { keys, ask, seen } = person();
  for (let number = 1; number <= 12; number += 1) {
    const answer = ask({ text: `Question ${number}` });
    for (const key of `shop${number}`) keys.write(key);
    keys.write("\r");
    expect(await answer).toBe(`shop${number}`);
  }
  expect(seen().match(/shop12/g)).toHaveLength(1);
  expect(seen()).not.toMatch(/(.)\1\1/);
  expect(keys.listenerCount("keypress")).toBe(0);
});

test("a wrong answer is told and asked again; nothing typed is the proposal", async () => {
  const { keys, ask, seen } = person();
  const problem = (answer: string) => (answer === "bad" ? "Not that one." : undefined);
  const answer = ask({ text: "Stack", proposal: "dev", problem });
  keys.write("bad\r");
  await new Promise(setImmediate);
  keys.write("\r");
  expect(await answer).toBe("dev");
  expect(seen()).toContain("  Not that one.\n");
});

test("the questions and what is wrong with an answer fit 80 columns", async () => {
  const { keys, ask, seen } = person();
  const asked: string[] = [];
  const asking: typeof ask = async (question) => {
    asked.push(`${question.text} (${question.proposal ?? ""}): `);
    return question.proposal ?? "";
  };
  await initAnswers({ baseUrl: "https://hub.test/v3", clientId: "id" }, "/shop", undefined, asking);
  for (const line of asked) expect(line.length, line).toBeLessThanOrEqual(80);
  const problem = (answer: string) => (answer === "" ? "wrong ".repeat(30).trim() : undefined);
  const answer = ask({ text: "Name", problem });
  keys.write("\r");
  await new Promise(setImmediate);
  keys.write("x\r");
  await answer;
  for (const line of seen().split(/\r?\n/)) expect(line.length).toBeLessThanOrEqual(80);
});

test("a secret is never shown", async () => {
  const { keys, ask, seen } = person();
  const answer = ask({ text: "Secret", secret: true });
  keys.write("s3cret\r");
  expect(await answer).toBe("s3cret");
  expect(seen()).not.toContain("s3cret");
});

test.each([
  ["Ctrl-C", "\x03"],
  ["Ctrl-D", "\x04"],
])("%s stops", async (_, key) => {
  const { keys, ask } = person();
  const answer = ask({ text: "Name" });
  keys.write(key);
  await expect(answer).rejects.toMatchObject({
    message: "Stopped. Nothing was made.",
    exitCode: 130,
  });
});
