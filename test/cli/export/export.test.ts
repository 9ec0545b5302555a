import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { oddAccount, oddCanary, oddId } from "../../support/odd-account.js";
import { exportSandbox } from "./exported.js";

type Json = Record<string, unknown>;

const first = (account = oddAccount(1)) => account;

test("two exports are the same, byte for byte, and hold no secret", async () => {
  for (const secrets of ["echo", "mask", "omit"] as const) {
    const hub = await exportSandbox(oddAccount(), { secrets });
    await hub.export();
    const one = hub.files();
    await hub.export({ out: "elsewhere/shop" });
    expect(hub.files("elsewhere/shop")).toEqual(one);
    await hub.export();
    expect(hub.files()).toEqual(one);
    expect(JSON.stringify(one)).not.toContain(oddCanary);
  }
});

test("the lists are read once, nothing else is called, and nothing is written to the service", async () => {
  const hub = await exportSandbox(oddAccount(5));
  await hub.export();
  const calls = (await hub.control.log()).map(({ method, template }) => `${method} ${template}`);
  expect(calls.filter((call) => !call.includes("token")).toSorted()).toEqual([
    "GET /accounts",
    "GET /authentications",
    "GET /channels",
    "GET /clientapplications",
    "GET /orchestrations",
    "GET /participants",
  ]);
});

test("no id stands for an object that the program declares", async () => {
  const hub = await exportSandbox();
  await hub.export();
  expect(hub.files()["index.ts"]).not.toMatch(/-0000-4000-8000-/);
});

test("a program says what differs from the defaults, and nothing of what only the service knows", async () => {
  const hub = await exportSandbox(first());
  await hub.export();
  const source = hub.files()["index.ts"] ?? "";
  const page = hub.files()["README.md"] ?? "";
  expect(source).not.toMatch(/extra|region|shade|blue/);
  for (const name of ["region", "tags", "later", "restrictions.outbound.shade"])
    expect(page).toContain(`\`${name}\``);
  expect(source).not.toContain("active: true");
  expect(source).not.toMatch(/type: "basic"/);
  expect(source).toContain("outbound: {\n      systemMessages: true,");
  expect(source).toContain("features: [],");
});

test.each(["single", "by-kind"] as const)("the source is formatted: %s", async (split) => {
  const hub = await exportSandbox();
  const { texts } = await hub.export({ split });
  const folder = join(hub.folder, "shop");
  const formatter = { indentStyle: "space", lineWidth: 80 };
  writeFileSync(join(folder, "biome.json"), JSON.stringify({ root: true, formatter }));
  const biome = join(process.cwd(), "node_modules", "@biomejs", "biome", "bin", "biome");
  const sources = [...texts.keys()].filter((name) => name.endsWith(".ts"));
  expect(sources).toHaveLength(split === "single" ? 1 : 8);
  execFileSync(process.execPath, [biome, "format", ...sources], { cwd: folder, stdio: "pipe" });
});

describe("what is chosen", () => {
  const labels = async (options: Json) => {
    const hub = await exportSandbox(oddAccount(3));
    const { plan } = await hub.export(options);
    const shown = (list: typeof plan.declared) =>
      list.map(({ object: { definition, id } }) => `${definition.kind} ${Number(id.slice(-2))}`);
    return {
      declared: shown(plan.declared),
      lookedUp: shown(plan.lookedUp),
      source: hub.files()["index.ts"] ?? "",
    };
  };

  test("what is only referred to is looked up", async () => {
    const { declared, lookedUp, source } = await labels({
      include: ["accounts"],
      exclude: ["orders-bot"],
    });
    expect(declared).toEqual(["Account 0", "Account 1"]);
    expect(lookedUp.toSorted()).toEqual([
      "Channel 0",
      "Channel 1",
      "Orchestration 0",
      "Orchestration 1",
    ]);
    expect(source).toMatch(
      /Channel\.get\(\n? *"[^"]+",\n? *"44444444-0000-4000-8000-000000000000",?\n?\)/,
    );
    expect(source).not.toMatch(/new (Channel|Orchestration)/);
  });

  test("with dependencies they are declared, to the last one, but for what is excluded", async () => {
    const { declared, lookedUp } = await labels({
      include: [oddId(6, 2)],
      exclude: ["Authentication"],
      withDependencies: true,
    });
    expect(declared.filter((label) => !label.startsWith("Client"))).toEqual([
      "Participant 2",
      "Channel 2",
      "Orchestration 2",
      "Account 2",
    ]);
    expect(lookedUp.every((label) => label.startsWith("Authentication"))).toBe(true);
  });

  test.each([
    [["Channel:custom.*"], 3],
    [["orders-bot"], 4],
    [["client-application", "Participants"], 6],
    [["*"], 18],
    [["CLASS"], 0],
  ])("include %j", async (include, count) => {
    if (count === 0)
      await expect(labels({ include })).rejects.toThrow(/--include "CLASS" is no kind/);
    else expect((await labels({ include })).declared).toHaveLength(count);
  });

  test("names do not depend on what is chosen", async () => {
    const whole = await labels({});
    const part = await labels({ include: ["Account"] });
    const name = /new Account\(\s*"([^"]+)"/g;
    expect([...part.source.matchAll(name)].map(([, text]) => text)).toEqual(
      [...whole.source.matchAll(name)].map(([, text]) => text),
    );
  });
});

test("secrets that the service leaves out are named as far as they may be there", async () => {
  const hub = await exportSandbox(oddAccount(2), { secrets: "omit" });
  const { possible, source } = await hub.export();
  expect(possible.map(({ path }) => path)).toEqual(["oauth2.payload"]);
  expect(source.secrets.map(({ path }) => path).toSorted()).toEqual([
    'attributes["provider key"]',
    "basicAuth.password",
    "oauth2.headers.X_Key",
    'oauth2.headers["X-Key"]',
    'roles[custom_bot].headers["x-tenant"]',
  ]);
  const shown = await exportSandbox(oddAccount(2), { secrets: "mask" });
  expect((await shown.export()).possible).toEqual([]);
});

test("an empty account is a project without resources", async () => {
  const hub = await exportSandbox({});
  const { plan } = await hub.export();
  expect(plan.declared).toEqual([]);
  expect(JSON.parse(hub.files()["import.json"] ?? "")).toMatchObject({
    resources: [],
  });
});

test("a kind that may not be listed is told in the README", async () => {
  const hub = await exportSandbox(oddAccount(2));
  await hub.control.faults({ on: "GET /authentications", kind: "forbidden-list" });
  const { notes } = await hub.export();
  expect(notes).toEqual([expect.stringMatching(/^authentications: .*scope/)]);
  expect(hub.files()["README.md"]).toContain("## Not read");
  expect(hub.files()["index.ts"]).toContain(`authentication: "${oddId(1, 0)}"`);
});
