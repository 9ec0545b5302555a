import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { exportReport } from "../../../cli/export/run-export.js";
import { writeNewFiles } from "../../../cli/new-folder.js";
import type { JsonObject as Json } from "../../../provider/kernel/json.js";
import { oddAccount, oddCanary, oddId } from "../../support/odd-account.js";
import { temporaryFolder } from "../../support/temporary-folder.js";
import { exportSandbox, withMarkedChannel } from "./exported.js";

test("two exports have the same files, and hold no secret", async () => {
  for (const secrets of ["echo", "mask", "omit"] as const) {
    const hub = await exportSandbox(oddAccount(), { secrets });
    await hub.export();
    const { "import.json": entries, ...one } = hub.files();
    await hub.export({ out: "elsewhere/shop" });
    expect(hub.files("elsewhere/shop")).toMatchObject(one);
    expect(entries).not.toContain(oddCanary);
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
  const hub = await exportSandbox(oddAccount(1));
  const { plan } = await hub.export();
  const undeclared = plan.declared.flatMap(({ object }) => object.undeclared ?? []);
  expect(undeclared).toEqual(
    expect.arrayContaining(["region", "tags", "later", "restrictions.outbound.shade"]),
  );
  const source = hub.files()["index.ts"] ?? "";
  expect(source).not.toMatch(/extra|region|shade|blue/);
  expect(source).not.toContain("active: true");
  expect(source).not.toMatch(/type: "basic"/);
  expect(source).toMatch(/outbound: \{\s+systemMessages: true,/);
  expect(source).toMatch(/features: \[\s+"attachments",\s+\],/);
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

  test.each([
    [["custom.*"], 3],
    [["orders-bot"], 4],
    [["client-application", "Participants"], 6],
    [["*"], 18],
    [["CLASS"], 0],
  ])("include %j", async (include, count) => {
    if (count === 0)
      await expect(labels({ include })).rejects.toThrow(/--include "CLASS" matches no kind/);
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

test("secrets that the service leaves out are named", async () => {
  const hub = await exportSandbox(oddAccount(2), { secrets: "omit" });
  const { source } = await hub.export();
  expect(source.secrets.map(({ path }) => path).toSorted()).toEqual([
    'attributes["provider key"]',
    "basicAuth.password",
    "oauth2.headers.X_Key",
    'oauth2.headers["X-Key"]',
    "oauth2.payload",
    'roles[custom_bot].headers["x-tenant"]',
  ]);
});

test("an empty account is a project without resources", async () => {
  const hub = await exportSandbox({});
  const { plan } = await hub.export();
  expect(plan.declared).toEqual([]);
  expect(JSON.parse(hub.files()["import.json"] ?? "")).toMatchObject({
    resources: [],
  });
});

test("a kind that may not be listed is named", async () => {
  const hub = await exportSandbox(oddAccount(2));
  await hub.control.faults({ on: "GET /authentications", kind: "forbidden-list" });
  const { notes } = await hub.export();
  expect(notes).toEqual([expect.stringMatching(/^authentications: .*scope/)]);
  expect(hub.files()["index.ts"]).toContain(`authentication: "${oddId(1, 0)}"`);
});

/** An account whose channels the stack other/prod has made. */
const managedChannels = () => withMarkedChannel(1, "other/prod/0123456789abcdef/Web_1");

test("an object with the mark of a stack is left out and reported; who refers to it looks it up", async () => {
  const hub = await exportSandbox(managedChannels());
  const result = await hub.export();
  const { plan } = result;
  expect(plan.skipped).toMatchObject([{ reason: expect.stringContaining("other/prod Web_1") }]);
  expect(plan.lookedUp.map(({ object }) => object.id)).toEqual([oddId(4, 0)]);
  const said = exportReport(result);
  expect(said.replaceAll(/\s+/g, " ")).toContain("carries a stack's mark: other/prod Web_1");
  for (const line of said.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("an account that is managed altogether is a project without resources, and says what to do", async () => {
  const { channels = [] } = managedChannels();
  const hub = await exportSandbox({ channels });
  const result = await hub.export();
  expect(JSON.parse(hub.files()["import.json"] ?? "").resources).toEqual([]);
  expect(hub.files()["README.md"]).toContain("There is nothing to import.");
  expect(hub.files()["README.md"]).not.toContain("pulumi import");
  expect(exportReport(result)).toContain("Declared: 0 objects.");
  expect(exportReport(result)).not.toContain("Next,");
  const { plan } = result;
  const skipped = Array.from({ length: 4 }, () => plan.skipped).flat();
  const report = exportReport({ ...result, plan: { ...plan, skipped } });
  expect(report).toContain("Omitted: 4 objects. To list them with the reasons, add --json.\n");
});

test.each([
  [
    "elsewhere",
    /elsewhere is not empty \(notes\.txt\)\. Nothing was written\. Specify a new folder with --out/,
  ],
  ["taken", /Cannot write to .*taken: ENOTDIR/],
])("is refused where others' files are in %s, before anything is read", async (out, refusal) => {
  const hub = await exportSandbox();
  writeFileSync(join(hub.folder, "elsewhere", "notes.txt"), "mine");
  writeFileSync(join(hub.folder, "taken"), "mine");
  await expect(hub.export({ out })).rejects.toThrow(refusal);
  expect(await hub.control.log()).toEqual([]);
});

test("a second export into a folder is refused, whatever was edited there; a repository may begin before the first", async () => {
  const hub = await exportSandbox();
  mkdirSync(join(hub.folder, "shop", ".git"), { recursive: true });
  await hub.export();
  const index = join(hub.folder, "shop", "index.ts");
  writeFileSync(index, "// mine\n");
  await expect(hub.export()).rejects.toThrow(/shop is not empty/);
  expect(readFileSync(index, "utf8")).toBe("// mine\n");
});

test.runIf(process.platform === "linux")(
  "a place where no folder can be made is refused, and the export ends",
  async () => {
    const hub = await exportSandbox();
    for (const out of ["/proc/none", "/proc/none/below/it", "/dev/fd/none"])
      await expect(hub.export({ out })).rejects.toThrow(/Cannot write to .*: (ENOENT|EACCES)/);
  },
);

test("a file that is there by now is not lost", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "README.md"), "mine");
  expect(() => writeNewFiles(folder, [{ path: "README.md", text: "two" }], "")).toThrow(/EEXIST/);
  expect(readFileSync(join(folder, "README.md"), "utf8")).toBe("mine");
});
