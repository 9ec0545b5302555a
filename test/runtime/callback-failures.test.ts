import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { type CallbackOptions, conversationApp, redisMemory } from "../../sdk/runtime/index.js";
import { ManualClock, nextTurn } from "../service/support/clocks.js";
import { ask, basic, bodyWith, message } from "./support/callback-calls.js";

const password = "canary-of-the-callback";

afterEach(() => void vi.restoreAllMocks());

/** Delivers one message to an app whose handler throws; gives back the answer and what was written. */
const failing = async (
  thrown: unknown,
  options: Partial<CallbackOptions> = {},
): Promise<{ readonly status: number; readonly written: readonly string[] }> => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const app = conversationApp({
    authenticate: { basic: { username: "hub", password } },
    ...options,
  });
  app.on("text", async () => {
    throw thrown;
  });
  const headers = { authorization: basic("hub", password) };
  const response = await ask(app, JSON.stringify(bodyWith(message("1"))), headers);
  await app.idle();
  const written = write.mock.calls.map(([text]) => String(text));
  write.mockRestore();
  return { status: response.status, written };
};

const begin = 'pulumi-conversation: Could not handle message "1" (text) in conversation "c-1"; ';

test.each([
  ["before", 202, "it will not be delivered again"],
  ["after", 500, "it may be delivered again"],
] as const)(
  "a handler that throws is seen on standard error, once, with what happens next (acknowledge: %s)",
  async (acknowledge, status, next) => {
    const failure = new Error("no stock", { cause: new Error("the database is away") });
    const { status: answered, written } = await failing(failure, { acknowledge });
    expect(answered).toBe(status);
    expect(written).toHaveLength(1);
    expect(written[0]).toContain(`${begin}${next}: Error: no stock\n    at `);
    expect(written[0]).toContain("\n    caused by Error: the database is away\n");
  },
);

test("with onError nothing is written, unless onError itself fails", async () => {
  const errors: unknown[] = [];
  const failure = new Error("no stock");
  const silent = await failing(failure, { onError: (error) => void errors.push(error) });
  expect(errors).toEqual([failure]);
  expect(silent.written).toEqual([]);
  const broken = () => Promise.reject(new Error("the log is full"));
  const { written } = await failing(failure, { onError: broken });
  expect(written).toHaveLength(2);
  expect(written[0]).toContain(`${begin}it will not be delivered again: Error: no stock`);
  expect(written[1]).toContain("pulumi-conversation: onError failed: Error: the log is full");
});

/** Texts that may come from whoever wrote the message. */
const foreign = fc
  .array(
    fc.oneof(
      fc.string(),
      fc.constantFrom("\n::error::x", "\r", "\u001b[2J", "\u009b", "\u202e", password, "\u0007"),
      fc.constant(Buffer.from(`hub:${password}`).toString("base64")),
    ),
  )
  .map((parts) => parts.join(""));

const looping = (): Error => {
  const error = new Error("again");
  error.cause = error;
  return error;
};

const hostile = (): object =>
  new Proxy(new Error("proxy"), {
    get: () => {
      throw new Error("looked at");
    },
  });

/** Makes what is thrown, as a generator cannot print all of it. */
const thrown: fc.Arbitrary<() => unknown> = fc.oneof(
  foreign.map((text) => () => text),
  foreign.map((text) => () => new Error(text)),
  foreign.map((text) => () => new Error("outer", { cause: new Error(text) })),
  foreign.map((text) => () => Object.assign(new Error("x"), { stack: text })),
  foreign.map((text) => () => ({ password: text })),
  fc.constantFrom<unknown>(undefined, null, 0, Symbol("s")).map((value) => () => value),
  fc.constantFrom(() => Object.create(null), looping, hostile),
);

test("whatever is thrown, one text is written, without a secret or anything that acts", async () => {
  const acknowledge = fc.constantFrom("before", "after");
  await fc.assert(
    fc.asyncProperty(thrown, acknowledge, async (make, when) => {
      const { status, written } = await failing(make(), { acknowledge: when });
      expect(status).toBe(when === "before" ? 202 : 500);
      expect(written).toHaveLength(1);
      const text = written[0] ?? "";
      expect(text).not.toContain(password);
      expect(text).not.toContain(Buffer.from(`hub:${password}`).toString("base64"));
      const [first, ...others] = text.trimEnd().split("\n");
      expect(first).toContain(begin.trimEnd());
      for (const line of others) expect(line).toMatch(/^ {4}/);
      expect(text.replaceAll("\n", "")).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    }),
    { seed: 9, numRuns: Number(process.env.FUZZ_RUNS ?? 300) },
  );
});

test("calls with wrong credentials are written once, without them, and do not reach onError", async () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const errors: unknown[] = [];
  const app = conversationApp({
    authenticate: { basic: { username: "hub", password } },
    onError: (error) => void errors.push(error),
  });
  const statuses: number[] = [];
  for (const sent of ["wrong-secret", "another"]) {
    const headers = { authorization: basic("hub", sent) };
    statuses.push((await ask(app, "{}", headers)).status);
  }
  const written = write.mock.calls.map(([text]) => String(text));
  write.mockRestore();
  expect([statuses, errors]).toEqual([[401, 401], []]);
  expect(written).toHaveLength(1);
  expect(written[0]).toContain(
    "with 401: the call's credentials do not match the authenticate option",
  );
  expect(written[0]).not.toContain("wrong-secret");
});

test("a handler that does not finish in time is named, with the time in words, and once", async () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const clock = new ManualClock();
  const app = conversationApp({ authenticate: { basic: { username: "hub", password } }, clock });
  app.on("text", () => new Promise(() => {}));
  const headers = { authorization: basic("hub", password) };
  const body = JSON.stringify(bodyWith(message("1")));
  await ask(app, body, headers);
  await nextTurn();
  clock.advance(300_000);
  await app.idle();
  const written = write.mock.calls.map(([text]) => String(text)).join("");
  write.mockRestore();
  expect(written).toBe(
    `${begin}it will not be delivered again: ConversationError: The handler for text messages did not finish within 5 min. The conversation continues with the next message.\n`,
  );
});

test("a failure of the memory is written without its password", async () => {
  const write = vi.spyOn(process.stderr, "write").mockReturnValue(true);
  const memory = redisMemory({ url: "redis://:canary-of-redis@127.0.0.1:1", name: "bot" });
  const app = conversationApp({ authenticate: { basic: { username: "hub", password } }, memory });
  const headers = { authorization: basic("hub", password) };
  const body = JSON.stringify(bodyWith(message("1")));
  await ask(app, body, headers);
  await app.idle();
  await memory.close();
  const written = write.mock.calls.map(([text]) => String(text)).join("");
  write.mockRestore();
  expect(written).toMatch(
    /^pulumi-conversation: Callback: ConversationError: Redis at 127\.0\.0\.1:1 is not/,
  );
  expect(written).not.toContain("canary-of-redis");
});
