import { createServer } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { connectControl, type EmulatorControl } from "../../emulator/index.js";
import { listenHere } from "../support/loopback-server.js";
import { kindOf, type Running, running, scopes } from "./running.js";

const channel = kindOf("Channel");

/** The same client in the emulator's process, and over the network. */
const ways: readonly [string, (own: Running) => EmulatorControl][] = [
  ["in process", ({ emulator }) => emulator.control],
  ["by its address", ({ emulator }) => connectControl(emulator.controlUrl)],
  ["by its address, with a slash", ({ emulator }) => connectControl(`${emulator.controlUrl}/`)],
];

test.each(ways)("it looks at calls, rates and objects (%s)", async (_, of) => {
  const own = await running({ plan: "developer", burst: 3 });
  const control = of(own);
  await own.call("GET", "/channels");
  await own.call("GET", "/channels");
  expect(await control.stats()).toEqual({
    calls: { "GET /channels": { accepted: 2, refused: 0 } },
    tokensIssued: 1,
  });
  expect(await control.log()).toMatchObject([{ path: "/channels", status: 200 }, {}]);
  const level = (await control.buckets()).find(({ endpoint }) => endpoint === "GET /channels");
  expect(level).toEqual({ endpoint: "GET /channels", rate: 0.16, burst: 3, tokens: 1 });
  const now = await control.advance(1_000);
  expect(await control.advance(0)).toBe(now);
  const later = (await control.buckets()).find(({ endpoint }) => endpoint === "GET /channels");
  expect(later?.tokens).toBeCloseTo(1.16, 9);
  expect(await control.deliveries()).toEqual([]);
  expect(await control.conversations()).toEqual([]);
});

test.each(ways)("it makes things go wrong, and right again (%s)", async (_, of) => {
  const own = await running();
  const control = of(own);
  const rule = { on: "GET /channels", kind: "status", status: 503, body: { a: [1] } } as const;
  expect(await control.faults(rule)).toEqual([{ ...rule, times: 1, after: 0 }]);
  expect(await control.faults([rule, rule])).toHaveLength(3);
  expect((await own.call("GET", "/channels")).status).toBe(503);
  expect(await control.faults()).toHaveLength(2);
  await control.clearFaults();
  expect((await own.call("GET", "/channels")).status).toBe(200);
});

test.each(ways)(
  "it turns switches, adds clients, keeps and restores everything (%s)",
  async (_, of) => {
    const own = await running();
    const control = of(own);
    expect((await control.switches({ pageSize: 3 })).pageSize).toBe(3);
    expect(await control.switches()).toMatchObject({ pageSize: 3, put: "replace" });
    await control.clients([
      { clientId: "one", clientSecret: "s", scopes: [scopes.R] },
      { clientId: "two", public: true, redirectUris: ["https://x.example/"], scopes: [scopes.R] },
    ]);
    await control.clients({ clientId: "three", clientSecret: "s", scopes: [scopes.R] });
    const id = await own.make(channel);
    const kept = await control.snapshot();
    expect(kept.objects.channels).toMatchObject([{ id }]);
    expect(kept.clients.map(({ clientId }) => clientId)).toEqual([
      "emulator",
      "one",
      "two",
      "three",
    ]);
    await control.reset();
    expect((await own.call("GET", `/channels/${id}`)).status).toBe(404);
    await control.restore(kept);
    expect((await own.call("GET", `/channels/${id}`)).status).toBe(200);
    expect(await control.snapshot()).toEqual(kept);
  },
);

test.each(ways)("a refusal says what was called, and why (%s)", async (_, of) => {
  const control = of(await running({ clock: "real" }));
  await expect(control.advance(1)).rejects.toMatchObject({ name: "ControlError", status: 409 });
  await expect(control.faults({ on: "GET /nothing", kind: "hang" })).rejects.toThrow(
    'Controlling the emulator: POST /faults was refused (400): A fault\'s "on" must be one of',
  );
  await expect(control.clients({ clientId: "", clientSecret: "s", scopes: [] })).rejects.toThrow(
    "A client is",
  );
});

test("it carries the secret, and says where it is missing", async () => {
  const { emulator } = await running({ controlSecret: "a-secret-of-control" });
  const secret = emulator.controlSecret ?? "";
  expect(await connectControl(emulator.controlUrl, { secret }).faults()).toEqual([]);
  const refused = connectControl(emulator.controlUrl).faults();
  await expect(refused).rejects.toThrow("was refused (401): The control interface asks for its");
  await expect(refused).rejects.not.toThrow(secret);
});

test("what is no emulator is told from one", async () => {
  const server = createServer((request, response) => {
    if (request.url === "/down/log") response.writeHead(502).end("<h1>Bad gateway</h1>");
    else response.end('[{"at": 5}]');
  });
  await listenHere(server);
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" ? address?.port : 0;
  await expect(connectControl(`http://127.0.0.1:${port}`).log()).rejects.toThrow(
    "Controlling the emulator: GET /log answered with what no emulator answers.",
  );
  await expect(connectControl(`http://127.0.0.1:${port}/down`).log()).rejects.toThrow(
    "GET /log was refused (502): no reason was given",
  );
});

test("the log is read in parts: with since only what came later", async () => {
  const own = await running();
  const part = async (since: number) => (await own.control("GET", `/log?since=${since}`)).json;
  expect(await part(0)).toEqual({ first: 0, next: 0, entries: [] });
  await own.call("GET", "/channels");
  await own.call("GET", "/accounts");
  expect(await part(0)).toMatchObject({ first: 0, next: 2, entries: [{}, {}] });
  expect(await part(1)).toMatchObject({ next: 2, entries: [{ path: "/accounts" }] });
  expect(await part(2)).toMatchObject({ next: 2, entries: [] });
  await own.control("POST", "/reset");
  await own.call("GET", "/channels");
  expect(await part(2)).toMatchObject({ first: 2, next: 3, entries: [{ path: "/channels" }] });
  // Another emulator counted further.
  expect(await part(500)).toMatchObject({ entries: [{ path: "/channels" }] });
  for (const wrong of ["-1", "x", "", "1.5"])
    expect((await own.control("GET", `/log?since=${wrong}`)).status).toBe(400);
});

test("a list that outgrows its room still has its places", async () => {
  const { RecentEntries } = await import("../../emulator/http/call-log.js");
  const list = new RecentEntries<number>(10);
  for (let entry = 0; entry < 37; entry += 1) {
    list.add(entry);
    const { first, next, entries } = list.since(Math.max(0, entry - 2));
    expect({ first, next, entries }).toEqual({
      first: Math.max(0, entry - 9),
      next: entry + 1,
      entries: [entry - 2, entry - 1, entry].filter((each) => each >= 0),
    });
  }
});
