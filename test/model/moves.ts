import fc from "fast-check";
import { type ModelResource, type Place, places, type StateEdit } from "./scenario.js";
import type { EngineUp } from "./stacks.js";
import { movedName, siblingOf } from "./state-edits.js";

/** The first value is the usual one, and the simplest. */
const often = <T>(weight: number, usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight, arbitrary: fc.constant(usual) },
    ...others.map((each) => ({ weight: 1, arbitrary: fc.constant(each) })),
  );

const seldom = <T>(freq: number, arbitrary: fc.Arbitrary<T>) =>
  fc.option(arbitrary, { nil: undefined, freq });

type How = "move" | "copy" | "drop" | "trade" | "hand over";

/** What the next program does with a resource of the last one, or with all. */
const change = fc.record({
  at: fc.oneof(
    { weight: 3, arbitrary: fc.nat(3) },
    { weight: 1, arbitrary: fc.constant("all" as const) },
  ),
  how: often<How>(6, "move", "copy", "drop", "trade", "hand over"),
  door: often<"dynamic" | "plugin" | "same">(2, "plugin", "dynamic", "dynamic", "same"),
  parent: often<"same" | "box " | "">(3, "same", "box ", ""),
  isRenamed: often(3, false, true),
  /** Whether it names where it was, and where it was before. */
  alias: often<"former" | "none" | "all">(3, "former", "none", "none", "all"),
});

const newcomer = fc.record({ name: fc.constantFrom(...places), variant: fc.nat(1) });

const stack = often<0 | 1>(3, 0, 1);

const run = fc.record({
  type: fc.constant("up" as const),
  stack,
  added: fc.array(newcomer, { maxLength: 1 }),
  changes: fc.array(change, { minLength: 1, maxLength: 3 }),
  version: fc.nat(1),
  preview: often(2, false, true),
  only: seldom(
    6,
    fc.record({
      option: fc.constantFrom("target" as const, "exclude" as const),
      at: fc.array(fc.nat(5), { minLength: 1, maxLength: 2 }),
    }),
  ),
  forced: seldom(8, fc.nat(3)),
  deleteFirst: fc.boolean(),
  kept: seldom(5, fc.record({ at: fc.nat(3), by: fc.constantFrom("protect", "retainOnDelete") })),
  kill: seldom(5, fc.record({ call: fc.nat(9), acted: fc.boolean() })),
});

const edit = fc.record({
  type: fc.constantFrom<StateEdit["type"]>("rename", "move", "forget"),
  stack,
  at: fc.nat(3),
  /** Whether the programs follow. */
  isKnown: fc.boolean(),
});

type Change = typeof change extends fc.Arbitrary<infer T> ? T : never;
type Run = typeof run extends fc.Arbitrary<infer T> ? T : never;
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

/** A resource of a program, and the places that its option `aliases` names. */
interface Declared extends ModelResource {
  readonly name: Place;
  readonly lines: readonly Place[];
}

type Program = readonly Declared[];

const placeOf = ({ name }: Declared, { door, parent, isRenamed }: Change): Place => {
  const [, own = "", inside = "", thing = ""] = /^(\S+) (box )?(\w+)$/.exec(name) ?? [];
  const [at, within] = [door === "same" ? own : door, parent === "same" ? inside : parent];
  const to = `${at} ${within}${thing}` as Place;
  return isRenamed ? ((siblingOf(to) as Place | undefined) ?? to) : to;
};

const linesOf = ({ name, lines }: Declared, { alias }: Change): readonly Place[] =>
  ({ none: [], former: [name], all: [name, ...lines] })[alias];

/** Both programs after a change of one of them. */
const changed = (
  programs: readonly Program[],
  at: 0 | 1,
  each: Declared,
  by: Change,
): readonly Program[] => {
  const to = placeOf(each, by);
  const moved = { ...each, name: to, lines: linesOf(each, by) };
  const program = programs[at] ?? [];
  const here = (now: Program) => programs.map((before, stack) => (stack === at ? now : before));
  const instead = (now: readonly Declared[]) =>
    here(program.flatMap((one) => (one === each ? now : one)));
  const taker = program.find(({ name }) => name === to);
  switch (by.how) {
    case "drop":
      return instead([]);
    case "trade":
      return instead([{ ...each, variant: 1 - each.variant }]);
    case "copy":
      return taker ? programs : here([...program, moved]);
    case "hand over": {
      const other = programs[1 - at] ?? [];
      if (other.some(({ name }) => name === to)) return programs;
      return programs.map((_, stack) =>
        stack === at ? program.filter((one) => one !== each) : [...other, { ...moved, lines: [] }],
      );
    }
    default: {
      if (to === each.name) return programs;
      // The two change places.
      const back = taker && { ...taker, name: each.name, lines: linesOf(taker, by) };
      return here(
        program.map((one) => (one === each ? moved : one === taker && back ? back : one)),
      );
    }
  }
};

const changedBy = (programs: readonly Program[], { stack, changes, added }: Run) => {
  let now = programs;
  for (const by of changes) {
    const program = now[stack] ?? [];
    const chosen =
      by.at === "all" ? program : program.slice(by.at % (program.length || 1)).slice(0, 1);
    for (const each of chosen) if (now[stack]?.includes(each)) now = changed(now, stack, each, by);
  }
  const fresh = added.filter(({ name }) => !now[stack]?.some((each) => each.name === name));
  return now.map((program, place) =>
    place === stack
      ? [...program, ...fresh.map((each) => ({ ...each, version: 0, lines: [] }))]
      : program,
  );
};

const upOf = (step: Run, program: Program, before: Program): EngineUp => {
  const at = <T>(list: readonly T[], place: number): T | undefined => list[place % list.length];
  const keptAt = step.kept && at(program, step.kept.at);
  const known = [...program, ...before].map(({ name }) => name);
  const names = step.only?.at.flatMap((place) => at(known, place) ?? []) ?? [];
  const chosen = step.forced === undefined ? undefined : at(program, step.forced);
  // Forced in the run that changes its class, a resource is deleted by a process that cannot know of it.
  const forced = chosen?.lines.length === 0 ? chosen.name : undefined;
  return {
    ...{ type: "up", stack: step.stack, faults: [], kill: step.kill, preview: step.preview },
    program: program.map(({ lines: _, ...each }) => ({
      ...{ ...each, version: step.version },
      ...(keptAt?.name === each.name && step.kept ? { [step.kept.by]: true } : {}),
    })),
    aliases: Object.fromEntries(program.map(({ name, lines }) => [name, lines])),
    force: forced ? [forced] : [],
    deleteFirst: step.deleteFirst,
    ...(step.only && names.length > 0 ? { only: { option: step.only.option, names } } : {}),
  };
};

const editedBy = (programs: readonly Program[], { type, stack, isKnown }: Edit, name: Place) => {
  if (!isKnown || type === "forget") return programs;
  const each = programs[stack]?.find((one) => one.name === name);
  const to = (type === "rename" ? siblingOf(name) : movedName(name)) as Place | undefined;
  const target = type === "move" ? 1 - stack : stack;
  if (!each || !to || programs[target]?.some((one) => one.name === to)) return programs;
  const without = programs.map((program) => program.filter((one) => one !== each));
  return without.map((program, place) =>
    place === target ? [...program, { ...each, name: to, lines: [] }] : program,
  );
};

/** Programs of two stacks whose resources change class, parent, name and stack, and edits of the states. */
export type MovingHistory = readonly (EngineUp | StateEdit)[];

/** A run of a program as it is. */
const still: Run = {
  ...{ type: "up", stack: 0, added: [], changes: [], version: 0, preview: false },
  ...{ only: undefined, forced: undefined, deleteFirst: false, kept: undefined, kill: undefined },
};

const historyOf = (start: readonly Declared[], plans: readonly (Run | Edit)[]): MovingHistory => {
  let programs: readonly Program[] = [start, []];
  const steps: (EngineUp | StateEdit)[] = [];
  for (const plan of [still, ...plans]) {
    const before = programs[plan.stack] ?? [];
    if (plan.type === "up") {
      programs = changedBy(programs, plan);
      steps.push(upOf(plan, programs[plan.stack] ?? [], before));
      continue;
    }
    const name = before[plan.at % before.length]?.name;
    if (!name) continue;
    programs = editedBy(programs, plan, name);
    steps.push({ type: plan.type, stack: plan.stack, name });
  }
  return steps;
};

/** @param most steps after the first one, at most */
export const movingHistory = (most: number): fc.Arbitrary<MovingHistory> =>
  fc
    .record({
      start: fc.uniqueArray(newcomer, { minLength: 1, maxLength: 3, selector: ({ name }) => name }),
      plans: fc.array(
        fc.oneof(
          { weight: 6, arbitrary: run as fc.Arbitrary<Run | Edit> },
          { weight: 1, arbitrary: edit },
        ),
        { minLength: 1, maxLength: most },
      ),
    })
    .map(({ start, plans }) =>
      historyOf(
        start.map((each) => ({ ...each, version: 0, lines: [] })),
        plans,
      ),
    );

const declared = (name: Place, variant = 0, ...lines: readonly Place[]): Declared => ({
  ...{ name, variant, version: 0, lines },
});

const runOf = (program: Program, preview = false): EngineUp =>
  upOf({ ...still, preview }, program, []);

const [ofDynamic, ofPlugin, login] = [
  declared("dynamic kiosk1"),
  declared("plugin kiosk1"),
  declared("dynamic login1"),
];
const renamed = [declared("dynamic kiosk1", 1), declared("dynamic kiosk2")];

/** Moves that once lost an object, or may. */
export const movesByHand: readonly (readonly [title: string, history: MovingHistory])[] = [
  [
    "one of two resources goes to the plugin, and comes back without aliases",
    [
      runOf([ofDynamic, login]),
      runOf([declared("plugin kiosk1", 0, "dynamic kiosk1"), login]),
      runOf([ofDynamic, login], true),
    ],
  ],
  [
    "a resource of another class gets the name of one that stays, and goes again",
    [runOf([ofDynamic]), ...[1, 2, 3].map(() => runOf([ofDynamic, ofPlugin])), runOf([ofDynamic])],
  ],
  [
    "new resources get the names of one that was renamed, and of one that moved to another stack",
    [
      runOf([ofDynamic]),
      { type: "rename", stack: 0, name: "dynamic kiosk1" },
      runOf(renamed),
      { type: "move", stack: 0, name: "dynamic kiosk2" },
      runOf(renamed),
    ],
  ],
];
