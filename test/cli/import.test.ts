import { writeFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type ImportOptions, importReport, runImport } from "../../cli/import/run-import.js";
import { typeToken } from "../../provider/kernel/pulumi.js";
import { type OddAccount, oddAccount, oddId } from "../support/odd-account.js";
import { withMarkedChannel } from "./export/exported.js";
import { stackSandbox } from "./inventory/stack-sandbox.js";

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
  };
};

const ownership = (stack: string) => `shop/${stack}/0123456789abcdef`;

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
    const report = importReport(result).replaceAll(/\s+/g, " ");
    expect(report).toContain("the next pulumi up, which would otherwise delete them");
    expect(report).toContain("To write the code, run: npx pulumi-conversation export --out");
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
  ])("leaves out what a stack has already: %s", async (_, options, reason) => {
    const hub = await importSandbox(options);
    const { taken, left } = await hub.import();
    expect(taken).toHaveLength(11);
    expect(left).toMatchObject([{ reason: expect.stringContaining(reason) }]);
    expect((await hub.import({ exclude: ["custom.Größe*"] })).taken).toHaveLength(11);
    const include = [left[0]?.object.id ?? ""];
    const none = await hub.import({ include, apply: true });
    expect(none).toMatchObject({ applied: false, taken: [], left: [{}] });
    expect(importReport(none)).toContain("Nothing is left to import into shop/prod");
    expect(hub.imports()).toEqual([]);
  });

  test("takes what this very stack has made and its state has lost", async () => {
    const hub = await importSandbox({
      objects: withMarkedChannel(2, `${ownership("prod")}/web`),
      state: stateWith("prod", oddId(4, 9), "else"),
    });
    expect((await hub.import()).taken).toHaveLength(12);
  });

  test("what this very stack has made keeps its name, even if an older object has the same", async () => {
    const { channels = [], ...others } = withMarkedChannel(2, `${ownership("prod")}/custom-web`);
    const [own, other] = channels;
    const older = { ...other, type: "custom.web", created: "1960-01-01T00:00:00.000Z" };
    const hub = await importSandbox({
      objects: { ...others, channels: [own ?? {}, older] },
      state: stateWith("prod", oddId(4, 9), "else"),
    });
    const result = await hub.import();
    const { taken } = result;
    const nameAt = (id: unknown) => taken.find(({ object }) => object.id === id)?.logical;
    expect(nameAt(own?.id)).toBe("custom-web");
    expect(nameAt(other?.id)).toMatch(/^custom-web-[0-9a-f]{6}$/);
    // An export omits what has a mark.
    expect(importReport({ ...result, applied: true }).replaceAll(/\s+/g, " ")).toContain(
      "To write the code (except of what carries this stack's mark: 1), run: ",
    );
  });

  test("says that a stack which cannot be read may have what it takes", async () => {
    const hub = await importSandbox({ other: "torn" });
    const result = await hub.import();
    expect(result.notes).toEqual([expect.stringMatching(/^some stacks in the backend/)]);
    expect(importReport(result)).toContain("Not read: some stacks in the backend, which may");
  });

  test("shows what Pulumi said if it fails", async () => {
    const hub = await importSandbox();
    await expect(hub.import({ apply: true })).rejects.toThrow(
      /The state contains what was imported so far[\s\S]*the disk is full/,
    );
  });

  test("an empty account leaves nothing to import", async () => {
    const hub = await importSandbox({ objects: {} });
    expect(importReport(await hub.import({ apply: true }))).toContain(
      "Nothing is left to import into shop/prod. Nothing was changed.",
    );
  });
});
