import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type LikeArguments, likeTenant } from "../../cli/probe/probe-findings.js";
import { journalFile } from "../../cli/probe/probe-objects.js";
import { type ProbeOptions, runProbe } from "../../cli/probe/run-probe.js";
import { switchTable } from "../../emulator/service/switches.js";
import { httpTransport, type Transport } from "../../provider/service/http/transport.js";
import { findingsIn, type TenantFindings } from "../../provider/service/settings.js";
import { type OddTenant, type OddTenantOptions, startOddTenant } from "./odd-tenant.js";
import { recordedSession } from "./session.js";
import { temporaryFolder } from "./temporary-folder.js";

/** Waits take no time. */
const clock = () => {
  let now = 0;
  const sleep = async (ms: number): Promise<void> => {
    now += ms;
  };
  return { now: () => now, wall: () => Date.now() + now, sleep };
};

const probe = async (
  tenant: OddTenant,
  folder: string,
  more: Partial<ProbeOptions> = {},
  transport?: Transport,
) => {
  const { session, written } = recordedSession();
  const options = { out: join(folder, "f.json"), yes: true, burst: false, ...more } as const;
  const env = { ...tenant.environment, XDG_CACHE_HOME: folder };
  const parts = { env, folder, clock: clock(), ...(transport && { transport }) };
  return { ...(await runProbe(options, session, parts)), err: written.err };
};

const findings = async (tenant: OddTenant, folder = temporaryFolder()): Promise<TenantFindings> => {
  const { value } = await probe(tenant, folder);
  const found = findingsIn(JSON.stringify(value));
  if (!found) throw new Error("no findings");
  return found;
};

/** Probes a tenant of these options, and makes sure that nothing of the probe is left. */
const found = async (options: OddTenantOptions): Promise<TenantFindings> => {
  const tenant = await startOddTenant(options);
  try {
    const made = await findings(tenant);
    expect(tenant.left()).toEqual([]);
    return made;
  } finally {
    await tenant.close();
  }
};

const theirs = {
  id: "2c6b4e7a-5d13-4b0f-8e94-6d3f1a0c9b77",
  name: "pulumi-conversation-probe-0badcafe-1",
  roles: [{ name: "acme_agent", callback: "https://x.example.com/" }],
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

test("whatever a tenant answers, what is told is so, the rest is open, and nothing is left", async () => {
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
      expect(all.unknownFields).toBe("keep");
      const canHold = !given.closed.includes("clientapplications");
      expect(all.inUseStatus).toBe(canHold ? given.inUseStatus : undefined);
      const rule = given.anyApplicationHolds ? "any-client-application" : "account";
      expect([rule, undefined]).toContain(all.channelRule);
      const told = new Set([...Object.keys(all), ...Object.keys(open)]);
      expect(Object.keys(switchTable).filter((name) => !told.has(name))).toEqual([]);
    }),
    { seed: 14, numRuns: Number(process.env.PROBE_RUNS ?? 25) },
  );
});

test("a tenant that refuses every creation is not judged by its refusals", async () => {
  const all = ["authentications", "clientapplications", "participants", "channels"];
  const { switches, observed, open } = await found({ closed: all });
  expect({ ...switches, ...observed }).toEqual({ unknownQuery: "ignore", tokenLifetime: 100_000 });
  expect(open).toMatchObject({
    duplicateStatus: "the tenant answered 403",
    unknownFields: "the tenant answered 403",
    listLagMs: "the tenant answered 403",
  });
});

test("what lies outside of the positions of an emulator is told, and the file can be used", async () => {
  const tenant = await startOddTenant({ duplicateStatus: 422 });
  const folder = temporaryFolder();
  const { switches, observed } = await findings(tenant, folder);
  await tenant.close();
  expect(observed).toMatchObject({ duplicateStatus: 422, tokenLifetime: 100_000 });
  expect(switches).not.toHaveProperty("duplicateStatus");
  const like = join(folder, "f.json");
  expect(likeTenant<LikeArguments>({ like }).switch).toEqual(switches);
  const spoiled = { ...JSON.parse(readFileSync(like, "utf8")), settings: { burst: -5 } };
  writeFileSync(like, JSON.stringify(spoiled));
  expect(() => likeTenant({ like })).toThrow("none that an emulator knows");
});

test("objects of others with the same look stay, tell the platform's word and keep channels from being made", async () => {
  const foreign = { clientapplications: [theirs] };
  const { switches, open } = await found({ foreign, anyApplicationHolds: true });
  expect(switches.platformName).toBe("acme");
  expect(open.channelRule).toContain("the tenant has client applications of its own");
});

test("no more calls are made than were told, those for new tokens and the rate left aside", async () => {
  const tenant = await startOddTenant({ tokenCalls: 6, throttledEvery: 5, lagLists: 2 });
  const written = await probe(tenant, temporaryFolder());
  const told = Number(/at most (\d+) calls/.exec(written.err)?.[1]);
  expect(tenant.counts.others).toBeLessThanOrEqual(told);
  expect(tenant.left()).toEqual([]);
  await tenant.close();
});

test("a creation that was cut off is removed although lists show it late", async () => {
  const tenant = await startOddTenant({ lagLists: 4 });
  const folder = temporaryFolder();
  const real = httpTransport();
  let posts = 0;
  const cut: Transport = {
    send: async (request) => {
      const answer = await real.send(request);
      if (request.method === "POST" && request.url.includes("/v3/")) posts += 1;
      if (posts >= 3) throw new Error("cut off");
      return answer;
    },
    close: () => real.close(),
  };
  await probe(tenant, folder, {}, cut).catch(() => undefined);
  expect(tenant.left().length).toBeGreaterThan(0);
  const { value } = await probe(tenant, folder, { clean: true });
  expect(value).toEqual({ removed: expect.any(Number) });
  expect(value).not.toEqual({ removed: 0 });
  expect(tenant.left()).toEqual([]);
  expect((await probe(tenant, folder, { clean: true })).text).toMatch(
    /^Nothing of an earlier probe/,
  );
  await tenant.close();
});

test("a journal that cannot be read is told before anything is sent, and stays", async () => {
  const tenant = await startOddTenant();
  const folder = temporaryFolder();
  await probe(tenant, folder, { clean: true });
  const { CONVERSATION_BASE_URL: baseUrl = "" } = tenant.environment;
  const file = journalFile(baseUrl, { XDG_CACHE_HOME: folder });
  writeFileSync(file, '{"baseUrl": "x", "obj');
  const before = { ...tenant.counts };
  await expect(probe(tenant, folder)).rejects.toThrow(/cannot be read: .*remove them and then/);
  await expect(probe(tenant, folder)).rejects.toThrow("cannot be read");
  expect(tenant.counts).toEqual(before);
  expect(existsSync(file)).toBe(true);
  await tenant.close();
});

test("a file that cannot be written is told before anything is sent", async () => {
  const tenant = await startOddTenant();
  const folder = temporaryFolder();
  const out = join(folder, "nowhere", "f.json");
  await expect(probe(tenant, folder, { out })).rejects.toThrow("cannot be written. Nothing was");
  expect(tenant.counts).toEqual({ tokens: 0, throttled: 0, expired: 0, others: 0 });
  await tenant.close();
});
