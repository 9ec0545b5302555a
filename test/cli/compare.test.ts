import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { compareReport, comparison, runCompare } from "../../cli/compare/comparison.js";
import { type ComparableObject, type ComparedSide, sideReader } from "../../cli/compare/sources.js";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { setUpOrder } from "../../provider/definition/kinds.js";
import { resources } from "../../provider/resources/index.js";
import { kindOf } from "../emulator/running.js";
import { withoutPace } from "../support/cli-project.js";
import { managedStack, type StackSandbox, stackSandbox } from "./inventory/stack-sandbox.js";
import { run } from "./session.js";

/** The same account twice, each with IDs of its own: one with a stack, and one of a profile. */
const twoAccounts = async () => {
  const [a, b] = [await stackSandbox(), await managedStack()];
  for (const stack of [a, b]) await stack.upForms(() => true);
  a.write();
  const ofB = Object.entries(emulatorEnvironment(b.control.emulator)).map(([name, value]) => [
    name.replace("CONVERSATION_", "CONVERSATION_OTHER_"),
    value,
  ]);
  const { folder, env } = a.options;
  const burst = { CONVERSATION_OTHER_BURST: withoutPace.CONVERSATION_BURST };
  return { a, b, options: { folder, env: { ...env, ...Object.fromEntries(ofB), ...burst } } };
};

test("two accounts with other ids and secrets and the same content are the same", async () => {
  const { a, options } = await twoAccounts();
  const found = await runCompare("live", "profile:other", options);
  expect(found).toMatchObject({ same: true, different: [], onlyInA: [], onlyInB: [] });
  expect(found.matched).toBe(a.state.length - 1);
});

test("what a program made secret is different without its values, whichever side it is on", async () => {
  const { a, b, options } = await twoAccounts();
  for (const field of ["displayName", "type"]) a.sealInState(field);
  a.write();
  await b.edit((objects) => {
    for (const channel of objects.channels ?? []) channel.displayName = "Other";
  });
  const sides = ["stack:prod", "profile:other"] as const;
  for (const [one, other] of [sides, sides.toReversed()]) {
    const { different } = await runCompare(String(one), String(other), options);
    expect(different.map(({ differences }) => differences)).toEqual([
      [{ path: "displayName", a: "[secret]", b: "[secret]" }],
    ]);
    expect(different.map(({ name }) => name)).toEqual(["[secret]"]);
  }
});

test("differences are shown field by field, references by where they lead", async () => {
  const { a, b, options } = await twoAccounts();
  const [web] = await b.control.objects("channels");
  await b.edit((objects) => {
    for (const channel of objects.channels ?? []) channel.displayName = "Other";
    objects.accounts = [];
  });
  await a.up("Channel", "more", { type: "custom.more", displayName: "More", icon: "aVZC" });
  for (const [stack, type] of [[a, "custom.a"] as const, [b, "custom.b"] as const])
    await stack.up("Channel", "desk", { type, displayName: "Desk", icon: "aVZC" });
  const found = await runCompare("live", "profile:other", options);
  expect(found).toMatchObject({
    same: false,
    different: [
      { idB: web?.id, differences: [{ path: "displayName", b: '"Other"' }] },
      { matchedBy: "logical name", differences: [{ path: "type", b: '"custom.b"' }] },
    ],
    onlyInB: [],
  });
  expect(found.onlyInA.map(({ kind }) => kind).sort()).toEqual(["Account", "Channel"]);
});

test("two stacks of one program are the same but for the ends of their automatic names", () => {
  const definition = kindOf("ClientApplication");
  const side = (title: string, logicalName: string, name: string) => ({
    ...{ definition, id: `${title}-${logicalName}`, logicalName, name, fields: { name } },
  });
  const account = (title: string, suffix: string, given: string, bot = "bot") => ({
    title,
    objects: [side(title, "bot", `${bot}-${suffix}`), side(title, "desk", given)],
    notes: [],
  });
  const [one, same] = [account("a", "0123abc", "Desk"), account("b", "fedcba9", "Desk")];
  expect(comparison(one, same)).toMatchObject({ same: true, matched: 2, different: [] });
  expect(comparison(one, { ...same, consistent: false })).toMatchObject({ same: false });
  expect(comparison(one, account("b", "fedcba9", "Desk", "robot")).different).toMatchObject([
    { differences: [{ path: "name", a: '"bot-0123abc"', b: '"robot-fedcba9"' }] },
  ]);
  expect(comparison(one, account("b", "fedcba9", "Counter")).different).toMatchObject([
    { matchedBy: "logical name", differences: [{ path: "name", a: '"Desk"', b: '"Counter"' }] },
  ]);
});

test.each([
  ["Café", "Cafe\u0301", 1],
  ["Desk", " Desk", 1],
  ["Desk", "Counter", 0],
  ["", "", 0],
])("without logical names, %j and %j are %i pair", (name, other, matched) => {
  const object = { definition: kindOf("ClientApplication"), id: "1", fields: {} };
  expect(sides([{ ...object, name }], [{ ...object, name: other }])).toMatchObject({ matched });
});

test.each([
  ["./nowhere.json", "nor an existing file"],
  ["prod", "it is neither live, stack:NAME, profile:NAME"],
  ["stack:", "the stack name is missing"],
  ["profile:", "the profile name is missing"],
  ["profile:nowhere", "CONVERSATION_NOWHERE_BASE_URL"],
  [__filename, "it is not the output of pulumi stack export"],
])("a side that is none is refused by name: %s", async (side, text) => {
  const { code, err } = await run("compare", side, "live");
  expect([code, err]).toEqual([1, expect.stringContaining(text)]);
});

test("the second side is refused before the first one is read", async () => {
  const { code, err } = await run("compare", "live", "prod");
  expect([code, err]).toEqual([1, expect.stringContaining("it is neither live, stack:NAME")]);
});

test("two sides are needed", async () => {
  expect(await run("compare", "live")).toMatchObject({ code: 1 });
});

test("what one side could not read is named, and nothing is said to be missing there", async () => {
  const { a, options } = await twoAccounts();
  for (const { kind, collection } of resources) {
    await a.control.control("DELETE", "/faults");
    await a.control.faults({ on: `GET /${collection}`, kind: "status", status: 403, times: 100 });
    for (const [one, other, side] of [
      ["live", "profile:other", "a"],
      ["profile:other", "live", "b"],
    ] as const) {
      const found = await runCompare(one, other, options);
      expect(found).toMatchObject({
        ...{ same: false, different: [], onlyInA: [], onlyInB: [] },
        unread: [{ side, kind }],
      });
      const report = compareReport(found);
      expect(report).toContain("No difference in the kinds that could be read");
      for (const line of report.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    }
  }
});

const seed = Number(process.env.COMPARE_SEED ?? 20_261_122);
const runs = Number(process.env.COMPARE_RUNS ?? 100);

/** One account in every form in which it can be compared. */
const sourcesOf = async (isGiven: () => boolean) => {
  const box = await stackSandbox();
  await box.upForms(isGiven);
  box.write();
  const file = (name: string): string => join(box.folder, name);
  const state = JSON.stringify({ version: 3, deployment: box.deployment() });
  writeFileSync(file("clear.json"), state);
  writeFileSync(file("sealed.json"), state.replaceAll('"plaintext":', '"ciphertext":'));
  const sources = ["live", "stack:prod", file("clear.json"), file("sealed.json")];
  return { box, count: box.state.length - 1, sources };
};

/** Where everything differs, everything is shown that can be. */
const showsNoSecret = async (box: StackSandbox, all: readonly ComparedSide[]) => {
  const state = JSON.stringify(box.deployment());
  const secrets = [...state.matchAll(/"plaintext":"\\"(.{4,}?)\\""/g)].map(([, text]) => text);
  expect(secrets.length).toBeGreaterThan(0);
  await box.edit((objects) => {
    for (const object of Object.values(objects).flat()) object.active = object.active !== true;
  });
  const live = await sideReader("live")(box.options);
  for (const side of all) {
    const shown = JSON.stringify(comparison(live, side));
    for (const secret of secrets) expect(shown).not.toContain(`"${secret}`);
  }
};

test.each([true, false])(
  "one account is the same in every form, whichever two are compared (all members: %s)",
  async (isGiven) => {
    const { box, count, sources } = await sourcesOf(() => isGiven);
    const before = await box.control.writes();
    const all = await Promise.all(sources.map((source) => sideReader(source)(box.options)));
    for (const a of all)
      for (const b of all) {
        const found = comparison(a, b);
        const { same, matched, different, onlyInA, onlyInB } = found;
        const titles = { a: a.title, b: b.title };
        expect({ ...titles, same, matched, different, onlyInA, onlyInB }).toEqual({
          ...{ ...titles, same: true, matched: count, different: [], onlyInA: [], onlyInB: [] },
        });
        const isSealed = [a, b].some(({ title }) => title.endsWith("sealed.json"));
        if (isGiven || !isSealed)
          expect(found.notes.join().includes("because of encryption")).toBe(isSealed);
      }
    expect(await box.control.writes()).toEqual(before);
    if (isGiven) await showsNoSecret(box, all);
  },
);

test("beside a stack, live is the account of that stack's configuration, whichever stack is selected", async () => {
  const box = await stackSandbox();
  await box.up("Channel", "web", { type: "custom.web", displayName: "Web", icon: "aVZC" });
  box.write();
  const { baseUrl, tokenUrl, clientId, clientSecret } = box.emulator;
  const config = Object.entries({ baseUrl, tokenUrl, clientId, clientSecret });
  const stored = config.map(([key, value]) => [`conversation:${key}`, { value, secret: false }]);
  writeFileSync(join(box.folder, "config.json"), JSON.stringify(Object.fromEntries(stored)));
  const { PATH, XDG_CACHE_HOME } = box.options.env;
  const options = { folder: box.folder, env: { ...withoutPace, PATH, XDG_CACHE_HOME } };
  expect(await runCompare("stack:prod", "live", options)).toMatchObject({ same: true, matched: 1 });
});

/** Objects of every kind with few names, so that many share one, and references among them. */
const account = fc
  .array(
    fc.record({
      kind: fc.constantFrom(...resources.map(({ kind }) => kind)),
      name: fc.constantFrom("flow", "Flöte", "🙂", "n-0123abc"),
      text: fc.constantFrom(...[{ description: "x" }, { description: "y" }, {}]),
      leads: fc.array(fc.nat(), { maxLength: 2 }),
    }),
    { maxLength: 12 },
  )
  .map((drawn) => {
    const objects: ComparableObject[] = [];
    for (const definition of setUpOrder(resources))
      for (const { kind, name, text, leads } of drawn) {
        if (kind !== definition.kind) continue;
        const targets = (of: string) =>
          objects.filter((each) => each.definition.kind === of).map(({ id }) => id);
        const chosen = (of: string): string[] => {
          const all = targets(of);
          const ids = leads.flatMap((at) => all[at % Math.max(1, all.length)] ?? []);
          return [...new Set(ids)];
        };
        const [application] = chosen("ClientApplication");
        const agents = chosen("ClientApplication");
        const fields = {
          ...{ ...text, [kind === "Channel" ? "type" : "name"]: name },
          ...(kind === "Participant" && application ? { application } : {}),
          ...(kind === "Orchestration" ? { applications: { agentConfiguration: { agents } } } : {}),
          ...(kind === "Account" ? { channel: chosen("Channel")[0] } : {}),
        };
        objects.push({ definition, id: `id-${objects.length}`, name, fields });
      }
    return objects;
  });

/** The same account with other ids, in another order. */
const moved = (
  objects: readonly ComparableObject[],
  order: readonly number[],
): ComparableObject[] => {
  const text = (value: unknown) => JSON.stringify(value).replaceAll(/"id-(\d+)"/g, '"other-$1"');
  return objects
    .map((each, at) => ({
      ...{ ...each, id: each.id.replace("id-", "other-"), at: order[at] ?? 0 },
      fields: JSON.parse(text(each.fields)),
    }))
    .sort((a, b) => a.at - b.at);
};

const order = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });
const sides = (a: readonly ComparableObject[], b: readonly ComparableObject[]) =>
  comparison({ title: "A", objects: a, notes: [] }, { title: "B", objects: b, notes: [] });

test("the order and the ids of objects do not count, though many have one name", () => {
  fc.assert(
    fc.property(account, order, (objects, at) => {
      const { same, matched, different } = sides(objects, moved(objects, at));
      expect({ same, matched, different }).toEqual({
        ...{ same: true, matched: objects.length, different: [] },
      });
    }),
    { seed, numRuns: runs },
  );
});

test("one object that is gone is the only difference, whichever has its name", () => {
  fc.assert(
    fc.property(account, order, fc.nat(), (objects, at, which) => {
      const referred = new Set(
        JSON.stringify(objects.map(({ fields }) => fields)).match(/id-\d+/g),
      );
      const free = objects.filter(({ id }) => !referred.has(id));
      const gone = free[which % Math.max(1, free.length)];
      if (!gone) return;
      const left = moved(objects, at).filter(({ id }) => id !== gone.id.replace("id-", "other-"));
      const { different, onlyInA, onlyInB } = sides(objects, left);
      expect({ different, onlyInB }).toEqual({ different: [], onlyInB: [] });
      expect(onlyInA).toMatchObject([{ kind: gone.definition.kind, name: gone.name }]);
    }),
    { seed, numRuns: runs },
  );
});
