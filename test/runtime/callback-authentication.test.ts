import { expect, test } from "vitest";
import { type CallbackOptions, callbacks } from "../../sdk/runtime/index.js";
import { basic, bodyWith, message, receiver, right } from "./support/callback-calls.js";

const hub: CallbackOptions["authenticate"] = { basic: { username: "hub", password: "secret" } };
const odd: CallbackOptions["authenticate"] = { basic: { username: "hüb", password: "pä:ss" } };
const rotated: CallbackOptions["authenticate"] = {
  basic: [
    { username: "hub", password: "old" },
    { username: "hub", password: "new" },
  ],
};
const one: CallbackOptions["authenticate"] = { bearer: "t-1" };
const several: CallbackOptions["authenticate"] = { bearer: ["t-1", "t-2"] };

test.each<[string, CallbackOptions["authenticate"], string | null, number]>([
  ["Basic: none", hub, null, 401],
  ["Basic: an empty one", hub, "", 401],
  ["Basic: another password", hub, basic("hub", "secret2"), 401],
  ["Basic: another user", hub, basic("hub2", "secret"), 401],
  ["Basic: a password that is the beginning", hub, basic("hub", "secre"), 401],
  ["Basic: a longer one", hub, basic("hub", "secret "), 401],
  ["Basic: another scheme", hub, right.replace("Basic", "Bearer"), 401],
  ["Basic: no scheme", hub, right.slice(6), 401],
  ["Basic: plain text", hub, "Basic hub:secret", 401],
  ["Basic: two", hub, `${right} ${right}`, 401],
  ["Basic: any characters", odd, basic("hüb", "pä:ss"), 202],
  [
    "Basic: in ISO-8859-1",
    odd,
    `Basic ${Buffer.from("hüb:pä:ss", "latin1").toString("base64")}`,
    202,
  ],
  ["Basic: the scheme in small letters", odd, basic("hüb", "pä:ss").replace("B", "b"), 202],
  ["Basic: the old one while they are rotated", rotated, basic("hub", "old"), 202],
  ["Basic: the new one while they are rotated", rotated, basic("hub", "new"), 202],
  ["Basic: an older one", rotated, basic("hub", "older"), 401],
  ["Bearer: the right token", one, "Bearer t-1", 202],
  ["Bearer: no token", one, null, 401],
  ["Bearer: another token", one, "Bearer t-2", 401],
  ["Bearer: no scheme", one, "t-1", 401],
  ["Bearer: Basic", one, "Basic t-1", 401],
  ["Bearer: the first of several", several, "Bearer t-1", 202],
  ["Bearer: the second of several", several, "Bearer t-2", 202],
  ["Bearer: none of several", several, "Bearer t-3", 401],
])("%s", async (what, authenticate, authorization, status) => {
  const { deliver, received } = receiver({ authenticate });
  const response = await deliver(bodyWith(message("1")), authorization);
  expect(response.status).toBe(status);
  expect(received).toHaveLength(status === 202 ? 1 : 0);
  if (status === 202) return;
  const scheme = what.startsWith("Basic") ? /^Basic realm=/ : /^Bearer/;
  expect(response.headers.get("www-authenticate")).toMatch(scheme);
});

test("a function is asked for tokens of a usual length only", async () => {
  const checked: string[] = [];
  const bearer = (token: string) => checked.push(token) > 0;
  const { deliver } = receiver({ authenticate: { bearer } });
  for (const header of [null, "", "Basic abc", "abc", `Bearer ${"x".repeat(16 * 1024)}`])
    expect((await deliver(bodyWith(), header)).status).toBe(401);
  expect(checked).toEqual([]);
});

test("a function may check the token, at once or later; only true passes", async () => {
  const checked: string[] = [];
  const answers: unknown[] = [true, Promise.resolve(true), false, Promise.resolve(false), "yes", 1];
  const { deliver } = receiver({
    // @ts-expect-error as a program without type checks would write it
    authenticate: { bearer: (token: string) => checked.push(token) && answers[checked.length - 1] },
  });
  const statuses: number[] = [];
  for (const _ of answers) statuses.push((await deliver(bodyWith(), "Bearer abc")).status);
  expect(statuses).toEqual([202, 202, 401, 401, 401, 401]);
  expect(checked[0]).toBe("abc");
});

test("a check that fails lets nothing pass, and is reported", async () => {
  const failure = new Error("no connection");
  const { deliver, errors, received } = receiver({
    authenticate: { bearer: () => Promise.reject(failure) },
  });
  expect((await deliver(bodyWith(message("1")), "Bearer abc")).status).toBe(503);
  expect([errors, received]).toEqual([[failure], []]);
});

test("an empty password is named", () => {
  const basic = { username: "hub", password: "" };
  expect(() => callbacks({ authenticate: { basic }, onMessage: () => {} })).toThrow(
    "authenticate.basic.password must be a non-empty string.",
  );
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

test.each([{ basic: [] }, { bearer: [] }, { bearer: ["a", ""] }])(
  "%j would let everybody or nobody in: it is refused",
  (authenticate) => {
    expect(() => callbacks({ authenticate, onMessage: () => undefined })).toThrow("authenticate");
  },
);
