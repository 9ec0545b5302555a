import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import {
  type ImportOptions,
  importReport,
  runImport,
  runImportFile,
} from "../../cli/import/run-import.js";
import { undisclosed } from "../../provider/kernel/stand-ins.js";
import { typeToken } from "../../provider/pointer.js";
import { type OddAccount, oddAccount, oddCanary, oddId } from "../support/odd-account.js";
import { withMarkedChannel } from "./export/exported.js";
import { run } from "./session.js";
import { stackSandbox } from "./stack/stack-sandbox.js";

type Named = readonly [kind: string, name: string, id: string];

/** The commands that import, between an emulator that holds an account and a CLI with the state of a stack. */
const importSandbox = async ({
  objects = oddAccount(2),
  state = JSON.stringify({ version: 3, deployment: { resources: [] } }),
  ...options
}: NonNullable<Parameters<typeof stackSandbox>[0]> & {
  readonly objects?: OddAccount;
  readonly state?: string;
} = {}) => {
  const { control, stateFile, asked, options: place } = await stackSandbox(options);
  await control.control("PUT", "/snapshot", { version: 1, objects });
  writeFileSync(stateFile, state);
  return {
    control,
    imports: () => asked().filter((line) => line.startsWith("import")),
    import: (more: Partial<ImportOptions> = {}) => runImport({ ...place, ...more }),
    /** The import file of objects, each of kind, name and id. */
    file: (given: Named | readonly Named[], isByName = false) => {
      const all = typeof given[0] === "string" ? [given as Named] : (given as readonly Named[]);
      return runImportFile(
        all.map(([kind, name, id]) => ({ kind, name, id, isByName })),
        place,
      );
    },
  };
};

const ownership = (stack: string) => `shop/${stack}/0123456789abcdef`;

/** A state that holds one channel. */
const stateWith = (stack: string, id: string, name = "web"): string => {
  const urn = (kind: string, logical: string) =>
    `urn:pulumi:${stack}::shop::${typeToken(kind)}::${logical}`;
  const resources = [
    { urn: urn("Ownership", "ownership"), type: typeToken("Ownership"), id: ownership(stack) },
    { urn: urn("Channel", name), type: typeToken("Channel"), id, inputs: {}, outputs: {} },
  ];
  return JSON.stringify({ version: 3, deployment: { resources } });
};

describe("import", () => {
  test("shows what it would take over, and runs no import", async () => {
    const hub = await importSandbox();
    const result = await hub.import();
    expect(result).toMatchObject({ applied: false, names: { project: "shop", stack: "prod" } });
    expect(result.taken).toHaveLength(12);
    expect(hub.imports()).toEqual([]);
    const report = importReport(result);
    for (const line of report.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    expect(report).toContain(
      "Nothing was imported. To import these 12 objects into shop/prod, add --apply.",
    );
  });

  test("warns that up deletes what the program does not declare, and names the command for the code", async () => {
    const hub = await importSandbox();
    const result = { ...(await hub.import()), applied: true };
    const report = (more: Partial<typeof result>) =>
      importReport({ ...result, ...more }).replaceAll(/\s+/g, " ");
    expect(report({})).toContain("the next pulumi up, which would otherwise delete them");
    expect(report({})).toContain("To write the code, run: npx pulumi-conversation export --out");
    expect(report({ filled: {} })).not.toContain("delete them");
  });

  test("lists a few omitted objects, and counts more", async () => {
    const { taken, ...result } = await (await importSandbox()).import();
    const left = taken.map((each) => ({
      ...each,
      reason: "the state already contains the object",
    }));
    const report = (count: number) =>
      importReport({ ...result, taken, left: left.slice(0, count) });
    expect(report(3).match(/Omitted: /g)).toHaveLength(3);
    expect(report(4)).toContain("Omitted: 4 objects. To list them with the reasons, add --json.\n");
    expect(report(4)).not.toContain("already");
  });

  test.each([
    [
      "its own",
      { state: stateWith("prod", oddId(4, 0)) },
      "the state already contains the object: urn:pulumi:prod",
    ],
    [
      "another",
      { other: stateWith("other", oddId(4, 0)) },
      "the state of the stack other contains the object",
    ],
    [
      "a name",
      { state: stateWith("prod", oddId(4, 9), "custom-große-maß") },
      "the state contains another object under this name",
    ],
    [
      "a mark",
      { objects: withMarkedChannel(2, `${ownership("else")}/web`) },
      "the object carries the mark of another stack or state: shop/else web",
    ],
  ])(
    "refuses what a stack has already: %s; --skip-managed leaves it out",
    async (_, options, reason) => {
      const hub = await importSandbox(options);
      await expect(hub.import({ apply: true })).rejects.toThrow(reason);
      expect(hub.imports()).toEqual([]);
      const { taken, left } = await hub.import({ skipManaged: true });
      expect(taken).toHaveLength(11);
      expect(left).toMatchObject([{ reason: expect.stringContaining(reason) }]);
      expect((await hub.import({ exclude: ["Channel:*Größe*"] })).taken).toHaveLength(11);
      const include = [left[0]?.object.id ?? ""];
      const none = await hub.import({ include, skipManaged: true, apply: true });
      expect(none).toMatchObject({ applied: false, taken: [], left: [{}] });
      expect(importReport(none)).toContain("Nothing is left to import into shop/prod");
      expect(hub.imports()).toEqual([]);
    },
  );

  test("takes what this very stack has made and its state has lost", async () => {
    const hub = await importSandbox({
      objects: withMarkedChannel(2, `${ownership("prod")}/web`),
      state: stateWith("prod", oddId(4, 9), "else"),
    });
    expect((await hub.import()).taken).toHaveLength(12);
  });

  test("refuses a CLI that is too old, before the service is asked", async () => {
    const hub = await importSandbox({ version: "3.254.9" });
    await expect(hub.import()).rejects.toThrow(
      /The Pulumi version is 3\.254\.9, but the import requires 3\.255\.0 or later/,
    );
    expect(await hub.control.log()).toEqual([]);
    expect(JSON.parse(await hub.file(["Channel", "web", oddId(4, 0)]))).toHaveProperty("resources");
    const older = await importSandbox({ version: "3.200.0" });
    await expect(older.file(["Channel", "web", oddId(4, 0)])).rejects.toThrow(/requires 3\.254\.0/);
  });

  test("shows what Pulumi said if it fails", async () => {
    const hub = await importSandbox();
    await expect(hub.import({ apply: true })).rejects.toThrow(
      /The state contains what was imported so far[\s\S]*the disk is full/,
    );
  });

  test.each([
    "the stack is currently locked by 1 lock(s). Either wait for the other process(es) to end",
    "[409] Conflict: Another update is currently in progress.",
  ])("says that another run is at work where it began meanwhile: %s", async (refusal) => {
    const hub = await importSandbox({ refusal });
    await expect(hub.import({ apply: true })).rejects.toThrow(
      /^Nothing was imported: the stack shop\/prod is locked, so a run may be in progress/,
    );
  });

  test("an empty account leaves nothing to import", async () => {
    const hub = await importSandbox({ objects: {} });
    await expect(hub.import()).rejects.toThrow(/nothing to import/);
  });
});

describe("import --print", () => {
  test("is the import file of one object, without a secret and with one call", async () => {
    const hub = await importSandbox();
    await hub.control.control("PUT", "/switches", { secrets: "echo" });
    const text = await hub.file(["authentication", "desk", oddId(1, 0)]);
    expect(text).not.toContain(oddCanary);
    const { resources } = JSON.parse(text);
    expect(resources).toMatchObject([
      {
        type: typeToken("Ownership"),
        name: "ownership",
        id: expect.stringMatching(/^shop\/prod\/[0-9a-f]{16}$/),
      },
      { type: typeToken("Authentication"), name: "desk", id: oddId(1, 0) },
    ]);
    const [own, desk] = resources;
    expect(desk.inputs.owner).toBe(`${own.id}/desk`);
    expect(desk.inputs.basicAuth.password.plaintext).toBe(JSON.stringify(undisclosed));
    expect(desk.outputs.created).toBe("2024-01-01T00:00:00.000Z");
    const calls = (await hub.control.log()).map(({ method, template }) => `${method} ${template}`);
    expect(calls.filter((call) => call.startsWith("GET"))).toEqual(["GET /authentications/{id}"]);
  });

  test("uses the Ownership of the state", async () => {
    const hub = await importSandbox({ state: stateWith("prod", oddId(4, 9), "else") });
    const { resources } = JSON.parse(await hub.file(["Channel", "web", oddId(4, 0)]));
    expect(resources).toMatchObject([
      { name: "web", inputs: { owner: `${ownership("prod")}/web` } },
    ]);
  });

  test("finds an object by its name, and refuses where several have it", async () => {
    const hub = await importSandbox({ objects: oddAccount(4) });
    const { resources } = JSON.parse(await hub.file(["Account", "orders-bot", "orders-bot"], true));
    expect(resources[1].id).toBe(oddId(6, 2));
    const named = JSON.parse(await hub.file(["Channel", "web", "custom.orders-bot"], true));
    expect(named.resources[1].id).toBe(oddId(4, 2));
    await expect(hub.file(["Orchestration", "flow", "Orders"], true)).rejects.toThrow(
      /There is more than one/,
    );
    await expect(hub.file(["Account", "nobody", "nobody"], true)).rejects.toThrow(
      /There is no account with the name "nobody"/,
    );
    await expect(hub.file(["Account", "x", "f".repeat(36)])).rejects.toThrow(
      /There is no account with the ID/,
    );
  });

  test("refuses what a state has", async () => {
    const hub = await importSandbox({ state: stateWith("prod", oddId(4, 0)) });
    await expect(hub.file(["Channel", "other", oddId(4, 0)])).rejects.toThrow(
      /^Nothing was printed:\n.*the state already contains the object/,
    );
  });

  test("takes several objects at once, and refuses one that is named twice", async () => {
    const hub = await importSandbox({ objects: oddAccount(4) });
    const web = ["Channel", "web", oddId(4, 0)] as const;
    const { resources } = JSON.parse(await hub.file([web, ["Account", "shop", oddId(6, 2)]]));
    expect(resources.map(({ name, id }: { name: string; id: string }) => [name, id])).toEqual([
      ["ownership", expect.any(String)],
      ["web", oddId(4, 0)],
      ["shop", oddId(6, 2)],
    ]);
    for (const other of [
      ["Channel", "web", oddId(4, 1)] as const,
      ["Channel", "x", web[2]] as const,
    ])
      await expect(hub.file([web, other])).rejects.toThrow(
        "is specified twice. Specify it once. Nothing was printed.",
      );
  });

  test.each([
    [["--print", "Chanel", "web", "1"], "is not a kind"],
    [["--print", "Channel", "web"], "Specify the kind, name, and ID of each object"],
    [["--print"], "Specify the kind, name, and ID of each object"],
    [["--print", "Channel", "web", "1", "--apply"], "Specify either --print or --apply, not both."],
    [["Channel", "web", "1"], "require --print"],
    [["--out", "x.json"], "requires --print"],
  ])("%j is a wrong command line", async (args, message) => {
    const { code, err } = await run("import", ...args);
    expect(code).toBe(2);
    expect(err).toContain(message);
  });
});
