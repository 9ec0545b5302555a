import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { comparison, runCompare, saveAccount } from "../../../cli/compare/comparison.js";
import { compareReport } from "../../../cli/compare/reports.js";
import { emulatorEnvironment } from "../../../cli/emulator-settings.js";
import { resources } from "../../../provider/resources/index.js";
import { withoutPace } from "../../support/cli-project.js";
import { managedStack } from "../drift/managed-stack.js";
import { run } from "../session.js";
import { temporaryFolder } from "../temporary-folder.js";

/** The same account twice, each with ids of its own. */
const twoAccounts = async () => {
  const [a, b] = [await managedStack(), await managedStack()];
  for (const stack of [a, b]) await stack.upSamples(() => true);
  const folder = temporaryFolder();
  const fileOf = async (stack: typeof a, name: string): Promise<string> => {
    const file = join(folder, name);
    writeFileSync(file, JSON.stringify(await stack.control.control("GET", "/snapshot")));
    return file;
  };
  const env = {
    ...emulatorEnvironment(a.control.emulator),
    ...withoutPace,
    PATH: "",
    XDG_CACHE_HOME: folder,
  };
  // Who compares reaches the first account.
  return { a, b, folder, fileOf, options: { env, folder } };
};

test("two accounts with other ids and secrets and the same content are the same", async () => {
  const { a, b, fileOf } = await twoAccounts();
  const found = await runCompare(await fileOf(a, "a.json"), await fileOf(b, "b.json"), {});
  expect(found).toMatchObject({ same: true, different: [], onlyInA: [], onlyInB: [] });
  expect(found.matched).toBe(a.state.length - 1);
});

test("a live account, its saved form and a snapshot of it are the same", async () => {
  const { a, folder, fileOf, options } = await twoAccounts();
  const saved = join(folder, "saved.json");
  expect(await saveAccount("live", saved, options)).toBe(a.state.length - 1);
  expect(await runCompare("live", saved, options)).toMatchObject({ same: true });
  expect(await runCompare(saved, await fileOf(a, "a.json"), options)).toMatchObject({ same: true });
});

test("what a program made secret is different without its values, whichever side it is on", async () => {
  const { a, b, folder, fileOf } = await twoAccounts();
  a.sealInState("displayName");
  const state = join(folder, "state.json");
  writeFileSync(state, JSON.stringify({ version: 3, deployment: { resources: a.state } }));
  await b.edit((objects) => {
    for (const channel of objects.channels ?? []) channel.displayName = "Other";
  });
  const live = await fileOf(b, "b.json");
  for (const sides of [[state, live] as const, [live, state] as const]) {
    const { different } = await runCompare(...sides, {});
    expect(different.map(({ differences }) => differences)).toEqual([
      [{ path: "displayName", a: "[secret]", b: "[secret]" }],
    ]);
  }
});

test("differences are told field by field, references by where they lead", async () => {
  const { a, b, fileOf } = await twoAccounts();
  const [web] = await b.control.objects("channels");
  await b.edit((objects) => {
    for (const channel of objects.channels ?? []) channel.displayName = "Other";
    objects.accounts = [];
  });
  await a.up("Channel", "more", { type: "custom.more", displayName: "More", icon: "aVZC" });
  const found = await runCompare(await fileOf(a, "a.json"), await fileOf(b, "b.json"), {});
  expect(found).toMatchObject({
    same: false,
    different: [{ idB: web?.id, differences: [{ path: "displayName", b: '"Other"' }] }],
    onlyInB: [],
  });
  expect(found.onlyInA.map(({ kind }) => kind).sort()).toEqual(["Account", "Channel"]);
  for (const line of compareReport(found).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
});

test("what is known by an automatic name, or by what it refers to, is found under another name", async () => {
  const side = (
    kind: string,
    name: string,
    id: string,
    fields: Record<string, unknown>,
    stack: Awaited<ReturnType<typeof managedStack>>,
  ) => {
    const definition = stack.definitions.find((each) => each.kind === kind);
    if (!definition) throw new Error(kind);
    return { definition, id, name, fields: { name, ...fields } };
  };
  const stack = await managedStack();
  const account = (title: string, suffix: string, flow: string) => ({
    title,
    objects: [
      side("ClientApplication", `app-${suffix}`, `${title}-1`, {}, stack),
      side(
        "Orchestration",
        flow,
        `${title}-2`,
        { applications: { agentConfiguration: { agents: [`${title}-1`] } } },
        stack,
      ),
    ],
    notes: [],
  });
  const found = comparison(account("a", "0123abc", "flow"), account("b", "fedcba9", "night"));
  expect(found.onlyInA).toEqual([]);
  expect(found.different).toMatchObject([
    {
      kind: "Orchestration",
      matchedBy: "references",
      differences: [{ path: "name", a: '"flow"', b: '"night"' }],
    },
  ]);
});

test("two stacks of one program are the same but for the ends of their automatic names", async () => {
  const { definitions } = await managedStack();
  const side = (title: string, logicalName: string, name: string) => {
    const definition = definitions.find(({ kind }) => kind === "ClientApplication");
    if (!definition) throw new Error("no such kind");
    return { definition, id: `${title}-${logicalName}`, logicalName, name, fields: { name } };
  };
  const account = (title: string, suffix: string, given: string) => ({
    title,
    objects: [side(title, "bot", `bot-${suffix}`), side(title, "desk", given)],
    notes: [],
  });
  const [one, same] = [account("a", "0123abc", "Desk"), account("b", "fedcba9", "Desk")];
  expect(comparison(one, same)).toMatchObject({ same: true, matched: 2, different: [] });
  expect(comparison(one, account("b", "fedcba9", "Counter")).different).toMatchObject([
    { matchedBy: "logical name", differences: [{ path: "name", a: '"Desk"', b: '"Counter"' }] },
  ]);
});

test("the help, exit codes and wrong sides", async () => {
  const { out } = await run("compare", "--help");
  expect(out).toContain("Exit code: 0 the same; 1 failed");
  expect((await run("compare", "--nonsense")).code).toBe(1);
  expect((await run("compare", "./nowhere.json", "./elsewhere.json")).err).toContain(
    "no file or folder",
  );
  for (const kind of ["stack", "profile"])
    expect((await run("compare", `${kind}:`, "live")).err).toContain(`names no ${kind}`);
  expect(await run("compare", "live")).toMatchObject({ code: 1 });
});

test.each(resources.map(({ kind, collection }) => ({ kind, collection })))(
  "what one side could not read is told, and nothing is said to be missing there: $kind",
  async ({ kind, collection }) => {
    const { a, fileOf, options } = await twoAccounts();
    const whole = await fileOf(a, "a.json");
    await a.control.faults({ on: `GET /${collection}`, kind: "status", status: 403, times: 100 });
    for (const [one, other, side] of [
      ["live", whole, "a"],
      [whole, "live", "b"],
    ] as const) {
      const found = await runCompare(one, other, options);
      expect(found).toMatchObject({
        ...{ same: false, different: [], onlyInA: [], onlyInB: [] },
        unread: [{ side, kind }],
      });
      const report = compareReport(found);
      expect(report).toContain("No difference as far as both could be read");
      for (const line of report.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    }
  },
);

test.each([
  [
    "stack:dev",
    "compare stack:dev live. To save one: pulumi-conversation compare stack:dev --save",
  ],
  ["live", "compare live stack:dev"],
  ["my account.json", "compare 'my account.json' live"],
])("%s alone is answered with a whole command line", async (side, line) => {
  const { code, err } = await run("compare", side);
  expect(code).toBe(1);
  expect(err).toContain(`Give two accounts, such as: pulumi-conversation ${line}`);
});
