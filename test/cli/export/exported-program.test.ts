import { join } from "node:path";
import fc from "fast-check";
import ts from "typescript";
import { expect, test } from "vitest";
import { objectInputs } from "../../../cli/account/object-inputs.js";
import { CommandFailure } from "../../../cli/command.js";
import {
  type ProgramSource,
  programSource,
  projectReadme,
} from "../../../cli/export/program-files.js";
import { type ProgramPlan, planProgram } from "../../../cli/export/program-plan.js";
import { importFileText } from "../../../cli/import/import-entries.js";
import { isObject } from "../../../provider/kernel/json.js";
import { lifecycle } from "../../../provider/lifecycle/index.js";
import { createRun } from "../../../provider/lifecycle/run.js";
import { resources } from "../../../provider/resources/index.js";
import { readSettings } from "../../../provider/service/settings.js";
import { oddCanary } from "../../support/odd-account.js";
import {
  type RandomAccount,
  randomAccount,
  randomSelection,
} from "../../support/random-account.js";
import { type ReadResource, readProgram } from "../../support/read-program.js";
import { virtualProgram } from "../../support/virtual-program.js";

type Json = Readonly<Record<string, unknown>>;

const settings = readSettings({
  environment: {
    CONVERSATION_BASE_URL: "https://hub.example.com/v3",
    CONVERSATION_TOKEN_URL: "https://hub.example.com/token",
    CONVERSATION_CLIENT_ID: "client",
    CONVERSATION_CLIENT_SECRET: "secret",
    CONVERSATION_PLATFORM_NAME: "acme",
  },
  config: () => undefined,
});

const inputsOf = (account: RandomAccount) =>
  resources.flatMap((definition) =>
    (account[definition.collection] ?? []).map((wire) =>
      objectInputs(definition, String(wire.id), { ...wire }, settings),
    ),
  );

const names = { project: "taken", stack: "prod" };
const ownership = "taken/prod/0123456789abcdef";

interface Exported {
  readonly plan: ProgramPlan;
  readonly source: ProgramSource;
  readonly entries: readonly Json[];
  readonly pages: string;
}

type Selection = Parameters<typeof planProgram>[1];

/** Undefined where the words mean nothing in the account. */
const exported = (
  account: RandomAccount,
  selection: Selection,
  split: "single" | "by-kind",
): Exported | undefined => {
  try {
    const plan = planProgram(inputsOf(account), selection);
    const source = programSource(plan, { split });
    const file = importFileText(plan.declared, { ownership }, names);
    const { secrets } = source;
    const page = projectReadme({ names, baseUrl: "x", plan, secrets, possible: [], notes: [] });
    return { plan, source, entries: JSON.parse(file).resources, pages: page + file };
  } catch (error) {
    if (error instanceof CommandFailure) return undefined;
    throw error;
  }
};

/** An entry's values as the engine gives them to the provider. */
const opened = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(opened);
  if (!isObject(value)) return value;
  if (typeof value.plaintext === "string") return JSON.parse(value.plaintext);
  return Object.fromEntries(Object.entries(value).map(([name, of]) => [name, opened(of)]));
};

const offlineRun = () =>
  createRun(
    async () => {
      throw new Error("a preview makes no call");
    },
    { settings: () => settings },
  );

/** What a preview after the import says of one resource. */
const changeOf = async (
  { kind, name, args }: ReadResource,
  entry: Json,
  idOf: (resource: ReadResource) => string,
  run: ReturnType<typeof offlineRun>,
): Promise<unknown> => {
  const definition = resources.find((each) => each.kind === kind);
  if (!definition) throw new Error(kind);
  const given = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(given);
    if (!isObject(value)) return value;
    if (isObject(value.args) && typeof value.kind === "string")
      return idOf({
        kind: value.kind,
        name: String(value.name),
        args: {},
        ...(typeof value.id === "string" ? { id: value.id } : {}),
      });
    return Object.fromEntries(Object.entries(value).map(([key, of]) => [key, given(of)]));
  };
  const values = Object(given(args));
  const news = {
    ...values,
    owner: `${ownership}/${name}`,
    __provider: "pointer",
  };
  const { check, diff } = lifecycle(definition, run);
  const olds = Object(opened(entry.inputs));
  const { failures, inputs } = await check(olds, news);
  if (failures.length > 0) return failures;
  return diff(String(entry.id), Object(opened(entry.outputs)), {
    ...inputs,
    __provider: "pointer",
  });
};

const resourceKey = ({ kind, name }: { kind: string; name: string }): string => `${kind} ${name}`;

const runs = Number(process.env.EXPORT_RUNS ?? 60);

test("whatever is chosen of whatever account: program and import file fit, and nothing changes", async () => {
  let count = 0;
  await fc.assert(
    fc.asyncProperty(
      randomAccount,
      randomSelection,
      fc.constantFrom("single" as const, "by-kind" as const),
      async (account, selection, split) => {
        const made = exported(account, selection, split);
        if (!made) return;
        const { plan, source, entries, pages } = made;
        expect([...source.files.values()].join() + pages).not.toContain(oddCanary);
        const read = readProgram(source.files);
        const declared = read.filter(({ id }) => id === undefined);
        const [first, ...objects] = entries;
        expect(declared.length === 0 ? first : first?.name).toBe(
          declared.length === 0 ? undefined : "ownership",
        );
        const byName = new Map(
          objects.map((entry) => [`${String(entry.type).split(":").at(-1)} ${entry.name}`, entry]),
        );
        expect(declared.map(resourceKey).toSorted()).toEqual([...byName.keys()].toSorted());
        const lookedUp = plan.lookedUp.map(({ object }) => object.id);
        expect(read.flatMap(({ id }) => id ?? []).toSorted()).toEqual(lookedUp.toSorted());
        const idOf = (resource: ReadResource) =>
          resource.id ?? String(byName.get(resourceKey(resource))?.id);
        const text = [...source.files.values()].join();
        for (const { object } of plan.declared) expect(text).not.toContain(`"${object.id}"`);
        const run = offlineRun();
        count += declared.length;
        for (const resource of declared) {
          const entry = byName.get(resourceKey(resource)) ?? {};
          expect({
            resource: resourceKey(resource),
            change: await changeOf(resource, entry, idOf, run),
          }).toEqual({
            resource: resourceKey(resource),
            change: { changes: false },
          });
        }
      },
    ),
    { numRuns: runs },
  );
  expect(count).toBeGreaterThan(runs);
});

test("every such program compiles", () => {
  const cases = fc.sample(fc.tuple(randomAccount, randomSelection), { numRuns: 40, seed: 7 });
  const files = new Map(
    cases.flatMap(([account, selection], at) => {
      const split = at % 2 === 0 ? "single" : "by-kind";
      const made = exported(account, selection, split);
      return [...(made?.source.files ?? [])].map(
        ([name, text]) => [join(__dirname, `case-${at}`, name), text] as const,
      );
    }),
  );
  expect(files.size).toBeGreaterThan(30);
  const program = virtualProgram(files);
  const errors = [...files.keys()].flatMap((file) =>
    [
      ...program.getSyntacticDiagnostics(program.getSourceFile(file)),
      ...program.getSemanticDiagnostics(program.getSourceFile(file)),
    ].map(({ messageText }) => `${file}: ${ts.flattenDiagnosticMessageText(messageText, " ")}`),
  );
  expect(errors).toEqual([]);
});
