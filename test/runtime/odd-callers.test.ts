import { expect, test } from "vitest";
import { exchangeCode } from "../../sdk/runtime/index.js";
import { codeFromRedirect } from "../../sdk/runtime/pkce.js";
import { ManualClock } from "../service/support/clocks.js";
import { call, message, never, progressed, receiver } from "./support/callback-calls.js";

test("an error handler that is called, and never comes back, does not hold up the conversation", async () => {
  const clock = new ManualClock();
  const taken: string[] = [];
  const { handler } = receiver({
    clock,
    messageTimeoutMs: 1_000,
    onError: never,
    onMessage: ({ id = "" }) => {
      taken.push(id);
      if (id === "1") throw new Error("work");
    },
  });
  await call(handler, message("1"), message("2"));
  await progressed();
  expect(taken).toEqual(["1"]);
  clock.advance(1_000);
  await handler.idle();
  expect(taken).toEqual(["1", "2"]);
});

const exchange = {
  clientId: "spa-1",
  redirectUri: "https://app.example.com/back",
  code: "c",
  verifier: "v".repeat(43),
};

test.each<[string, unknown]>([
  ["null", null],
  ["no status", { text: async () => '{"access_token": "t"}' }],
  ["a number", { status: 200, text: async () => 5 }],
])("a fetch that gives %s is reported as a failure", async (_, answer) => {
  // What a caller without type checks may give.
  const fetch = async () => JSON.parse("null") ?? answer;
  const exchanged = exchangeCode({ ...exchange, tokenUrl: "https://h.example/t", fetch });
  await expect(exchanged).rejects.toMatchObject({ name: "ConversationError" });
});

test("a redirect with a second state is refused", () => {
  const redirect = "https://app.example.com/back?code=c&state=s&state=t";
  expect(() => codeFromRedirect(redirect, "s")).toThrow(/state/);
  expect(() => codeFromRedirect(redirect, "s,t")).toThrow(/state/);
});
