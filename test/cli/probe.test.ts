import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { type LikeArguments, likeTenant } from "../../cli/probe/probe-findings.js";
import { journalFile } from "../../cli/probe/probe-objects.js";
import { type ProbeOptions, runProbe } from "../../cli/probe/run-probe.js";
import { type EmulatorOptions, startEmulator } from "../../emulator/index.js";
import { switchTable } from "../../emulator/service/switches.js";
import type { Clock } from "../../provider/kernel/clock.js";
import {
  type HttpRequest,
  type HttpResponse,
  httpTransport,
  type Transport,
  TransportFailure,
} from "../../provider/service/http/transport.js";
import { findingsIn, readSettings, type TenantFindings } from "../../provider/service/settings.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { type OddTenantOptions, startOddTenant } from "./odd-tenant.js";
import { recordedSession, run } from "./session.js";

/** Waits take no time; whoever else has a clock is moved along. */
const clockOf = (advance: (ms: number) => void): Clock => {
  let now = 0;
  return {
    now: () => now,
    wall: () => Date.now() + now,
    sleep: async (ms) => {
      now += ms;
      advance(ms);
    },
  };
};

/** Probes of the tenant with these settings, whose findings and cache are in a folder of their own. */
const probesOn = (settings: Readonly<Record<string, string>>, advance = (_: number) => {}) => {
  const folder = temporaryFolder();
  const environment: typeof settings = { ...settings, XDG_CACHE_HOME: folder };
  const out = join(folder, "findings.json");
  const probe = (
    given: Partial<ProbeOptions> = {},
    transport: Transport = httpTransport(),
    lastCallMs = 60_000,
  ) => {
    const { session, written, interrupt } = recordedSession();
    const clock = clockOf(advance);
    const parts = { clock, transport, env: environment, folder, lastCallMs };
    const ended = runProbe({ out, yes: true, ...given }, session, parts);
    return { ended, written, interrupt };
  };
  const findings = async (given?: Partial<ProbeOptions>): Promise<TenantFindings> => {
    await probe(given).ended;
    const found = findingsIn(readFileSync(out, "utf8"));
    if (!found) throw new Error("no findings");
    return found;
  };
  return { folder, environment, out, probe, findings };
};

const probing = async (options: EmulatorOptions = {}) => {
  const on = await startEmulator({ clock: "manual", ...options });
  onTestFinished(() => on.close());
  return {
    ...{ on, ...probesOn(emulatorEnvironment(on), (ms) => on.advance(ms)) },
    left: async () => Object.values((await on.control.snapshot()).objects).flat(),
  };
};

const oddTenant = async (options: OddTenantOptions = {}) => {
  const tenant = await startOddTenant(options);
  onTestFinished(() => tenant.close());
  return { ...tenant, ...probesOn(tenant.environment) };
};

/** Where something goes wrong, the burst that is measured last only takes time. */
const burst = false;

const switches = fc.record({
  secrets: fc.constantFrom("mask" as const, "echo" as const, "omit" as const),
  put: fc.constantFrom("replace" as const, "keep" as const),
  inUseStatus: fc.constantFrom(400 as const, 403 as const, 409 as const, 412 as const),
  duplicateStatus: fc.constantFrom(400 as const, 409 as const),
  pageSize: fc.integer({ min: 1, max: 75 }),
  paging: fc.constantFrom("pages" as const, "all" as const),
  unknownQuery: fc.constantFrom("refuse" as const, "ignore" as const),
  unknownFields: fc.constantFrom("keep" as const, "refuse" as const, "drop" as const),
  unknownReference: fc.constantFrom("refuse" as const, "accept" as const),
  staleModified: fc.constantFrom("ignore" as const, "refuse" as const),
  forms: fc.constantFrom("given" as const, "own" as const),
  channelRule: fc.constantFrom("account" as const, "any-client-application" as const),
  refusedCosts: fc.boolean(),
  retryAfter: fc.constantFrom("none" as const, "seconds" as const, "date" as const),
  tokenLifetime: fc.integer({ min: 600, max: 86_400 }),
});

const limits = fc.record({
  plan: fc.constantFrom("developer" as const, "basic" as const, "enterprise" as const),
  burst: fc.integer({ min: 1, max: 25 }),
});

test("every switch that was set at random is found out, and nothing is left behind", {
  timeout: 600_000,
}, async () => {
  const numRuns = Number(process.env.PROBE_RUNS ?? 12);
  await fc.assert(
    fc.asyncProperty(switches, limits, async (given, { plan, burst }) => {
      const tenant = await probing({ switches: given, plan, burst });
      const found = await tenant.findings();
      const { paging, pageSize, ...others } = given;
      expect(found.switches).toMatchObject(others);
      expect(found.switches.paging).toBe(paging);
      expect(found.switches.pageSize).toBe(paging === "pages" ? pageSize : undefined);
      expect(found.settings).toEqual({ put: given.put, plan, burst });
      expect(found.observed).toEqual({ listLagMs: 0 });
      expect(await tenant.left()).toEqual([]);
    }),
    { seed: 14, numRuns },
  );
});

const stamps = { created: "2024-05-01T10:00:00.000Z", modified: "2024-05-01T10:00:00.000Z" };

test("what others have made is not touched, whatever its name, and a channel that could not be removed is not made", async () => {
  const platformName = "acme";
  const switches = { channelRule: "any-client-application", platformName } as const;
  const tenant = await probing({ switches });
  const { on } = tenant;
  const made = await on.control.snapshot();
  const theirs = {
    id: "2c6b4e7a-5d13-4b0f-8e94-6d3f1a0c9b77",
    name: "pulumi-conversation-probe-0badcafe-1",
    roles: [
      {
        ...{ name: "acme_agent", version: "v3", callback: "https://x.example.com/" },
        notificationEmail: "a@b.example",
      },
    ],
    ...stamps,
  };
  await on.control.restore({ ...made, objects: { ...made.objects, clientapplications: [theirs] } });
  const found = await tenant.findings({ burst });
  expect(found.open.channelRule).toContain("the tenant has other client applications");
  expect(found.switches).toMatchObject({ platformName });
  expect(await tenant.left()).toEqual([theirs]);
  expect((await on.control.log()).some(({ template }) => template === "/channels")).toBe(false);
});

test.each([1, 5, 12, 30])(
  "no more than %d calls are made where no more are allowed",
  async (maxCalls) => {
    const tenant = await probing();
    const { on } = tenant;
    const found = await tenant.findings({ maxCalls });
    const { calls, tokensIssued } = await on.control.stats();
    const all = Object.values(calls).map(({ accepted, refused }) => accepted + refused);
    const made = all.reduce((sum, each) => sum + each, tokensIssued);
    expect(made).toBeLessThanOrEqual(maxCalls);
    expect(found.calls).toBe(made);
    expect(await tenant.left()).toEqual([]);
    if (maxCalls < 30) expect(found.open.inUseStatus).toContain(`--max-calls ${maxCalls}`);
  },
);

test("the life of a signed URL is found out on request", async () => {
  const tenant = await probing({ switches: { assetUrlLifetime: 123 } });
  const { on } = tenant;
  expect((await tenant.findings({ burst })).open.assetUrlLifetime).toContain("--assets");
  const made = await on.control.snapshot();
  const channel = {
    ...{ id: "2c6b4e7a-5d13-4b0f-8e94-6d3f1a0c9b77", type: "custom.web", displayName: "Web" },
    ...{ icon: "aVZCT1J3MEtHZ28=", ...stamps },
  };
  await on.control.restore({ ...made, objects: { ...made.objects, channels: [channel] } });
  const found = await tenant.findings({ burst, assets: true });
  expect(found.switches.assetUrlLifetime).toBe(123);
  expect((await on.control.snapshot()).assets).toEqual([]);
});

test("nothing is sent before somebody agrees, and the calls are announced first", async () => {
  const tenant = await probing();
  const { on } = tenant;
  for (const [name, value] of Object.entries(tenant.environment)) process.env[name] = value;
  onTestFinished(() => {
    for (const name of Object.keys(tenant.environment)) delete process.env[name];
  });
  const file = ["--out", join(tenant.folder, "f.json")];
  const { code, err, out } = await run("probe", ...file);
  expect(code).toBe(2);
  expect(err).toMatch(/^Probing http:.*:\nThe probe makes at most \d+ calls/);
  expect(err).toContain("To confirm, use --yes.");
  expect(out).toBe("");
  expect(await on.control.log()).toEqual([]);
  const agreed = await run("probe", "--yes", "--json", "--no-burst", ...file);
  expect(agreed.code).toBe(0);
  expect(findingsIn(agreed.out)).toMatchObject({ switches: { secrets: "mask", put: "replace" } });
  const readable = await run("probe", "--yes", "--no-burst", ...file);
  expect(readable.out).toMatch(/^Question +Answer\n-*/);
  const lines = (readable.out + readable.err)
    .split("\n")
    .filter((line) => !line.includes(tenant.folder));
  for (const line of lines) expect(line.length).toBeLessThanOrEqual(80);
});

test("settings and emulator take what was found out, where nothing else is said", async () => {
  const switches = { put: "keep", secrets: "omit", pageSize: 7 } as const;
  const tenant = await probing({ switches, plan: "basic", burst: 4 });
  const { on } = tenant;
  await tenant.findings();
  const findingsFile = join(tenant.folder, "findings.json");
  const read = (more: Record<string, string> = {}) =>
    readSettings({
      environment: { ...emulatorEnvironment(on), CONVERSATION_FINDINGS: findingsFile, ...more },
      config: () => undefined,
    });
  expect(read()).toMatchObject({ put: "keep", plan: "basic", burst: 4 });
  expect(read({ CONVERSATION_PUT: "replace" })).toMatchObject({ put: "replace", burst: 4 });
  expect(() => read({ CONVERSATION_BASE_URL: "https://other.example.com/v3" })).toThrow(
    /findings in .* belong to another tenant, "http:/,
  );
  expect(() => read({ CONVERSATION_FINDINGS: join(tenant.folder, "none.json") })).toThrow(
    "(ENOENT). To create the file, run: npx pulumi-conversation probe --out",
  );
  const text = readFileSync(findingsFile, "utf8");
  for (const [right, wrong, rule] of [
    ['"put": "keep"', '"put": "sometimes"', "put in the findings"],
    ['"plan": "basic"', '"plan": "gold"', "plan in the findings"],
    ['"burst": 4', '"burst": -1', "burst in the findings"],
  ] as const) {
    expect(text).toContain(right);
    writeFileSync(findingsFile, text.replaceAll(right, wrong));
    expect(read).toThrow(rule);
  }
  writeFileSync(findingsFile, text);
  const given = { switch: { pageSize: 9 }, like: findingsFile } as const;
  expect(likeTenant(given)).toMatchObject({
    plan: "basic",
    burst: 4,
    switch: { put: "keep", secrets: "omit", pageSize: 9 },
  });
  expect(likeTenant({ ...given, plan: "none" })).toMatchObject({ plan: "none" });
  expect(likeTenant({ ...given, plan: "none" })).not.toHaveProperty("burst");
  expect(() => likeTenant({ ...given, like: tenant.folder })).toThrow(
    /Could not read .* \(EISDIR\)/,
  );
});

class Killed extends Error {}

/** A network that is not the real one alone; it counts what is sent. */
const network = (
  send: (request: HttpRequest, sent: number, real: Transport) => Promise<HttpResponse>,
) => {
  const real = httpTransport();
  let sent = 0;
  const transport: Transport = {
    send: (request) => {
      sent += 1;
      return send(request, sent, real);
    },
    close: () => real.close(),
  };
  return { ...transport, sent: () => sent };
};

/** A network that is gone from one call on: before it reaches the tenant, or after. */
const killedAt = (call: number, after: boolean) =>
  network(async (request, sent, real) => {
    if (sent > call || (sent === call && !after)) throw new Killed();
    const answer = await real.send(request);
    if (sent === call) throw new Killed();
    return answer;
  });

test("killed at any call, before it acts or after, the next probe removes everything", {
  timeout: 600_000,
}, async () => {
  const tenant = await probing();
  const { on } = tenant;
  const whole = killedAt(Number.POSITIVE_INFINITY, true);
  await tenant.probe({ burst }, whole).ended;
  expect(whole.sent()).toBeGreaterThan(30);
  for (let call = 1; call <= whole.sent(); call += 1) {
    const first = tenant.probe({ burst }, killedAt(call, call % 2 === 0));
    await first.ended.catch(() => undefined);
    await tenant.probe({ burst, maxCalls: 1 }).ended;
    expect([call, await tenant.left()]).toEqual([call, []]);
  }
  expect(existsSync(journalFile(on.baseUrl, tenant.environment))).toBe(false);
});

test("a list that lags is measured, and what was made in it is removed all the same", async () => {
  const tenant = await probing();
  const { on } = tenant;
  const lists = { on: "GET /authentications", kind: "stale-list" } as const;
  await on.control.faults({ ...lists, ms: 1_200, times: 100 });
  const found = await tenant.findings({ burst });
  expect(found.observed.listLagMs).toBeGreaterThan(0);
  expect(await tenant.left()).toEqual([]);
});

test("a deletion that fails once is repeated; one that is always refused is reported, and done next time", async () => {
  const tenant = await probing();
  const { on } = tenant;
  const deletions = { on: "DELETE /authentications/{id}", kind: "status" } as const;
  await on.control.faults({ ...deletions, status: 503, times: 2 });
  await tenant.findings({ burst });
  expect(await tenant.left()).toEqual([]);
  await on.control.faults({ ...deletions, status: 403, times: 500 });
  const { ended } = tenant.probe({ burst });
  await expect(ended).rejects.toThrow(
    /left objects behind:\n {2}- authentication pulumi-conversation-probe-/,
  );
  await expect(ended).rejects.toThrow(/the tenant refused its deletion \(403\)/);
  await on.control.clearFaults();
  const { ended: next, written } = tenant.probe({ burst });
  await next;
  expect(written.err).toContain("Removed what an earlier probe left");
  expect(await tenant.left()).toEqual([]);
});

test.each([
  [401, 1],
  [429, 1],
  [401, 3],
  [429, 20],
  [408, 1],
])("a tenant that acts and then answers %i, %i times, is left as it was", async (status, times) => {
  const tenant = await probing();
  const { on } = tenant;
  for (const collection of ["authentications", "clientapplications", "participants", "channels"])
    await on.control.faults({
      on: `POST /${collection}`,
      kind: "status-after-commit",
      status,
      times,
    });
  await tenant.probe({ burst }).ended;
  expect(await tenant.left()).toEqual([]);
  expect(existsSync(journalFile(on.baseUrl, tenant.environment))).toBe(false);
});

test("a page in place of an answer is none: what it stood for is asked again, and nothing is left", async () => {
  const tenant = await probing();
  for (const every of [2, 3, 5, 7]) {
    const page = { status: 200, headers: {}, text: "<html>Please sign in</html>" };
    const transport = network(async (request, sent, real) =>
      request.url === tenant.on.tokenUrl || sent % every !== 0 ? real.send(request) : page,
    );
    const { ended } = tenant.probe({ burst }, transport);
    await expect(ended, `every ${every}`).resolves.toBeDefined();
    expect([every, await tenant.left()]).toEqual([every, []]);
  }
});

test("a 404 of something in front of the tenant removes nothing from the journal", async () => {
  const tenant = await probing();
  const page = { status: 404, headers: {}, text: "<html>Not found</html>" };
  const misrouted = (from: number) =>
    network(async (request, sent, real) =>
      request.url === tenant.on.tokenUrl || sent < from ? real.send(request) : page,
    );
  await expect(tenant.probe({ burst }, misrouted(12)).ended).rejects.toThrow("left objects behind");
  const left = await tenant.left();
  expect(left.length).toBeGreaterThan(0);
  await expect(tenant.probe({ clean: true }, misrouted(1)).ended).rejects.toThrow(
    "left objects behind",
  );
  expect(await tenant.left()).toEqual(left);
  await tenant.probe({ clean: true }).ended;
  expect(await tenant.left()).toEqual([]);
});

test("no object but the probe's own is removed, whatever id its journal has", async () => {
  const tenant = await probing();
  const file = journalFile(tenant.on.baseUrl, tenant.environment);
  await tenant.probe({ clean: true }).ended;
  const id = "2c6b4e7a-5d13-4b0f-8e94-6d3f1a0c9b77";
  const foreign = { id, type: "custom.foreign", displayName: "F", icon: "aVZC", ...stamps };
  const empty = await tenant.on.control.snapshot();
  await tenant.on.control.restore({ ...empty, objects: { ...empty.objects, channels: [foreign] } });
  const begun = { collection: "channels", name: "custom.pulumi-conversation-probe-x-1" };
  const saved = (given: string) =>
    writeFileSync(file, JSON.stringify({ baseUrl: "", objects: [{ ...begun, id: given }] }));
  saved(id);
  await tenant.probe({ clean: true }).ended;
  expect(await tenant.left()).toHaveLength(1);
  saved(`../channels/${id}`);
  await expect(tenant.probe({ clean: true }).ended).rejects.toThrow("Cannot read");
  expect(await tenant.left()).toHaveLength(1);
});

test("an interrupted probe removes what it has made, and says so", async () => {
  const tenant = await probing();
  let stop: () => void = () => undefined;
  const transport = network((request, sent, real) => {
    if (sent === 8) stop();
    return real.send(request);
  });
  const { ended, interrupt } = tenant.probe({}, transport);
  stop = interrupt;
  await expect(ended).rejects.toThrow(
    "Interrupted. The probe removed all objects that it created.",
  );
  expect(await tenant.left()).toEqual([]);
});

test("a tenant that asks for a long wait holds up nobody who interrupts the probe", async () => {
  const tenant = await probing();
  const { session, interrupt } = recordedSession();
  const throttled = network((request, sent, real) =>
    sent === 8
      ? Promise.resolve({ status: 429, headers: { "retry-after": "60" }, text: "" })
      : real.send(request),
  );
  const waiting = Promise.withResolvers<void>();
  const clock: Clock = {
    ...clockOf((ms) => tenant.on.advance(ms)),
    sleep: async (ms, signal) => {
      if (ms < 60_000) return tenant.on.advance(ms);
      waiting.resolve();
      await new Promise((_, reject) =>
        signal?.addEventListener("abort", () => reject(signal.reason), { once: true }),
      );
    },
  };
  const { out, environment: env, folder } = tenant;
  const ended = runProbe({ out, yes: true }, session, { clock, transport: throttled, env, folder });
  await waiting.promise;
  interrupt();
  await expect(ended).rejects.toMatchObject({ exitCode: 130 });
  expect(await tenant.left()).toEqual([]);
});

test("a tenant that falls silent holds up nobody who interrupts the probe", async () => {
  const tenant = await probing();
  const silence = network(
    ({ signal }) =>
      new Promise((_, reject) =>
        signal?.addEventListener("abort", () => reject(new TransportFailure(true, signal.reason))),
      ),
  );
  const transport = network((request, sent, real) =>
    sent < 8 ? real.send(request) : silence.send(request),
  );
  const { ended, interrupt } = tenant.probe({}, transport, 0);
  while (silence.sent() === 0) await new Promise(setImmediate);
  interrupt();
  await expect(ended).rejects.toThrow(/left objects behind:\n.*: the tenant did not respond/);
  // The first of the clean-up without an answer is the last call.
  expect(silence.sent()).toBe(2);
  await tenant.probe({ clean: true }).ended;
  expect(await tenant.left()).toEqual([]);
});

test("nothing is begun on a tenant that cannot be reached, nor recorded if it was never sent", async () => {
  const tenant = await probing();
  const journal = journalFile(tenant.on.baseUrl, tenant.environment);
  const refused = new TransportFailure(false, { code: "ECONNREFUSED" });
  const none = network(() => Promise.reject(refused));
  await expect(tenant.probe({ burst }, none).ended).rejects.toMatchObject({ code: "UNREACHABLE" });
  expect([none.sent(), existsSync(journal)]).toEqual([3, false]);
  const tokensOnly = network((request, _, real) =>
    request.url === tenant.on.tokenUrl ? real.send(request) : Promise.reject(refused),
  );
  await expect(tenant.probe({ burst }, tokensOnly).ended).resolves.toBeDefined();
  expect(existsSync(journal)).toBe(false);
});

/** Probes a tenant of these options, and makes sure that nothing of the probe is left. */
const found = async (options: OddTenantOptions): Promise<TenantFindings> => {
  const tenant = await oddTenant(options);
  const made = await tenant.findings({ burst });
  expect(tenant.left()).toEqual([]);
  return made;
};

const odd = fc.record({
  duplicateStatus: fc.constantFrom(400, 409, 422),
  inUseStatus: fc.constantFrom(400, 403, 409, 412, 423),
  pageSize: fc.integer({ min: 1, max: 4 }),
  whole: fc.boolean(),
  counted: fc.boolean(),
  tokenCalls: fc.constantFrom(0, 3, 7),
  throttledEvery: fc.constantFrom(0, 2, 5),
  secrets: fc.constantFrom("mask" as const, "echo" as const, "omit" as const, "scrambled" as const),
  put: fc.constantFrom("replace" as const, "keep" as const),
  closed: fc.subarray(["clientapplications", "participants", "channels"]),
  anyApplicationHolds: fc.boolean(),
  refusesModified: fc.boolean(),
});

test("whatever a tenant answers, findings are true, all else is open, and nothing is left", async () => {
  await fc.assert(
    fc.asyncProperty(odd, async (given) => {
      const { switches, observed, open } = await found(given);
      const all: Record<string, unknown> = { ...observed, ...switches };
      expect(all.duplicateStatus).toBe(given.duplicateStatus);
      expect(all.put).toBe(given.put);
      expect(all.secrets).toBe(given.secrets === "scrambled" ? undefined : given.secrets);
      expect(all.staleModified).toBe(given.refusesModified ? undefined : "ignore");
      expect(all.paging).toBe(given.whole ? "all" : given.counted ? "pages" : all.paging);
      expect([given.pageSize, undefined]).toContain(all.pageSize);
      expect(all).toMatchObject({ unknownFields: "keep", unknownQuery: "ignore" });
      expect(["given", undefined]).toContain(all.forms);
      expect(["accept", undefined]).toContain(all.unknownReference);
      const canHold = !given.closed.includes("clientapplications");
      expect(all.inUseStatus).toBe(canHold ? given.inUseStatus : undefined);
      const rule = given.anyApplicationHolds ? "any-client-application" : "account";
      expect([rule, undefined]).toContain(all.channelRule);
      const named = new Set([...Object.keys(all), ...Object.keys(open)]);
      expect(Object.keys(switchTable).filter((name) => !named.has(name))).toEqual([]);
    }),
    { seed: 14, numRuns: Number(process.env.PROBE_RUNS ?? 25) },
  );
});

test("a tenant that refuses every creation is not judged by its refusals", async () => {
  const all = ["authentications", "clientapplications", "participants", "channels"];
  const { switches, observed, open } = await found({ closed: all });
  expect({ ...switches, ...observed }).toEqual({ unknownQuery: "ignore", tokenLifetime: 100_000 });
  expect(open).toMatchObject({
    duplicateStatus: "the tenant returned 403",
    unknownFields: "the tenant returned 403",
    listLagMs: "the tenant returned 403",
  });
});

test("what no switch of an emulator can be set to is reported, and the file can be used", async () => {
  const { findings, out: like } = await oddTenant({ duplicateStatus: 422 });
  const { switches, observed } = await findings({ burst });
  expect(observed).toMatchObject({ duplicateStatus: 422, tokenLifetime: 100_000 });
  expect(switches).not.toHaveProperty("duplicateStatus");
  expect(likeTenant<LikeArguments>({ like }).switch).toEqual(switches);
  const spoiled = { ...JSON.parse(readFileSync(like, "utf8")), settings: { burst: -5 } };
  writeFileSync(like, JSON.stringify(spoiled));
  expect(() => likeTenant({ like })).toThrow("The emulator does not support the plan or the burst");
});

test("no more calls are made than announced, apart from new tokens and refusals for the rate", async () => {
  const tenant = await oddTenant({ tokenCalls: 6, throttledEvery: 5, lagLists: 2 });
  const { ended, written } = tenant.probe({ burst });
  await ended;
  const most = Number(/at most (\d+) calls/.exec(written.err)?.[1]);
  expect(tenant.counts.others).toBeLessThanOrEqual(most);
  expect(tenant.left()).toEqual([]);
});

test("a creation that was cut off is removed although lists show it late", async () => {
  const tenant = await oddTenant({ lagLists: 4 });
  let posts = 0;
  const cut = network(async (request, _, real) => {
    const answer = await real.send(request);
    if (request.method === "POST" && request.url.includes("/v3/")) posts += 1;
    if (posts >= 3) throw new Error("cut off");
    return answer;
  });
  await tenant.probe({ burst }, cut).ended.catch(() => undefined);
  expect(tenant.left().length).toBeGreaterThan(0);
  const { value } = await tenant.probe({ clean: true }).ended;
  expect(value).toEqual({ removed: expect.any(Number) });
  expect(value).not.toEqual({ removed: 0 });
  expect(tenant.left()).toEqual([]);
  const { text } = await tenant.probe({ clean: true }).ended;
  expect(text).toMatch(/^No objects from an earlier probe/);
});

test("a journal that cannot be read is refused before anything is sent, and stays", async () => {
  const { probe, environment, counts } = await oddTenant();
  await probe({ clean: true }).ended;
  const file = journalFile(environment.CONVERSATION_BASE_URL ?? "", environment);
  writeFileSync(file, '{"baseUrl": "x", "obj');
  const before = { ...counts };
  await expect(probe().ended).rejects.toThrow(/Cannot read .*then remove the file/);
  await expect(probe().ended).rejects.toThrow("Cannot read");
  expect(counts).toEqual(before);
  expect(existsSync(file)).toBe(true);
});

test("a file that cannot be written is refused before anything is sent", async () => {
  const { probe, folder, counts } = await oddTenant();
  const { ended } = probe({ out: join(folder, "nowhere", "f.json") });
  await expect(ended).rejects.toThrow("Nothing was sent. Specify another file");
  expect(counts).toEqual({ tokens: 0, throttled: 0, expired: 0, others: 0 });
});
