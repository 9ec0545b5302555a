import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type ImportOptions, importReport, runImport } from "../../cli/import/run-import.js";
import { readSkeleton } from "../../cli/import/skeleton.js";
import { unknownValue } from "../../provider/kernel/stand-ins.js";
import { markFor, markOf, markText } from "../../provider/lifecycle/ownership/mark.js";
import { typeToken } from "../../provider/pointer.js";
import { inside } from "../support/inside.js";
import { type OddAccount, oddAccount, oddCanary, oddId } from "../support/odd-account.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import { run } from "./session.js";
import { stackSandbox } from "./stack/stack-sandbox.js";
import { ownershipOf } from "./stack-documents.js";

type Values = Readonly<Record<string, unknown>>;

/** A resource as the file of a preview names it, and as the program declares it. */
interface Declared {
  readonly entry: Values & { readonly type: string; readonly name: string };
  readonly inputs?: Values;
  /** Types of its parents in its URN. */
  readonly parents?: string;
  readonly op?: string;
}

const declared = (
  kind: string,
  name: string,
  inputs: Values,
  more: Values = {},
  parents = "",
): Declared => ({
  entry: { type: typeToken(kind), name, id: "<PLACEHOLDER>", ...more },
  inputs,
  parents,
});

const ofPlugin = ({ entry, ...rest }: Declared): Declared => ({
  ...rest,
  entry: { ...entry, type: entry.type.replace(typeToken(""), "conversation:index:") },
});

const urnOf = ({ entry, parents = "" }: Declared): string =>
  `urn:pulumi:prod::shop::${parents}${entry.type}::${entry.logicalName ?? entry.name}`;

/** A project whose program declares these, before an account. */
const sandbox = async (
  resources: readonly Declared[],
  {
    objects = oddAccount(4),
    state = "",
    ...more
  }: { objects?: OddAccount; state?: string } & Values = {},
) => {
  const hub = await stackSandbox(more);
  await hub.control.control("PUT", "/snapshot", { version: 1, objects });
  writeFileSync(
    hub.stateFile,
    state || JSON.stringify({ version: 3, deployment: { resources: [] } }),
  );
  const steps = resources.flatMap((each) =>
    each.inputs
      ? {
          op: each.op ?? "create",
          urn: urnOf(each),
          newState: { urn: urnOf(each), type: each.entry.type, inputs: each.inputs },
        }
      : [],
  );
  writeFileSync(join(hub.folder, "preview.json"), JSON.stringify({ steps, changeSummary: {} }));
  const file = join(hub.folder, "skeleton.json");
  const write = (skeleton: unknown) => writeFileSync(file, JSON.stringify(skeleton));
  write({ resources: resources.map(({ entry }) => entry) });
  return {
    ...{ ...hub, file, write },
    imports: () => hub.asked().filter((line) => line.startsWith("import")),
    import: (options: Partial<ImportOptions> = {}) =>
      runImport({ ...hub.options, file, ...options }),
  };
};

const web = declared("Channel", "web", { type: "custom.orders-bot" });
const bot = declared("ClientApplication", "bot", { name: "orders-bot" });
const nobody = declared("Account", "nobody", { name: "nobody" });
const flow = declared("Orchestration", "flow", { name: "Orders" });

type Filled = { readonly filled?: Values };

/** The resources of the filled file. */
const entriesIn = ({ filled = {} }: Filled) => filled.resources as readonly Values[];

const ids = (result: Filled) => entriesIn(result).map(({ name, id }) => [name, id]);

describe("import --file", () => {
  test("fills in the ids of the objects that have the names of the program", async () => {
    const hub = await sandbox([web, bot, nobody]);
    const result = await hub.import();
    expect(result.taken.map(({ object, logical }) => [logical, object.id])).toEqual([
      ["web", oddId(4, 2)],
      ["bot", oddId(2, 2)],
    ]);
    expect(result.skipped).toEqual([
      {
        type: typeToken("Account"),
        name: "nobody",
        reason: 'no account with the name "nobody" exists; pulumi up creates it',
      },
    ]);
    expect(ids(result)).toEqual([
      ["ownership", expect.stringMatching(/^shop\/prod\/[0-9a-f]{16}$/)],
      ["web", oddId(4, 2)],
      ["bot", oddId(2, 2)],
    ]);
    expect(JSON.stringify(result.filled)).not.toContain(oddCanary);
    const report = importReport(result);
    for (const line of report.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(report.replaceAll(/\s+/g, " ")).toContain("pulumi up creates it. Nothing was imported.");
    expect(hub.imports()).toEqual([]);
    const writes = (await hub.control.log()).filter(({ method }) => method !== "GET");
    expect(writes).toEqual([]);
  });

  test("an entry has what Pulumi needs: a dynamic one its values, one of the plugin its id alone", async () => {
    const hub = await sandbox([web, ofPlugin(bot)]);
    const [own, first, second] = entriesIn(await hub.import());
    expect(first).toMatchObject({
      inputs: {
        type: "custom.orders-bot",
        owner: `${own?.id}/web`,
        __provider: expect.any(String),
      },
      outputs: { displayName: "orders-bot" },
    });
    expect(second).toEqual({
      type: "conversation:index:ClientApplication",
      name: "bot",
      id: oddId(2, 2),
    });
    const plugin = await sandbox([ofPlugin(web)]);
    expect(ids(await plugin.import())).toEqual([["web", oddId(4, 2)]]);
  });

  test("below a component: owner and place follow from the parents, the component stays", async () => {
    const part = { type: "shop:index:Part", name: "part", component: true };
    const child = declared(
      "Channel",
      "webChannel",
      web.inputs ?? {},
      { parent: "part", logicalName: "web" },
      "shop:index:Part$",
    );
    const known = declared(
      "Account",
      "shop",
      { name: "orders-bot" },
      { parent: "old" },
      "shop:index:Old$",
    );
    const other = { entry: { type: "shop:index:Part", name: "else", component: true } };
    const hub = await sandbox([{ entry: part }, child, known, other]);
    const nameTable = { old: "urn:pulumi:prod::shop::shop:index:Old::old" };
    hub.write({ nameTable, resources: [part, child.entry, known.entry, other.entry] });
    const result = await hub.import();
    expect(result.filled?.nameTable).toEqual(nameTable);
    const [own, , channel, account] = entriesIn(result);
    expect([channel, account]).toMatchObject([
      { name: "webChannel", parent: "part", inputs: { owner: `${own?.id}/shop:index:Part$web` } },
      { name: "shop", parent: "old", inputs: { owner: `${own?.id}/shop:index:Old$shop` } },
    ]);
    expect(result.taken.map(({ logical }) => logical)).toEqual(["web", "shop"]);
    expect(ids(result).map(([name]) => name)).toEqual([
      "ownership",
      "part",
      "webChannel",
      "shop",
      "else",
    ]);
  });

  test("what is of others stays as it is, and what is not imported leaves the file", async () => {
    const foreign = {
      entry: {
        type: "random:index/randomPet:RandomPet",
        name: "pet",
        id: "<PLACEHOLDER>",
        version: "4.16.0",
      },
    };
    const smoke = declared("SmokeTest", "smoke", {});
    const child = declared(
      "Channel",
      "child",
      web.inputs ?? {},
      { parent: "pet" },
      `${foreign.entry.type}$`,
    );
    const part = (name: string, parent: string) => ({
      entry: { type: "conversation:index:Part", name, parent, component: true },
    });
    const parts = [part("below", "pet"), part("lost", "nobody")];
    const hub = await sandbox([foreign, smoke, child, bot, nobody, ...parts]);
    const result = await hub.import();
    expect(entriesIn(result)[1]).toEqual(foreign.entry);
    expect(ids(result).map(([name]) => name)).toEqual(["ownership", "pet", "bot", "below"]);
    expect(result.skipped?.map(({ name, reason }) => [name, reason.slice(0, 35)])).toEqual([
      ["pet", "no object in the account correspond"],
      ["smoke", "no object in the account correspond"],
      ["nobody", 'no account with the name "nobody" e'],
      ["child", "its parent is not imported"],
    ]);
  });

  test("one of several namesakes: by an id in the file, by its mark, else none", async () => {
    const hub = await sandbox([flow]);
    const lines = `${typeToken("Orchestration")} flow: there is more than one orchestration with the name "Orders": ${[0, 1, 2, 3].map((place) => oddId(5, place)).join(", ")}`;
    await expect(hub.import({ apply: true })).rejects.toThrow(lines);
    await expect(hub.import({ skipManaged: true })).rejects.toThrow(
      "Write the correct ID into the file",
    );
    hub.write({ resources: [{ ...flow.entry, id: oddId(5, 3) }] });
    expect((await hub.import()).taken[0]?.object.id).toBe(oddId(5, 3));
    hub.write({ resources: [{ ...flow.entry, id: "f".repeat(36) }] });
    await expect(hub.import()).rejects.toThrow("there is no orchestration with the ID ffff");
    const ownership = ownershipOf("prod");
    const mark = markFor(markOf("Orchestration", `${ownership}/flow`), "0tm9x2k4r7q", "Orders");
    const objects = oddAccount(4);
    const marked = await sandbox([flow], {
      objects: {
        ...objects,
        orchestrations: (objects.orchestrations ?? []).map((each, place) =>
          place === 2 ? { ...each, description: markText(mark) } : each,
        ),
      },
      state: JSON.stringify({
        version: 3,
        deployment: {
          resources: [
            {
              urn: `urn:pulumi:prod::shop::${typeToken("Ownership")}::ownership`,
              type: typeToken("Ownership"),
              id: ownership,
            },
          ],
        },
      }),
    });
    expect((await marked.import()).taken[0]?.object.id).toBe(oddId(5, 2));
  });

  test.each([
    ["a secret", "[secret]"],
    ["not known yet", `x-${unknownValue}`],
    ["missing", undefined],
  ])("a name that is %s is not guessed", async (_, type) => {
    const hub = await sandbox([declared("Channel", "web", { type })]);
    await expect(hub.import()).rejects.toThrow(
      /web: its type is a secret or is unknown until pulumi up/,
    );
  });

  test("two resources never get one object", async () => {
    const hub = await sandbox([web, declared("Channel", "other", web.inputs ?? {})]);
    await expect(hub.import()).rejects.toThrow(
      `other: web matches the same object, ${oddId(4, 2)}`,
    );
  });

  test("what the program does not create, or another account has, is left alone", async () => {
    const hub = await sandbox([
      { ...web, op: "update" },
      declared("Channel", "eu", { type: "custom.class", profile: "eu" }),
      declared("Channel", "own", { type: "custom.007" }, { provider: "explicit" }),
    ]);
    const result = await hub.import({ apply: true });
    expect(result).toMatchObject({ taken: [], applied: false, filled: { resources: [] } });
    expect(result.skipped?.map(({ reason }) => reason)).toEqual([
      "the program does not create the resource, or the state already contains it",
      "the resource is in another account: --profile eu",
      "its provider uses an account that the command does not read",
    ]);
    expect(importReport(result)).toContain("Nothing is left to import into shop/prod");
  });

  test("what a stack has is refused, and left out with --skip-managed", async () => {
    const urn = `urn:pulumi:other::shop::${typeToken("Channel")}::x`;
    const held = { urn, type: typeToken("Channel"), id: oddId(4, 2), inputs: {}, outputs: {} };
    const other = JSON.stringify({ version: 3, deployment: { resources: [held] } });
    const hub = await sandbox([web, bot], { other });
    await expect(hub.import()).rejects.toThrow(
      /^Nothing was imported:\n.*the state of the stack other contains the object.*\nRemove them from the file, or/,
    );
    const { taken, left } = await hub.import({ skipManaged: true });
    expect([taken.map(({ logical }) => logical), left.map(({ logical }) => logical)]).toEqual([
      ["bot"],
      ["web"],
    ]);
  });

  test("a kind that cannot be read proves nothing", async () => {
    const hub = await sandbox([nobody, web]);
    await hub.control.control("POST", "/faults", {
      on: "GET /accounts",
      kind: "status",
      status: 403,
      times: 9,
    });
    await expect(hub.import()).rejects.toThrow(/nobody: .*403/);
  });

  test("--apply hands Pulumi a file without secrets that nobody else reads, and takes it away", async () => {
    const foreign = {
      entry: { type: "random:index/randomPet:RandomPet", name: "pet", id: "<PLACEHOLDER>" },
    };
    const hub = await sandbox([foreign, web]);
    await expect(hub.import({ apply: true })).rejects.toThrow(
      /The state contains what was imported so far[\s\S]*the disk is full/,
    );
    const [line = ""] = hub.imports();
    const [, file = ""] =
      /^import --file (\S+) --generate-code=false --protect=false --yes/.exec(line) ?? [];
    expect(file).toContain("conversation-import-");
    expect(readdirSync(join(file, "..", "..")).some((name) => file.includes(`/${name}/`))).toBe(
      false,
    );
  });
});

describe("the file", () => {
  type Write = (path: string) => void;
  const text =
    (content: string): Write =>
    (path) =>
      writeFileSync(path, content);

  test.each([
    ["no JSON", text(oddCanary), /is not a Pulumi import file: it is not valid JSON(?!.*canary)/],
    ["a list", text("[]"), /the file: .*expected object/],
    ["an entry without a type", text('{"resources":[{"name":"x"}]}'), /resources\.0\.type: /],
    ["a wrong id", text('{"resources":[{"type":"a","name":"x","id":7}]}'), /resources\.0\.id: /],
    ["no file", () => undefined, /cannot be read: it must be a regular file/],
    ["a pipe", (path: string) => void execFileSync("mkfifo", [path]), /cannot be read/],
    ["too much", text(" ".repeat(17 * 2 ** 20)), /cannot be read/],
  ])("%s is refused, before anything is asked", (_, write, message) => {
    const path = join(temporaryFolder(), "skeleton.json");
    write(path);
    expect(() => readSkeleton(path)).toThrow(message);
    expect(() => readSkeleton(path)).toThrow(expect.objectContaining({ exitCode: 2 }));
  });

  const part = (name: string, parent: string) => ({ type: "a:b:C", name, parent, component: true });
  test.each([
    ["a parent that is missing", [part("x", "y")]],
    ["a circle", [part("x", "y"), part("y", "x")]],
    ["a parent that is there twice", [part("x", "y"), part("y", ""), part("y", "")]],
  ])("%s is refused", async (_, resources) => {
    const hub = await sandbox([]);
    hub.write({ resources });
    await expect(hub.import()).rejects.toThrow(
      /does not clearly identify the parent "[xy]" of [xy]/,
    );
  });

  test("a resource that is there twice is refused", async () => {
    const hub = await sandbox([web, web]);
    await expect(hub.import()).rejects.toThrow(`web: web matches the same object, ${oddId(4, 2)}`);
  });

  test("a name that every object has by itself is a parent like any other", async () => {
    const hub = await sandbox([]);
    writeFileSync(hub.file, '{"resources":[{"type":"a","name":"x","parent":"__proto__"}]}');
    await expect(hub.import()).rejects.toThrow(
      'does not clearly identify the parent "__proto__" of x',
    );
  });

  test.each([["--include", "Channel"], ["--with-secrets"], ["--print"]])(
    "--file with %s is a wrong command line",
    async (...more) => {
      const { code, err } = await run("import", "--file", "x.json", ...more);
      expect([code, err]).toEqual([
        2,
        expect.stringMatching(/Specify either --\S+ or --\S+, not both/),
      ]);
    },
  );

  test("what is written is the file with the ids, and how to go on", async () => {
    const hub = await sandbox([web]);
    await inside({ folder: hub.folder, env: { ...process.env, ...hub.options.env } }, async () => {
      const { code, out, err } = await run(
        "import",
        "--file",
        "skeleton.json",
        "--out",
        "filled.json",
        "--json",
      );
      expect([code, err]).toEqual([
        0,
        expect.stringContaining(
          "Wrote filled.json. To import it, run: pulumi import --file filled.json",
        ),
      ]);
      expect(JSON.parse(out)).toMatchObject({
        objects: [{ kind: "Channel", id: oddId(4, 2), name: "web" }],
        skipped: [],
      });
      expect(ids({ filled: JSON.parse(readFileSync("filled.json", "utf8")) })).toEqual([
        ["ownership", expect.any(String)],
        ["web", oddId(4, 2)],
      ]);
    });
  });
});
