import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import type { Rehearsal } from "../../cli/rehearse/rehearsal-schema.js";
import { EngineEvents } from "../../cli/rehearse/run-on-copy.js";
import { type CliProject, cliProject, withoutPace } from "../support/cli-project.js";
import {
  accountProgram,
  collections,
  type DeclaredItem,
  seededChange,
  seedObstacles,
} from "../support/rehearsed-account.js";
import { listKeys } from "../support/specification.js";
import { type StrictService, startStrictService } from "../support/strict-service.js";

const rounds = Number(process.env.REHEARSE_ROUNDS ?? 1);
const seed = Number(
  process.env.REHEARSE_SEED ?? (process.env.REHEARSE_ROUNDS ? Date.now() % 2 ** 31 : 7),
);

interface Place {
  readonly strict: StrictService;
  readonly project: CliProject;
}

const open: Place[] = [];

afterEach(async () => {
  for (const { strict, project } of open.splice(0)) {
    project.remove();
    await strict.close();
  }
});

const openPlace = async (): Promise<Place> => {
  const strict = await startStrictService();
  const project = await cliProject(accountProgram, { ...strict.environment, ...withoutPace });
  const place = { strict, project };
  open.push(place);
  return place;
};

const spec = (items: readonly DeclaredItem[]) => ({ SPEC: JSON.stringify(items) });

const rehearse = async (
  { project }: Place,
  items: readonly DeclaredItem[],
  ...args: readonly string[]
): Promise<{ readonly code: number; readonly rehearsal: Rehearsal }> => {
  const { code, output, errors } = await project.tool(["rehearse", "--json", ...args], spec(items));
  if (output === "") throw new Error(errors);
  return { code, rehearsal: JSON.parse(output) };
};

/** The real run that follows, with the engine's own account of it. */
const realRun = async (
  { project }: Place,
  items: readonly DeclaredItem[],
  words: readonly string[] = ["up", "--yes", "--skip-preview"],
) => {
  const events = join(project.folder, "events.json");
  const started = performance.now();
  const { code, output } = await project.pulumi([...words, "--event-log", events], {
    ...spec(items),
    PULUMI_DEBUG_COMMANDS: "true",
  });
  const seconds = (performance.now() - started) / 1000;
  const engine = new EngineEvents();
  for (const line of readFileSync(events, "utf8").split("\n")) engine.take(line);
  return { code, output, seconds, engine };
};

const refusedUrns = ({ engine }: Awaited<ReturnType<typeof realRun>>): readonly string[] =>
  [
    ...new Set(
      engine.errors.flatMap(({ urn }) => (urn && !urn.includes("pulumi:pulumi:Stack") ? urn : [])),
    ),
  ].sort();

const objectsOf = ({ strict }: Place) =>
  Object.keys(listKeys)
    .flatMap((collection) => strict.objects(collection))
    .map(({ id }) => String(id));

/** A call with the id of an object that was there before; one that is made has another id in each run. */
const shownCall = (method: string, path: string, known: readonly string[]): string => {
  const [, collection, id] = path.split("/");
  if (id === undefined) return `${method} /${collection}`;
  return `${method} /${collection}/${known.includes(id) ? id : "new"}`;
};

/** Kinds of which every new object refers to a new one of the other kind: first the other has to be made. */
const madeBefore = (made: readonly DeclaredItem[]) =>
  (["app", "bot", "flow", "shop"] as const).flatMap((kind) =>
    (["auth", "app", "channel", "flow"] as const)
      .filter((other) => {
        const others = made.filter((item) => item.kind === other).map(({ name }) => name);
        const all = made.filter((item) => item.kind === kind);
        return (
          all.length > 0 && all.every(({ uses }) => uses.some((name) => others.includes(name)))
        );
      })
      .map((other) => [collections[other], collections[kind]] as const),
  );

/**
 * The calls of each object, whether what is made comes in the order in which it has to, and where deletions
 * begin. Steps that do not depend on each other begin in any order, in each real run too.
 */
const inOrder = (calls: readonly string[], pairs: ReturnType<typeof madeBefore>) => {
  const perObject = [...Map.groupBy(calls, (call) => call.replace(/^\w+ /, ""))];
  const first = (collection: string) => calls.indexOf(`POST /${collection}`);
  return {
    perObject: perObject.toSorted(([a], [b]) => (a < b ? -1 : 1)),
    outOfOrder: pairs.filter(
      ([before, after]) => first(before) < 0 || first(before) > first(after),
    ),
    deletions: calls.findIndex((call) => call.startsWith("DELETE")),
  };
};

test.each(
  fc.sample(seededChange, { numRuns: rounds, seed }).map((change, round) => ({ round, change })),
)(
  `a rehearsal foretells what a run comes to, call by call: round $round of seed ${seed}`,
  async ({ change }) => {
    const place = await openPlace();
    const { project, strict } = place;
    const first = await realRun(place, change.before);
    expect(first.code === 0 ? "" : first.output).toBe("");
    const wanted = seedObstacles(strict, change);
    const known = objectsOf(place);
    const state = project.state();
    const before = strict.calls.length;
    const { code, rehearsal } = await rehearse(place, wanted, "--parallel", "1");
    expect(strict.calls.slice(before).filter(({ method }) => method !== "GET")).toEqual([]);
    expect(project.state()).toBe(state);

    const { outcome } = rehearsal;
    const from = strict.calls.length;
    const foretold = outcome.refusals;
    const isPreview = foretold.some(({ operation }) => operation === "preview");
    const words = isPreview ? ["preview"] : ["up", "--yes", "--skip-preview", "--parallel", "1"];
    const real = await realRun(place, wanted, words);
    const detail = JSON.stringify({ change, foretold, output: real.output }, null, 1);
    expect(real.code === 0, detail).toBe(outcome.passes);
    expect(code === 3, detail).toBe(!outcome.passes);
    const refused = refusedUrns(real);
    const all = outcome.refusals.flatMap(({ urn }) => urn ?? []);
    expect(all, detail).toEqual(expect.arrayContaining([...refused]));
    // Of refusals that do not depend on each other any may come first: a run that goes on meets the others.
    const onlyReported = foretold
      .flatMap(({ urn }) => urn ?? [])
      .filter((urn) => !refused.includes(urn));
    if (onlyReported.length > 0) {
      const further = await realRun(place, wanted, [...words, "--continue-on-error"]);
      expect(refusedUrns(further), detail).toEqual(expect.arrayContaining([...onlyReported]));
    }
    for (const { message, urn } of real.engine.errors) {
      const planted = message.match(/00000000-0000-4000-8000-\d{12}/g) ?? [];
      const reported = JSON.stringify(outcome.refusals.filter((refusal) => refusal.urn === urn));
      for (const id of urn ? planted : []) expect(reported).toContain(id);
    }
    const made = strict.calls
      .slice(from)
      .map(({ method, path }) => shownCall(method, path.replace(/\?.*/, ""), known));
    const reported = outcome.calls.map((call) => {
      const [method = "", path = ""] = call.split(" ");
      return shownCall(method, path, known);
    });
    if (outcome.passes) {
      const created = outcome.steps.flatMap(({ operation, name }) =>
        operation === "create" ? name : [],
      );
      const pairs = madeBefore(wanted.filter(({ name }) => created.includes(name)));
      const asMade = inOrder(made, pairs);
      expect(asMade.outOfOrder, detail).toEqual([]);
      expect(inOrder(reported, pairs), detail).toEqual(asMade);
      expect(outcome.objects, detail).toBe(objectsOf(place).length);
    }
  },
);
