import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, onTestFinished, test } from "vitest";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { likeTenant } from "../../cli/probe/probe-findings.js";
import { findingsIn, readSettings } from "../../provider/service/settings.js";
import { probing } from "./probing.js";
import { run } from "./session.js";

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
      try {
        const found = await tenant.findings();
        const { paging, pageSize, ...others } = given;
        expect(found.switches).toMatchObject(others);
        expect(found.switches.paging).toBe(paging);
        expect(found.switches.pageSize).toBe(paging === "pages" ? pageSize : undefined);
        expect(found.settings).toEqual({ put: given.put, plan, burst });
        expect(found.observed).toEqual({ listLagMs: 0 });
        expect(await tenant.left()).toEqual([]);
      } finally {
        await tenant.on.close();
      }
    }),
    { seed: 14, numRuns },
  );
});

test("what others have made is not touched, and a channel that could not be removed is not made", async () => {
  const tenant = await probing({ switches: { channelRule: "any-client-application" } });
  const { on } = tenant;
  const made = await on.control.snapshot();
  const theirs = {
    id: "2c6b4e7a-5d13-4b0f-8e94-6d3f1a0c9b77",
    name: "theirs",
    roles: [
      {
        name: "customer",
        version: "v3",
        callback: "https://x.example.com/",
        notificationEmail: "a@b.example",
      },
    ],
    created: "2024-05-01T10:00:00.000Z",
    modified: "2024-05-01T10:00:00.000Z",
  };
  await on.control.restore({ ...made, objects: { ...made.objects, clientapplications: [theirs] } });
  const found = await tenant.findings({ burst: false });
  expect(found.open.channelRule).toContain("the tenant has client applications of its own");
  expect(await tenant.left()).toEqual([theirs]);
  expect((await on.control.log()).some(({ template }) => template === "/channels")).toBe(false);
});

test.each([1, 5, 12, 30])(
  "no more than %d calls are made where no more are allowed",
  async (maxCalls) => {
    const tenant = await probing();
    const { on } = tenant;
    const found = await tenant.findings({ maxCalls });
    const { accepted, tokens } = await (async () => {
      const { calls, tokensIssued } = await on.control.stats();
      const all = Object.values(calls).reduce((sum, each) => sum + each.accepted + each.refused, 0);
      return { accepted: all, tokens: tokensIssued };
    })();
    expect(accepted + tokens).toBeLessThanOrEqual(maxCalls);
    expect(found.calls).toBe(accepted + tokens);
    expect(await tenant.left()).toEqual([]);
    if (maxCalls < 30) expect(found.open.inUseStatus).toContain(`--max-calls ${maxCalls}`);
  },
);

test("the life of a signed address is found out on request", async () => {
  const tenant = await probing({ switches: { assetUrlLifetime: 123 } });
  const { on } = tenant;
  expect((await tenant.findings({ burst: false })).open.assetUrlLifetime).toContain("--assets");
  const made = await on.control.snapshot();
  const channel = {
    id: "2c6b4e7a-5d13-4b0f-8e94-6d3f1a0c9b77",
    type: "custom.web",
    displayName: "Web",
    icon: "aVZCT1J3MEtHZ28=",
    created: "2024-05-01T10:00:00.000Z",
    modified: "2024-05-01T10:00:00.000Z",
  };
  await on.control.restore({ ...made, objects: { ...made.objects, channels: [channel] } });
  const found = await tenant.findings({ burst: false, assets: true });
  expect(found.switches.assetUrlLifetime).toBe(123);
  expect((await on.control.snapshot()).assets).toEqual([]);
});

test("nothing is sent before somebody agrees, and the calls are told first", async () => {
  const tenant = await probing();
  const { on } = tenant;
  for (const [name, value] of Object.entries(tenant.environment)) process.env[name] = value;
  onTestFinished(() => {
    for (const name of Object.keys(tenant.environment)) delete process.env[name];
  });
  const { code, err, out } = await run("probe", "--out", join(tenant.folder, "f.json"));
  expect(code).toBe(2);
  expect(err).toMatch(/^Probing http:.*:\nat most \d+ calls/);
  expect(err).toContain("Say --yes to agree.");
  expect(out).toBe("");
  expect(await on.control.log()).toEqual([]);
  const agreed = await run(
    "probe",
    "--yes",
    "--json",
    "--no-burst",
    "--out",
    join(tenant.folder, "f.json"),
  );
  expect(agreed.code).toBe(0);
  expect(findingsIn(agreed.out)).toMatchObject({ switches: { secrets: "mask", put: "replace" } });
  const readable = await run(
    "probe",
    "--yes",
    "--no-burst",
    "--out",
    join(tenant.folder, "f.json"),
  );
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
      environment: {
        ...emulatorEnvironment(on),
        CONVERSATION_FINDINGS: findingsFile,
        ...more,
      },
      config: () => undefined,
    });
  expect(read()).toMatchObject({ put: "keep", plan: "basic", burst: 4 });
  expect(read({ CONVERSATION_PUT: "replace" })).toMatchObject({ put: "replace", burst: 4 });
  expect(() => read({ CONVERSATION_BASE_URL: "https://other.example.com/v3" })).toThrow(
    /findings in .* are of another tenant, "http:/,
  );
  expect(() => read({ CONVERSATION_FINDINGS: join(tenant.folder, "none.json") })).toThrow(
    "could not be read (ENOENT). Write them with: pulumi-conversation probe --out",
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
  const given = {
    switch: { pageSize: 9 },
    like: findingsFile,
  } as const;
  expect(likeTenant(given)).toMatchObject({
    plan: "basic",
    burst: 4,
    switch: { put: "keep", secrets: "omit", pageSize: 9 },
  });
  expect(likeTenant({ ...given, plan: "none" })).toMatchObject({ plan: "none" });
  expect(likeTenant({ ...given, plan: "none" })).not.toHaveProperty("burst");
  expect(() => likeTenant({ ...given, like: tenant.folder })).toThrow(
    /could not be read \(EISDIR\)/,
  );
});
