import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { isObject } from "../../provider/kernel/json.js";
import { kindOf, type Running, running, start } from "./running.js";

let service: Running;
beforeAll(async () => {
  service = await start();
});
afterAll(() => service[Symbol.asyncDispose]());

test.each([
  ["no body", ""],
  ["blanks", "   "],
  ["half of an object", '{"name":'],
  ["an array", "[]"],
  ["a text", '"text"'],
  ["null", "null"],
  ["bytes that are no UTF-8", Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
  ["2,000 nested arrays", `{"name":${"[".repeat(2000)}${"]".repeat(2000)}}`],
])("%s is no body", async (_, raw) => {
  const headers = { "content-type": "application/json" };
  const { status, json } = await service.call("POST", "/channels", undefined, { raw, headers });
  expect({ status, code: json.code }).toEqual({ status: 400, code: "400-100" });
});

const patches = ["application/merge-patch+json", "application/json-patch+json"];

test.each([undefined, "text/plain", "application/jsonp", ...patches])(
  "a body of type %s is refused",
  async (type) => {
    const raw = JSON.stringify(await service.body(kindOf("Channel")));
    const headers = type === undefined ? {} : { "content-type": type };
    const { status, json } = await service.call("POST", "/channels", undefined, { raw, headers });
    expect({ status, code: json.code }).toEqual({ status: 400, code: "400-100" });
  },
);

test("a body of more than 2 MiB is refused, and the refusal can be read", async () => {
  const body = await service.body(kindOf("Channel"), { more: "x".repeat(8 * 1024 * 1024) });
  const reply = await service.call("POST", "/channels", body);
  expect(reply).toMatchObject({ status: 400, json: { code: "400-10424" } });
});

test("a message for users comes only where it is asked for", async () => {
  const headers = { "X-platform-error-message": "yes" };
  const asked = await service.call("POST", "/channels", {}, { headers });
  expect(asked.json.userMessage).toBe(asked.json.developerMessage);
  expect(isObject((await service.call("POST", "/channels", {})).json)).toBe(true);
  expect((await service.call("POST", "/channels", {})).json).not.toHaveProperty("userMessage");
});

test("members named like members of objects are kept as they are", async () => {
  const raw = JSON.stringify(await service.body(kindOf("Channel"))).replace(
    "{",
    '{"__proto__":{"a":1},"constructor":2,',
  );
  const headers = { "content-type": "application/json" };
  const { json } = await service.call("POST", "/channels", undefined, { raw, headers });
  const { text } = await service.call("GET", `/channels/${json.id}`);
  expect(text).toContain('"__proto__":{"a":1}');
  expect(text).toContain('"constructor":2');
});

test("a number beyond all numbers is no number", async () => {
  const body = await service.body(kindOf("Orchestration"));
  const raw = JSON.stringify(body).replace('"bypassVaDuration":15', '"bypassVaDuration":1e400');
  expect(raw).toContain("1e400");
  const headers = { "content-type": "application/json" };
  const { json } = await service.call("POST", "/orchestrations", undefined, { raw, headers });
  expect(json.code).toBe("400-152");
});

test("a call whose caller goes away within the body is in the log without a status of its own", async () => {
  const own = await running();
  const { port } = new URL(own.emulator.baseUrl);
  const socket = connect(Number(port), "127.0.0.1");
  const head = `POST /conversation/v3/channels HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${await own.token()}`;
  socket.write(
    `${head}\r\nContent-Type: application/json\r\nContent-Length: 200\r\n\r\n{"type":`,
    () => socket.destroy(),
  );
  await expect.poll(() => own.emulator.control.log()).toHaveLength(1);
  expect(await own.emulator.control.log()).toMatchObject([
    { method: "POST", template: "/channels", status: 0 },
  ]);
});
