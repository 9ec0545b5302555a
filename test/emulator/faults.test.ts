import { expect, test } from "vitest";
import { arm, prepared, stored, token, usual, writing } from "./fault-calls.js";
import { kindOf, type Running, running } from "./running.js";

const channel = kindOf("Channel");

test.each(writing)("status on %s: answers as told and does not act, once", async (on) => {
  const rule = { kind: "status", status: 503, body: { a: 1 }, headers: { "retry-after": "7" } };
  const { call, acted } = await prepared(on, rule);
  const reply = await call();
  expect(reply).toMatchObject({ status: 503, json: { a: 1 }, headers: { "retry-after": "7" } });
  expect(await acted()).toBe(false);
  expect((await call()).status).toBe(usual[on]);
  expect(await acted()).toBe(true);
});

test.each(writing)("status-after-commit on %s: acts, then answers as told", async (on) => {
  const { call, acted } = await prepared(on, { kind: "status-after-commit", status: 500 });
  expect(await call()).toMatchObject({ status: 500, json: { code: "500-100" } });
  expect(await acted()).toBe(true);
});

test.each(writing)("drop-before-commit on %s: no answer, not acted", async (on) => {
  const { call, acted } = await prepared(on, { kind: "drop-before-commit" });
  await expect(call()).rejects.toThrow(/other side closed|ECONNRESET/);
  expect(await acted()).toBe(false);
});

test.each(writing)("drop-after-commit on %s: no answer, acted", async (on) => {
  const { call, acted } = await prepared(on, { kind: "drop-after-commit" });
  await expect(call()).rejects.toThrow(/other side closed|ECONNRESET/);
  expect(await acted()).toBe(true);
});

test.each(writing)("truncate on %s: acts, and the answer breaks off", async (on) => {
  const { call, acted } = await prepared(on, { kind: "truncate" });
  await expect(call()).rejects.toThrow(/other side closed|ECONNRESET|terminated|aborted/);
  expect(await acted()).toBe(true);
});

test.each(writing)("not-json on %s: acts, then answers with a page", async (on) => {
  const { call, acted } = await prepared(on, { kind: "not-json" });
  const { status, text, headers } = await call();
  expect(status).toBe(usual[on] === 204 ? 200 : usual[on]);
  expect(headers["content-type"]).toBe("text/html");
  expect(() => JSON.parse(text)).toThrow();
  expect(await acted()).toBe(true);
});

test.each(writing)("no-id on %s: acts, then answers with JSON that has no id", async (on) => {
  const { call, acted } = await prepared(on, { kind: "no-id" });
  const { status, text } = await call();
  expect(status).toBe(usual[on] === 204 ? 200 : usual[on]);
  expect(JSON.parse(text)).not.toHaveProperty("id");
  expect(await acted()).toBe(true);
});

test.each(writing)("delay on %s: acts in the end and answers as usual", async (on) => {
  const { call, acted } = await prepared(on, { kind: "delay", ms: 5 });
  expect((await call()).status).toBe(usual[on]);
  expect(await acted()).toBe(true);
});

test.each(writing)("hang on %s: no answer, not acted; others are served meanwhile", async (on) => {
  const { service, call, acted } = await prepared(on, { kind: "hang" });
  const leaving = new AbortController();
  const outcome = call(leaving.signal).catch((error: Error) => error.name);
  expect((await service.call("GET", "/channels")).status).toBe(200);
  await expect.poll(async () => (await service.control("GET", "/faults")).text).toBe("[]");
  expect(await acted()).toBe(false);
  leaving.abort();
  expect(await outcome).toBe("AbortError");
  expect((await call()).status).toBe(usual[on]);
});

test.each(writing)("redirect on %s: sends elsewhere and does not act", async (on) => {
  const location = "https://elsewhere.example.com/";
  const { call, acted } = await prepared(on, { kind: "redirect", location });
  expect(await call()).toMatchObject({ status: 307, headers: { location } });
  expect(await acted()).toBe(false);
});

/** The first bytes of an answer, and then the caller goes away. */
const beginning = async (service: Running, method: string, path: string, least: number) => {
  const leaving = new AbortController();
  const authorization = `Bearer ${await service.token()}`;
  const response = await fetch(service.emulator.baseUrl + path, {
    method,
    headers: { authorization },
    signal: leaving.signal,
  });
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes >= least) break;
  }
  leaving.abort();
  return { status: response.status, bytes, length: Number(response.headers.get("content-length")) };
};

test("drip: acts, then sends byte by byte", async () => {
  const { service, acted } = await prepared("DELETE /channels/{id}", { kind: "drip" });
  const [{ id } = {}] = await stored(service);
  const { status, bytes, length } = await beginning(service, "DELETE", `/channels/${id}`, 2);
  expect(status).toBe(200);
  expect(bytes).toBeLessThan(length);
  expect(await acted()).toBe(true);
});

test("huge: answers with more than anybody should read", async () => {
  const service = await running();
  await arm(service, { on: "GET /channels", kind: "huge" });
  const tenMiB = 10 * 1024 * 1024;
  const { status, bytes } = await beginning(service, "GET", "/channels", tenMiB);
  expect(status).toBe(200);
  expect(bytes).toBeGreaterThanOrEqual(tenMiB);
  expect((await service.call("GET", "/channels")).status).toBe(200);
});

test("stale-list lists the collection as it was so long ago", async () => {
  const service = await running();
  const kept = await service.make(channel);
  const gone = await service.make(channel);
  service.emulator.advance(10_000);
  const body = await service.body(channel, { displayName: "new" });
  await service.call("PUT", `/channels/${kept}`, body);
  await service.call("DELETE", `/channels/${gone}`);
  const fresh = await service.make(channel);
  const list = async (ms?: number) => {
    if (ms !== undefined) await arm(service, { on: "GET /channels", kind: "stale-list", ms });
    const { json } = await service.call("GET", "/channels");
    return (json.channel as { id: string; displayName: string }[]).map(
      (each) => `${each.id} ${each.displayName === "new" ? "new" : "old"}`,
    );
  };
  expect(await list(5000)).toEqual([`${kept} old`, `${gone} old`]);
  expect(await list()).toEqual([`${kept} new`, `${fresh} old`]);
  expect(await list(0)).toEqual([`${kept} new`, `${fresh} old`]);
  expect(await list(20_000)).toEqual([]);
});

test("forbidden-list forbids the list and nothing else", async () => {
  const service = await running();
  const id = await service.make(channel);
  await arm(service, { on: "GET /channels", kind: "forbidden-list" });
  expect((await service.call("GET", `/channels/${id}`)).status).toBe(200);
  expect(await service.call("GET", "/channels")).toMatchObject({
    status: 403,
    json: { code: "403-197" },
  });
  expect((await service.call("GET", "/channels")).status).toBe(200);
});

const issued = async (service: Running) =>
  (await service.control("GET", "/stats")).json.tokensIssued;

test.each<[string, object, number, number]>([
  ["status", { status: 503 }, 503, 0],
  ["redirect", { location: "https://elsewhere.example.com/" }, 307, 0],
  ["status-after-commit", { status: 500 }, 500, 1],
  ["not-json", {}, 200, 1],
  ["no-id", {}, 200, 1],
  ["delay", { ms: 1 }, 200, 1],
])("%s works at the token address, too", async (kind, more, status, acted) => {
  const service = await running();
  await arm(service, { on: "TOKEN", kind, ...more });
  expect((await token(service)).status).toBe(status);
  expect(await issued(service)).toBe(acted);
  expect((await token(service)).json).toHaveProperty("access_token");
});

test.each([
  ["drop-before-commit", 0],
  ["drop-after-commit", 1],
  ["truncate", 1],
])("%s works at the token address, too", async (kind, acted) => {
  const service = await running();
  await arm(service, { on: "TOKEN", kind });
  await expect(token(service)).rejects.toThrow(/other side closed|ECONNRESET|terminated|aborted/);
  expect(await issued(service)).toBe(acted);
  expect((await token(service)).status).toBe(200);
});

test("no-id at the token address leaves the token out", async () => {
  const service = await running();
  await arm(service, { on: "TOKEN", kind: "no-id" });
  const { json } = await token(service);
  expect(json).toMatchObject({ token_type: "Bearer" });
  expect(json).not.toHaveProperty("access_token");
});
