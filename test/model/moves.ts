import fc from "fast-check";
import { mostly } from "./histories.js";
import { type ModelResource, type Place, places, type StateEdit } from "./scenario.js";
import type { EngineUp } from "./stacks.js";
import { movedName, siblingOf } from "./state-edits.js";

/** Programs of two stacks whose resources change class, parent, name and stack, and edits of the states. */
export type MovingHistory = readonly (EngineUp | StateEdit)[];

/** What programs declare, each in any place of its kind; two of a kind differ by their names in the service. */
const things = [
  { kind: "kiosk", variant: 0 },
  { kind: "login", variant: 0 },
  { kind: "route", variant: 0 },
  { kind: "kiosk", variant: 1 },
] as const;

const seldom = <T>(freq: number, arbitrary: fc.Arbitrary<T>) =>
  fc.option(arbitrary, { nil: undefined, freq });

/** The next places of a thing, which stays where it is without any, and the places that its aliases name. */
const moveOf = ({ kind }: (typeof things)[number]) => {
  const place = fc.constantFrom(...places.filter((each) => each.includes(kind)));
  return fc.record({
    to: fc.oneof<fc.Arbitrary<readonly Place[] | undefined>[]>(
      fc.constantFrom(undefined, undefined, undefined, []),
      fc.tuple(place),
      fc.tuple(place),
      fc.tuple(place),
      fc.tuple(place, place),
    ),
    alias: mostly<"former" | "none" | "all">(3, "former", "none", "none", "all"),
    /** The account of a new resource, and of one whose replacement is forced. */
    profile: mostly<ModelResource["profile"]>(3, undefined, "far"),
  });
};

const moves = fc.tuple(...things.map(moveOf));

const stack = mostly<0 | 1>(3, 0, 1);

const run = fc.record({
  type: fc.constant("up" as const),
  ...{ stack, moves, version: fc.nat(1), preview: mostly(2, false, true) },
  only: seldom(
    6,
    fc.record({
      option: fc.constantFrom("target" as const, "exclude" as const),
      at: fc.array(fc.nat(5), { minLength: 1, maxLength: 2 }),
    }),
  ),
  forced: seldom(8, fc.nat(3)),
  deleteFirst: fc.boolean(),
  kept: seldom(
    5,
    fc.record({ at: fc.nat(3), by: fc.constantFrom("protect", "retainOnDelete", "ignoresAll") }),
  ),
  kill: seldom(5, fc.record({ call: fc.nat(9), acted: fc.boolean() })),
});

const edit = fc.record({
  type: fc.constantFrom<StateEdit["type"]>("rename", "move", "forget"),
  ...{ stack, at: fc.nat(3) },
  /** Whether the programs follow. */
  isKnown: fc.boolean(),
});

type Run = typeof run extends fc.Arbitrary<infer T> ? T : never;
type Edit = typeof edit extends fc.Arbitrary<infer T> ? T : never;

/** The places that each thing has in the programs of one stack. */
type Where = readonly (readonly Place[])[];

/** A resource of a program, and the places that its option `aliases` names. */
interface Declared extends ModelResource {
  /** Its place among the things. */
  readonly thing: number;
  readonly name: Place;
  readonly lines: readonly Place[];
}

const programOf = (where: Where, before: Where, past: Where, { moves, version }: Run) => {
  const declared = things.flatMap(({ variant }, thing) =>
    (where[thing] ?? []).map((name): Declared => {
      const { alias = "none" } = moves[thing] ?? {};
      const lines = { none: [], former: before[thing], all: past[thing] }[alias] ?? [];
      return { thing, name, variant, version, lines: lines.filter((each) => each !== name) };
    }),
  );
  return [...new Map(declared.map((each) => [each.name, each])).values()];
};

const at = <T>(list: readonly T[], place: number): T | undefined => list[place % list.length];

/** Forced in the run that changes its class, a resource is deleted by a process that cannot know of it. */
const forcedIn = (program: readonly Declared[], { forced }: Run): Declared | undefined => {
  const chosen = forced === undefined ? undefined : at(program, forced);
  return chosen?.lines.length === 0 ? chosen : undefined;
};

const upOf = (step: Run, program: readonly Declared[], before: readonly Place[]): EngineUp => {
  const keptAt = step.kept && at(program, step.kept.at);
  const known = [...program.map(({ name }) => name), ...before];
  const names = step.only?.at.flatMap((place) => at(known, place) ?? []) ?? [];
  const forced = forcedIn(program, step)?.name;
  return {
    ...{ type: "up", stack: step.stack, faults: [], kill: step.kill, preview: step.preview },
    program: program.map(({ lines: _, thing: __, ...each }) => ({
      ...each,
      ...(keptAt?.name === each.name && step.kept ? { [step.kept.by]: true } : {}),
    })),
    aliases: Object.fromEntries(program.map(({ name, lines }) => [name, lines])),
    force: forced ? [forced] : [],
    deleteFirst: step.deleteFirst,
    ...(step.only && names.length > 0 ? { only: { option: step.only.option, names } } : {}),
  };
};

const editedBy = (stacks: readonly Where[], { type, stack }: Edit, name: Place) => {
  const to = (type === "move" ? movedName(name) : siblingOf(name)) as Place;
  const target = type === "move" ? 1 - stack : stack;
  const thing = stacks[stack]?.findIndex((its) => its.includes(name));
  return stacks.map((where, place) =>
    where.map((its, of) => [
      ...its.filter((each) => place !== stack || each !== name),
      ...(place === target && of === thing ? [to] : []),
    ]),
  );
};

const nowhere: Where = things.map(() => []);

const historyOf = (plans: readonly (Run | Edit)[]): MovingHistory => {
  let stacks: readonly Where[] = [nowhere, nowhere];
  let past = nowhere;
  const accounts: (readonly ModelResource["profile"][])[] = [[], []];
  const steps: (EngineUp | StateEdit)[] = [];
  for (const plan of plans) {
    const before = stacks[plan.stack] ?? nowhere;
    if (plan.type === "up") {
      const where = before.map((its, thing) => plan.moves[thing]?.to ?? its);
      past = past.map((its, thing) => [...new Set([...(before[thing] ?? []), ...its])]);
      stacks = stacks.map((each, place) => (place === plan.stack ? where : each));
      const program = programOf(where, before, past, plan);
      const forced = forcedIn(program, plan)?.thing;
      const own = things.map((_, thing) =>
        thing === forced || before[thing]?.length === 0
          ? plan.moves[thing]?.profile
          : accounts[plan.stack]?.[thing],
      );
      accounts[plan.stack] = own;
      const placed = program.map((each) => ({ ...each, profile: own[each.thing] }));
      steps.push(upOf(plan, placed, before.flat()));
      continue;
    }
    const name = before.flat()[plan.at];
    if (!name) continue;
    if (plan.isKnown && plan.type !== "forget") stacks = editedBy(stacks, plan, name);
    if (plan.type === "move") accounts[1 - plan.stack] = accounts[plan.stack] ?? [];
    steps.push({ type: plan.type, stack: plan.stack, name });
  }
  return steps;
};

const quiet = {
  stack: 0,
  only: undefined,
  forced: undefined,
  kept: undefined,
  kill: undefined,
} as const;

/** @param most steps after the first one, at most */
export const movingHistory = (most: number): fc.Arbitrary<MovingHistory> => {
  const plan = fc.oneof(
    { weight: 6, arbitrary: run as fc.Arbitrary<Run | Edit> },
    { weight: 1, arbitrary: edit },
  );
  return fc
    .tuple(run, fc.array(plan, { minLength: 1, maxLength: most }))
    .map(([first, plans]) => historyOf([{ ...first, ...quiet }, ...plans]));
};

const [ofDynamic, ofPlugin] = ["dynamic kiosk1", "plugin kiosk1"] as const;

const upBy = (
  names: readonly Place[],
  {
    variant = 0,
    profile,
    ...more
  }: Partial<EngineUp> & Partial<Pick<ModelResource, "variant" | "profile">> = {},
): EngineUp => ({
  ...{ type: "up", stack: 0, faults: [], force: [], deleteFirst: false },
  program: names.map((name, place) => ({
    ...{ name, profile, version: 0 },
    variant: place === 0 ? variant : 0,
  })),
  ...more,
});

/** Moves that once lost an object, or may. */
export const movesByHand: readonly (readonly [title: string, history: MovingHistory])[] = [
  [
    "one of two resources goes to the plugin, and comes back without aliases",
    [
      upBy([ofDynamic, "dynamic login1"]),
      upBy([ofPlugin, "dynamic login1"], { aliases: { [ofPlugin]: [ofDynamic] } }),
      upBy([ofDynamic, "dynamic login1"], { preview: true }),
    ],
  ],
  [
    "a replacement that deletes first keeps the object that came from another class",
    [
      upBy([ofDynamic]),
      upBy([ofPlugin], { aliases: { [ofPlugin]: [ofDynamic] } }),
      upBy([ofPlugin], { force: [ofPlugin], deleteFirst: true }),
    ],
  ],
  [
    "a replacement that deletes first keeps the objects of a new name and another stack",
    [
      upBy([ofDynamic]),
      { type: "rename", stack: 0, name: ofDynamic },
      upBy(["dynamic kiosk2"], { force: ["dynamic kiosk2"], deleteFirst: true }),
      { type: "move", stack: 0, name: "dynamic kiosk2" },
      upBy(["dynamic kiosk2"], { stack: 1, force: ["dynamic kiosk2"], deleteFirst: true }),
    ],
  ],
  [
    "a resource of another class gets the name of one that stays, and goes again",
    [[], [ofPlugin], [ofPlugin], [ofPlugin], []].map((more) => upBy([ofDynamic, ...more])),
  ],
  [
    "new resources get the names of one that was renamed, and of one that moved to another stack",
    [
      upBy([ofDynamic]),
      { type: "rename", stack: 0, name: ofDynamic },
      upBy([ofDynamic, "dynamic kiosk2"], { variant: 1 }),
      { type: "move", stack: 0, name: "dynamic kiosk2" },
      upBy([ofDynamic, "dynamic kiosk2"], { variant: 1 }),
    ],
  ],
  [
    "a resource gets an object in another account, and comes back with one that deletes first",
    [
      upBy([ofDynamic]),
      upBy([ofDynamic], { profile: "far" }),
      upBy([ofDynamic], { profile: "far", force: [ofDynamic] }),
      upBy([ofDynamic], { force: [ofDynamic], deleteFirst: true }),
    ],
  ],
];
