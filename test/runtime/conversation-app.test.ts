import { expect, test } from "vitest";
import { type CallbackOptions, conversationApp } from "../../sdk/runtime/index.js";
import { message } from "./support/callback-calls.js";
import { call } from "./support/callback-turns.js";

const { authenticate }: Pick<CallbackOptions, "authenticate"> = {
  authenticate: { basic: { username: "hub", password: "secret" } },
};

test("an app hands each message to the first handler for it", async () => {
  const log: string[] = [];
  const note =
    (name: string) =>
    ({ id }: { id?: string }) =>
      void log.push(`${name} ${id}`);
  const app = conversationApp({ authenticate })
    .on("customer", "text", note("customer"))
    .on("text", note("anybody"))
    .on(["typing.start", "typing.end"], note("typing"))
    .otherwise(note("otherwise"));
  const agent = { sender: { type: "custom_agent" } };
  await call(
    app,
    message("1"),
    message("2", "", agent),
    message("3", "", { type: { value: "typing.end" } }),
    message("4", "", { type: { value: "error" } }),
  );
  await app.idle();
  expect(log).toEqual(["customer 1", "anybody 2", "typing 3", "otherwise 4"]);
});

test("an app without a handler for a message discards it; a handler that fails is told", async () => {
  const errors: unknown[] = [];
  const app = conversationApp({ authenticate, onError: (error) => void errors.push(error) }).on(
    "text",
    () => Promise.reject(new Error("first")),
  );
  const typing = message("2", "", { type: { value: "typing.end" } });
  expect((await call(app, message("1"), typing)).status).toBe(200);
  await app.idle();
  expect(errors).toMatchObject([{ message: "first" }]);
});

test.each<[string, unknown[]]>([
  ["type", ["text.loud", () => {}]],
  ["type", [[], () => {}]],
  ["sender", ["system", "text", () => {}]],
  ["handler", ["text", "no function"]],
  ["handler", ["text"]],
])("an app refuses a wrong %s", (name, given) => {
  const app = conversationApp({ authenticate });
  expect(() => Reflect.apply(app.on, app, given)).toThrow(
    expect.objectContaining({ code: "INPUT_INVALID", message: expect.stringContaining(name) }),
  );
});
