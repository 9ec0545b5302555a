import { expect, test } from "vitest";
import { type CallbackOptions, callbacks } from "../../sdk/runtime/index.js";
import { basic, message, receiver, right, v3 } from "./support/callback-calls.js";

test.each<[string, string | null]>([
  ["none", null],
  ["an empty one", ""],
  ["another password", basic("hub", "secret2")],
  ["another user", basic("hub2", "secret")],
  ["a password that is the beginning", basic("hub", "secre")],
  ["a longer one", basic("hub", "secret ")],
  ["another scheme", right.replace("Basic", "Bearer")],
  ["no scheme", right.slice(6)],
  ["plain text", "Basic hub:secret"],
  ["two", `${right} ${right}`],
])("Basic credentials: %s gets a 401", async (_, authorization) => {
  const { deliver, received } = receiver();
  const response = await deliver(v3(message("1")), authorization);
  expect(response.status).toBe(401);
  expect(response.headers.get("www-authenticate")).toMatch(/^Basic realm=/);
  expect(received).toEqual([]);
});

test("Basic credentials: the right ones pass, in any case of the scheme and with any characters", async () => {
  const { deliver } = receiver({ authenticate: { basic: { username: "hüb", password: "pä:ss" } } });
  const header = basic("hüb", "pä:ss");
  expect((await deliver(v3(), header)).status).toBe(200);
  expect((await deliver(v3(), header.replace("Basic", "basic"))).status).toBe(200);
});

test.each<[string, string | null, number]>([
  ["the right token", "Bearer t-1", 200],
  ["no token", null, 401],
  ["another token", "Bearer t-2", 401],
  ["no scheme", "t-1", 401],
  ["Basic", "Basic t-1", 401],
])("Bearer: %s", async (_, authorization, status) => {
  const { deliver } = receiver({ authenticate: { bearer: "t-1" } });
  const response = await deliver(v3(), authorization);
  expect(response.status).toBe(status);
  if (status === 401) expect(response.headers.get("www-authenticate")).toMatch(/^Bearer/);
});

test("a function may check the token, at once or later; only true passes", async () => {
  const checked: string[] = [];
  const answers: unknown[] = [true, Promise.resolve(true), false, Promise.resolve(false), "yes", 1];
  const { deliver } = receiver({
    // @ts-expect-error as a program without type checks would write it
    authenticate: { bearer: (token: string) => checked.push(token) && answers[checked.length - 1] },
  });
  const statuses: number[] = [];
  for (const _ of answers) statuses.push((await deliver(v3(), "Bearer abc")).status);
  expect(statuses).toEqual([200, 200, 401, 401, 401, 401]);
  expect(checked[0]).toBe("abc");
});

test("a check that fails lets nothing pass, and is told", async () => {
  const failure = new Error("no connection");
  const { deliver, errors, received } = receiver({
    authenticate: { bearer: () => Promise.reject(failure) },
  });
  expect((await deliver(v3(message("1")), "Bearer abc")).status).toBe(503);
  expect([errors, received]).toEqual([[failure], []]);
});

test.each<[string, unknown]>([
  ["nothing", undefined],
  ["an empty object", {}],
  ["a password that is missing", { basic: { username: "hub", password: undefined } }],
  ["an empty password", { basic: { username: "hub", password: "" } }],
  ["a user with a colon", { basic: { username: "h:b", password: "x" } }],
  ["an empty token", { bearer: "" }],
  ["a token that is no text", { bearer: 5 }],
])("a handler is not made with %s to compare with", (_, authenticate) => {
  const options = { authenticate, onMessage: () => {} } as unknown as CallbackOptions;
  expect(() => callbacks(options)).toThrow(expect.objectContaining({ code: "INPUT_INVALID" }));
});

test("while credentials are rotated the old and the new ones pass, and no others", async () => {
  const [old, fresh] = [
    { username: "hub", password: "old" },
    { username: "hub", password: "new" },
  ];
  const { deliver } = receiver({ authenticate: { basic: [old, fresh] } });
  const statuses = await Promise.all(
    ["old", "new", "older"].map((password) => deliver(v3(), basic("hub", password))),
  );
  expect(statuses.map(({ status }) => status)).toEqual([200, 200, 401]);
});

test("several tokens may be right", async () => {
  const { deliver } = receiver({ authenticate: { bearer: ["t-1", "t-2"] } });
  const answers = await Promise.all(["t-1", "t-2", "t-3"].map((t) => deliver(v3(), `Bearer ${t}`)));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 401]);
});

test.each([{ basic: [] }, { bearer: [] }, { bearer: ["a", ""] }])(
  "%j would let everybody or nobody in: it is refused",
  (authenticate) => {
    expect(() => callbacks({ authenticate, onMessage: () => undefined })).toThrow("authenticate");
  },
);
