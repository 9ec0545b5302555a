import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  compareReport,
  comparison,
  runCompare,
  saveAccount,
} from "../../cli/compare/comparison.js";
import { emulatorEnvironment } from "../../cli/emulator-settings.js";
import { runExport } from "../../cli/export/run-export.js";
import {
  type AccountSource,
  readAccountSource,
  type SourceObject,
} from "../../cli/inventory/account-source.js";
import { setUpOrder } from "../../provider/definition/kinds.js";
import { providerToken } from "../../provider/kernel/type-tokens.js";
import { resources } from "../../provider/resources/index.js";
import { kindOf } from "../emulator/running.js";
import { withoutPace } from "../support/cli-project.js";
import { temporaryFolder } from "../support/temporary-folder.js";
import {
  managedStack,
  pulumiSecret,
  type StackSandbox,
  stackSandbox,
} from "./inventory/stack-sandbox.js";
import { run } from "./session.js";

/** The same account twice, each with ids of its own. */
const twoAccounts = async () => {
  const [a, b] = [await managedStack(), await managedStack()];
  for (const stack of [a, b]) await stack.upForms(() => true);
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

test("differences are shown field by field, references by where they lead", async () => {
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
});

test("what is known by an automatic name, or by what it refers to, is found under another name", () => {
  const side = (kind: string, name: string, id: string, fields = {}) => ({
    ...{ definition: kindOf(kind), id, name, fields: { name, ...fields } },
  });
  const account = (title: string, suffix: string, flow: string) => ({
    title,
    objects: [
      side("ClientApplication", `app-${suffix}`, `${title}-1`),
      side("Orchestration", flow, `${title}-2`, {
        applications: { agentConfiguration: { agents: [`${title}-1`] } },
      }),
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

test("two stacks of one program are the same but for the ends of their automatic names", () => {
  const definition = kindOf("ClientApplication");
  const side = (title: string, logicalName: string, name: string) => ({
    ...{ definition, id: `${title}-${logicalName}`, logicalName, name, fields: { name } },
  });
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

test("sides that are none are refused by name", async () => {
  expect((await run("compare", "--nonsense")).code).toBe(1);
  expect((await run("compare", "./nowhere.json", "./elsewhere.json")).err).toContain(
    "no such file or folder",
  );
  for (const kind of ["stack", "profile"])
    expect((await run("compare", `${kind}:`, "live")).err).toContain(`the ${kind} name is missing`);
  expect(await run("compare", "live")).toMatchObject({ code: 1 });
});

test("what one side could not read is named, and nothing is said to be missing there", async () => {
  const { a, fileOf, options } = await twoAccounts();
  const whole = await fileOf(a, "a.json");
  for (const { kind, collection } of resources) {
    await a.control.control("DELETE", "/faults");
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
      expect(report).toContain("No difference in the kinds that could be read");
      for (const line of report.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    }
  }
});

test.each([
  [
    "stack:dev",
    "compare stack:dev live. To save one, run: npx pulumi-conversation compare stack:dev --save",
  ],
  ["live", "compare live stack:dev"],
  ["my account.json", "compare 'my account.json' live"],
])("%s alone is answered with a whole command line", async (side, line) => {
  const { code, err } = await run("compare", side);
  expect(code).toBe(1);
  expect(err).toContain(`Specify two accounts, for example: npx pulumi-conversation ${line}`);
});

const seed = Number(process.env.COMPARE_SEED ?? 20_261_122);
const runs = Number(process.env.COMPARE_RUNS ?? 100);

/** One account in every form in which it can be compared. */
const sourcesOf = async (isGiven: () => boolean) => {
  const box = await stackSandbox();
  await box.upForms(isGiven);
  box.write();
  // Without our marks its objects can be exported for another stack.
  await box.edit((objects) => {
    for (const object of Object.values(objects).flat()) {
      const written = String(object.description ?? "").replace(/\s?\[pulumi: [^\]]*\]$/, "");
      object.description = written || undefined;
    }
  });
  const file = (name: string): string => join(box.folder, name);
  const { folder, env } = box.options;
  const state = JSON.stringify({ version: 3, deployment: box.deployment() });
  writeFileSync(file("clear.json"), state);
  writeFileSync(file("sealed.json"), state.replaceAll('"plaintext":', '"ciphertext":'));
  writeFileSync(
    file("snapshot.json"),
    JSON.stringify(await box.control.control("GET", "/snapshot")),
  );
  const count = box.state.length - 1;
  const saved = await saveAccount("live", file("saved.json"), box.options);
  expect(saved).toEqual({ objects: count, notes: [] });
  await runExport({ folder, env, out: "exported" });
  return {
    box,
    count,
    sources: [
      ...["live", "stack:prod", "prod"],
      ...["saved.json", "snapshot.json", "clear.json", "sealed.json", "exported"].map(file),
      file("exported/import.json"),
    ],
  };
};

/** Where everything differs, everything is shown that can be. */
const showsNoSecret = async (box: StackSandbox, all: readonly AccountSource[]) => {
  const state = JSON.stringify(box.deployment());
  const secrets = [...state.matchAll(/"plaintext":"\\"(.{4,}?)\\""/g)].map(([, text]) => text);
  expect(secrets.length).toBeGreaterThan(0);
  await box.edit((objects) => {
    for (const object of Object.values(objects).flat()) object.active = object.active !== true;
  });
  const live = await readAccountSource("live", box.options);
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
    const all = await Promise.all(sources.map((source) => readAccountSource(source, box.options)));
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
          expect(found.notes.join().includes("because of encrypted secrets")).toBe(isSealed);
      }
    expect(await box.control.writes()).toEqual(before);
    if (isGiven) await showsNoSecret(box, all);
  },
);

test("a side that cannot be read is named, with what it may be", async () => {
  const box = await stackSandbox();
  box.write();
  const text = (side: string) => runCompare("live", side, box.options).then(String, String);
  writeFileSync(join(box.folder, "torn.json"), '{"version":3,"deplo');
  expect(await text(join(box.folder, "torn.json"))).toContain(
    "is not a saved account, an emulator snapshot",
  );
  expect(await text(box.folder)).toMatch(/Cannot read .*import\.json: /);
  expect(await text("profile:nowhere")).toContain("CONVERSATION_NOWHERE_BASE_URL");
});

test("beside a stack, live is every account that its objects are in, and each is compared with its own", async () => {
  const box = await stackSandbox();
  const far = await managedStack();
  const shown = (displayName: string) => ({ type: "custom.web", displayName, icon: "aVZC" });
  const near = await box.up("Channel", "near", shown("Near"));
  const id = await far.up("Channel", "far", shown("Far"));
  await far.up("Channel", "other", { ...shown("Other"), type: "custom.other" });
  const { baseUrl, tokenUrl, clientId, clientSecret } = far.emulator;
  const urn = `urn:pulumi:prod::shop::${providerToken}::us`;
  const provider = { provider: `${urn}::6d958bb4` };
  const inputs = { baseUrl, tokenUrl, clientId, clientSecret: pulumiSecret(clientSecret) };
  box.state.push({ urn, type: providerToken, id: "6d958bb4", inputs });
  box.state.push(...far.state.slice(1).map((each) => ({ ...each, ...provider })));
  box.write();
  const compare = () => runCompare("stack:prod", "live", box.options);
  expect(await compare()).toMatchObject({ same: true, matched: 3, b: "the account, provider us" });
  // One is gone, and the one of the same name elsewhere does not stand for it.
  await far.edit(({ channels = [] }) => void channels.shift());
  expect(await compare()).toMatchObject({
    ...{ matched: 2, onlyInA: [{ name: "custom.web", id }], onlyInB: [], different: [] },
  });
  const [live, prod] = ["live", "prod"];
  await box.edit(({ channels = [] }) => void Object.assign(channels[0] ?? {}, shown("Far")));
  expect(await runCompare(live, prod, box.options)).toMatchObject({
    ...{ onlyInA: [], onlyInB: [{ id }] },
    different: [{ idA: near, idB: near, differences: [{ path: "displayName" }] }],
  });
  // What cannot be read in one account hides nothing of another one.
  const refused = { on: "GET /channels", kind: "status", status: 403, times: 9 };
  await box.control.control("POST", "/faults", refused);
  expect(await compare()).toMatchObject({
    ...{ onlyInA: [{ id }], onlyInB: [], different: [], unread: [{ side: "b", kind: "Channel" }] },
  });
});

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
      text: fc.constantFrom("x", "y"),
      leads: fc.array(fc.nat(), { maxLength: 2 }),
    }),
    { maxLength: 12 },
  )
  .map((drawn) => {
    const objects: SourceObject[] = [];
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
          ...{ description: text, [kind === "Channel" ? "type" : "name"]: name },
          ...(kind === "Participant" && application ? { application } : {}),
          ...(kind === "Orchestration" ? { applications: { agentConfiguration: { agents } } } : {}),
          ...(kind === "Account" ? { channel: chosen("Channel")[0] } : {}),
        };
        objects.push({ definition, id: `id-${objects.length}`, name, fields });
      }
    return objects;
  });

/** The same account with other ids, in another order. */
const moved = (objects: readonly SourceObject[], order: readonly number[]): SourceObject[] => {
  const text = (value: unknown) => JSON.stringify(value).replaceAll(/"id-(\d+)"/g, '"other-$1"');
  return objects
    .map((each, at) => ({
      ...{ ...each, id: each.id.replace("id-", "other-"), at: order[at] ?? 0 },
      fields: JSON.parse(text(each.fields)),
    }))
    .sort((a, b) => a.at - b.at);
};

const order = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });
const sides = (a: readonly SourceObject[], b: readonly SourceObject[]) =>
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

test("a thousand objects under other names are compared by what they refer to", () => {
  const many = (title: string): SourceObject[] =>
    resources
      .filter(({ kind }) => ["ClientApplication", "Participant"].includes(kind))
      .flatMap((definition) =>
        Array.from({ length: 500 }, (_, at): SourceObject => {
          const name = definition.kind === "Participant" ? `${title}-${at}` : `app-${at}`;
          const application = `${title}-ClientApplication-${at}`;
          return {
            ...{ definition, id: `${title}-${definition.kind}-${at}`, name },
            fields: definition.kind === "Participant" ? { name, application } : { name },
          };
        }),
      );
  const found = sides(many("a"), many("b"));
  expect(found).toMatchObject({ matched: 1000, onlyInA: [], onlyInB: [] });
  expect(found.different).toHaveLength(500);
});
