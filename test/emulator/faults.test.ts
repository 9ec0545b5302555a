import { expect, test } from "vitest";
import { kindOf, type Reply, type Running, running } from "./running.js";

const channel = kindOf("Channel");

/** Gives the emulator rules for faults. */
const arm = async (service: Running, rules: object): Promise<void> => {
  const reply = await service.control("POST", "/faults", rules);
  if (reply.status !== 200) throw new Error(reply.text);
};

/** One call each way at an object that exists, and whether the service acted. */
const calls = {
  "POST /channels": async (service: Running) => {
    const body = await service.body(channel);
    return {
      call: (signal?: AbortSignal) =>
        service.call("POST", "/channels", body, signal ? { signal } : {}),
      acted: async () => (await service.stored("Channel")).length === 2,
    };
  },
  "PUT /channels/{id}": async (service: Running, id: string) => {
    const body = await service.body(channel, { displayName: "changed" });
    return {
      call: (signal?: AbortSignal) =>
        service.call("PUT", `/channels/${id}`, body, signal ? { signal } : {}),
      acted: async () => (await service.stored("Channel"))[0]?.displayName === "changed",
    };
  },
  "DELETE /channels/{id}": async (service: Running, id: string) => ({
    call: (signal?: AbortSignal) =>
      service.call("DELETE", `/channels/${id}`, undefined, signal ? { signal } : {}),
    acted: async () => (await service.stored("Channel")).length === 0,
  }),
} as const;

type Writing = keyof typeof calls;

/** The calls that change something. */
const writing = Object.keys(calls) as readonly Writing[];

/** A service with one channel and a rule for the next such call. */
const prepared = async (on: Writing, rule: object) => {
  const service = await running();
  const id = await service.make(channel);
  const { call, acted } = await calls[on](service, id);
  await arm(service, { on, ...rule });
  return { service, call, acted };
};

/** Status of the call without a fault. */
const usual: Readonly<Record<Writing, number>> = {
  "POST /channels": 201,
  "PUT /channels/{id}": 204,
  "DELETE /channels/{id}": 204,
};

const token = (service: Running): Promise<Reply> =>
  service.form(service.emulator.tokenUrl, service.credentials());

const broken = /other side closed|ECONNRESET|terminated|aborted/;
const odd = { status: 503, body: { a: 1 }, headers: { "retry-after": "7" } };

/** Each fault of one call: its members, the answer (undefined: none comes), and whether the service acts. */
const kinds: readonly (readonly [kind: string, rule: object, answer: unknown, acts: boolean])[] = [
  ["status", odd, { status: 503, json: { a: 1 }, headers: { "retry-after": "7" } }, false],
  ["status-after-commit", { status: 500 }, { status: 500, json: { code: "500-100" } }, true],
  ["drop-before-commit", {}, undefined, false],
  ["drop-after-commit", {}, undefined, true],
  ["truncate", {}, undefined, true],
  ["delay", { ms: 5 }, {}, true],
];

test.each(kinds.flatMap((row) => writing.map((on) => [...row, on] as const)))(
  "%s %j: the answer is %j, acts: %s (%s)",
  async (kind, rule, answer, acts, on) => {
    const { call, acted } = await prepared(on, { kind, ...rule });
    if (answer === undefined) await expect(call()).rejects.toThrow(broken);
    else expect(await call()).toMatchObject({ status: usual[on], ...Object(answer) });
    expect(await acted()).toBe(acts);
    if (acts) return;
    expect((await call()).status).toBe(usual[on]);
    expect(await acted()).toBe(true);
  },
);

test.each(writing)("not-json on %s: acts, then answers with what cannot be used", async (on) => {
  const { call, acted } = await prepared(on, { kind: "not-json" });
  const { status, text, headers } = await call();
  expect(status).toBe(usual[on] === 204 ? 200 : usual[on]);
  expect(headers["content-type"]).toBe("text/html");
  expect(() => JSON.parse(text)).toThrow();
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
  const [{ id } = {}] = await service.stored("Channel");
  const { status, bytes, length } = await beginning(service, "DELETE", `/channels/${id}`, 2);
  expect(status).toBe(200);
  expect(bytes).toBeLessThan(length);
  expect(await acted()).toBe(true);
});

test("stale-list lists an earlier state of the collection so long ago", async () => {
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

test.each<[string, object, number | undefined, number]>([
  ["status", { status: 503 }, 503, 0],
  ["status-after-commit", { status: 500 }, 500, 1],
  ["not-json", {}, 200, 1],
  ["delay", { ms: 1 }, 200, 1],
  ["drop-before-commit", {}, undefined, 0],
  ["drop-after-commit", {}, undefined, 1],
  ["truncate", {}, undefined, 1],
])("%s works at the token address, too", async (kind, more, status, acted) => {
  const service = await running();
  await arm(service, { on: "TOKEN", kind, ...more });
  if (status === undefined) await expect(token(service)).rejects.toThrow(broken);
  else expect((await token(service)).status).toBe(status);
  const { tokensIssued } = await service.emulator.control.stats();
  expect(tokensIssued).toBe(acted);
  expect((await token(service)).json).toHaveProperty("access_token");
});

const statuses = async (service: Running, calls: number): Promise<number[]> => {
  const seen: number[] = [];
  for (let call = 0; call < calls; call += 1)
    seen.push((await service.call("GET", "/channels")).status);
  return seen;
};

test.each<[string, object[], number[]]>([
  [
    "times and after count the calls of the endpoint",
    [{ status: 500, times: 2, after: 1 }],
    [200, 500, 500, 200],
  ],
  [
    "rules on one endpoint come one after the other",
    [{ status: 500 }, { status: 503, times: 2 }],
    [500, 503, 503, 200],
  ],
  [
    "after counts from when the rule was given, also the calls that an earlier rule takes",
    [{ status: 500 }, { status: 502 }, { status: 503, after: 2 }],
    [500, 502, 503, 200],
  ],
])("%s", async (_, rules, expected) => {
  const service = await running();
  const on = "GET /channels";
  await arm(
    service,
    rules.map((rule) => ({ on, kind: "status", ...rule })),
  );
  await service.make(channel);
  expect(await statuses(service, 4)).toEqual(expected);
});

test("a call without a token or beyond the rate uses no fault up", async () => {
  const service = await running({ plan: "developer", burst: 1 });
  await arm(service, { on: "GET /channels", kind: "status", status: 500, after: 1 });
  expect((await service.call("GET", "/channels", undefined, { token: null })).status).toBe(401);
  expect(await statuses(service, 2)).toEqual([200, 429]);
  service.emulator.advance(6250);
  expect(await statuses(service, 1)).toEqual([500]);
});

test.each(["status", "status-after-commit"])(
  "text as the body of %s is sent as it is, as a page unless a header says otherwise",
  async (kind) => {
    const service = await running();
    const rule = { on: "GET /channels", kind, status: 503, body: "<p>closed</p>" };
    await arm(service, [rule, { ...rule, headers: { "Content-Type": "text/plain" } }]);
    for (const type of ["text/html", "text/plain"]) {
      const { headers, text } = await service.call("GET", "/channels");
      expect({ type: headers["content-type"], text }).toEqual({ type, text: "<p>closed</p>" });
    }
  },
);

test.each([
  [500, { code: "500-100", developerMessage: expect.any(String) }],
  [429, { code: "429-001", developerMessage: "Too many requests." }],
])("a status of %d without a body has an error body of the service", async (status, body) => {
  const service = await running();
  await arm(service, [
    { on: "GET /channels", kind: "status", status },
    { on: "TOKEN", kind: "status", status },
  ]);
  expect((await service.call("GET", "/channels", undefined, { token: "x" })).status).toBe(401);
  expect((await token(service)).json).toEqual(body);
  expect((await service.call("GET", "/channels")).json).toEqual(body);
});

test.each([204, 205, 304])(
  "an answer with the status %s ends at its head, whatever the rule holds",
  async (status) => {
    const service = await running();
    const rule = { on: "GET /channels", kind: "status", status, body: { a: 1 } };
    await service.control("POST", "/faults", rule);
    const reply = await service.call("GET", "/channels");
    expect([reply.status, reply.text]).toEqual([status, ""]);
    expect(Number(reply.headers["content-length"] ?? 0)).toBe(0);
    expect((await service.call("GET", "/channels")).status).toBe(200);
  },
);
