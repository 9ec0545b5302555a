import { writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ComparedAccount,
  type ComparedSide,
  comparedAccount,
} from "../../../cli/compare/compared-account.js";
import { comparison, runCompare, saveAccount } from "../../../cli/compare/comparison.js";
import { runExport } from "../../../cli/export/run-export.js";
import { setUpOrder } from "../../../provider/definition/fields.js";
import { resources } from "../../../provider/resources/index.js";
import { type StackSandbox, stackSandbox } from "../stack/stack-sandbox.js";

const seed = Number(process.env.COMPARE_SEED ?? 20_261_122);
const runs = Number(process.env.COMPARE_RUNS ?? 100);

/** One account in every form in which it can be compared. */
const sourcesOf = async (isGiven: () => boolean) => {
  const box = await stackSandbox();
  await box.upSamples(isGiven);
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
  await saveAccount("live", file("saved.json"), box.options);
  await runExport({ folder, env, out: "exported", toStack: "prod", split: "by-kind" });
  return {
    box,
    count: box.state.length - 1,
    sources: [
      ...["live", "stack:prod", "prod"],
      ...["saved.json", "snapshot.json", "clear.json", "sealed.json", "exported"].map(file),
      file("exported/import.json"),
    ],
  };
};

/** Where everything differs, everything is shown that can be. */
const showsNoSecret = async (box: StackSandbox, all: readonly ComparedAccount[]) => {
  const state = JSON.stringify(box.deployment());
  const secrets = [...state.matchAll(/"plaintext":"\\"(.{4,}?)\\""/g)].map(([, text]) => text);
  expect(secrets.length).toBeGreaterThan(0);
  await box.edit((objects) => {
    for (const object of Object.values(objects).flat()) object.active = object.active !== true;
  });
  const live = await comparedAccount("live", box.options);
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
    const all = await Promise.all(sources.map((source) => comparedAccount(source, box.options)));
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
          expect(found.notes.join().includes("a secret in it is encrypted")).toBe(isSealed);
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
  expect(await text(join(box.folder, "torn.json"))).toContain("is no saved account, no snapshot");
  expect(await text(box.folder)).toContain("import.json cannot be read");
  expect(await text("profile:nowhere")).toContain("CONVERSATION_NOWHERE_BASE_URL");
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
    const objects: ComparedSide[] = [];
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
const moved = (objects: readonly ComparedSide[], order: readonly number[]): ComparedSide[] => {
  const text = (value: unknown) => JSON.stringify(value).replaceAll(/"id-(\d+)"/g, '"other-$1"');
  return objects
    .map((each, at) => ({
      ...{ ...each, id: each.id.replace("id-", "other-"), at: order[at] ?? 0 },
      fields: JSON.parse(text(each.fields)),
    }))
    .sort((a, b) => a.at - b.at);
};

const order = fc.array(fc.nat(), { minLength: 12, maxLength: 12 });
const sides = (a: readonly ComparedSide[], b: readonly ComparedSide[]) =>
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
  const many = (title: string): ComparedSide[] =>
    resources
      .filter(({ kind }) => ["ClientApplication", "Participant"].includes(kind))
      .flatMap((definition) =>
        Array.from({ length: 500 }, (_, at): ComparedSide => {
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
