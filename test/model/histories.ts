import fc from "fast-check";
import {
  type Adoption,
  type ByHand,
  type CallFault,
  type Hooks,
  type ModelResource,
  type ModelSetting,
  type ModelStep,
  modelResources,
  type Name,
  names,
  type Scenario,
  type StateEdit,
  texts,
  type Up,
} from "./scenario.js";

const name = fc.constantFrom(...names);
const stack = fc.constantFrom<0 | 1>(0, 0, 0, 1);

/** The first value is the usual one, and the simplest. */
export const mostly = <T>(weight: number, usual: T, ...others: readonly T[]): fc.Arbitrary<T> =>
  fc.oneof(
    { withCrossShrink: true },
    { weight, arbitrary: fc.constant(usual) },
    ...others.map((each) => ({ weight: 1, arbitrary: fc.constant(each) })),
  );

const [short, ...otherTexts] = texts;

const declared: fc.Arbitrary<ModelResource> = fc.record({
  name,
  variant: fc.nat(1),
  version: fc.nat(2),
  text: mostly<(typeof texts)[number]>(9, short, ...otherTexts),
  more: mostly<0 | 1 | 2>(4, 0, 1, 2),
});

/** Programs are closed under references and hold each name once. */
const program = fc.array(declared, { maxLength: 6 }).map((wanted): readonly ModelResource[] => {
  const byName = new Map(wanted.map((each) => [each.name, each]));
  const add = (each: Name, one: ModelResource): void => {
    if (!byName.has(each)) byName.set(each, one);
    for (const other of modelResources[each].refers)
      add(other, { name: other, variant: 0, version: 0 });
  };
  for (const each of wanted) add(each.name, each);
  return names.flatMap((each) => byName.get(each) ?? []);
});

const kinds: readonly CallFault["kind"][] = [
  "cut-before",
  "cut-after",
  "503-before",
  "500-after",
  "broken-answer",
  "429",
  "stale-list",
  "forbidden",
];

const anyCall = fc.record({ call: fc.nat(14), kind: fc.constantFrom(...kinds) });

const refusedWrite = fc.record({ call: fc.nat(14), kind: fc.constant("refused" as const) });

const read = fc.record({
  call: fc.nat(4),
  kind: fc.constantFrom<CallFault["kind"]>(
    "503-before",
    "429",
    "cut-before",
    "broken-answer",
    "forbidden",
  ),
  on: fc.constantFrom<"list" | "item">("list", "item"),
  lasting: fc.boolean(),
});

const faults: fc.Arbitrary<readonly CallFault[]> = fc.array(
  fc.oneof(
    { weight: 4, arbitrary: anyCall },
    { weight: 1, arbitrary: refusedWrite },
    { weight: 2, arbitrary: read },
  ),
  { maxLength: 3 },
);

const hooks: fc.Arbitrary<Hooks | undefined> = fc.option(
  fc.record({
    repeats: fc.constantFrom(1, 0, 2, 4),
    incomplete: fc.constantFrom<Hooks["incomplete"]>("create", "update"),
    broken: fc.option(
      fc.record({
        when: fc.constantFrom<"before" | "after">("before", "after"),
        operation: fc.nat(8),
      }),
      { nil: undefined, freq: 1 },
    ),
  }),
  { nil: undefined, freq: 1 },
);

const kill = fc.option(fc.record({ call: fc.nat(14), acted: fc.boolean() }), {
  nil: undefined,
  freq: 2,
});

interface Plan extends Omit<Adoption, "name"> {
  /** Place in the program. */
  readonly at: number;
}

const plans: fc.Arbitrary<readonly Plan[]> = fc.array(
  fc.record({
    at: fc.nat(),
    how: fc.constantFrom<Adoption["how"]>("name", "id", "any"),
    place: fc.nat(5),
  }),
  { maxLength: 2 },
);

/** What is forced to be replaced or adopts is in the program. */
const up: fc.Arbitrary<Up> = fc
  .record({
    type: fc.constant("up" as const),
    stack,
    program,
    force: fc.array(fc.nat(), { maxLength: 2 }),
    deleteFirst: fc.boolean(),
    faults: fc.oneof({ weight: 2, arbitrary: faults }, { weight: 1, arbitrary: fc.constant([]) }),
    kill,
    adopt: fc.oneof(
      { weight: 3, arbitrary: fc.constant<readonly Plan[]>([]) },
      { weight: 1, arbitrary: plans },
    ),
    eraseHidden: mostly(9, false, true),
    hooks,
  })
  .map((each) => {
    const at = (place: number): Name | undefined => each.program[place % each.program.length]?.name;
    return {
      ...each,
      force: each.force.flatMap((place) => at(place) ?? []),
      adopt: each.adopt.flatMap(({ at: adopter, ...plan }): readonly Adoption[] => {
        const name = at(adopter);
        return name ? [{ ...plan, name }] : [];
      }),
    };
  });

const edit: fc.Arbitrary<StateEdit> = fc.record({
  type: fc.constantFrom<StateEdit["type"]>("rename", "move", "forget"),
  stack,
  name,
});

const byHand: fc.Arbitrary<ByHand> = fc.oneof(
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom<"remove" | "change">("remove", "change"),
      place: fc.nat(9),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("foreign" as const), name, variant: fc.nat(1) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("copy" as const),
      place: fc.nat(9),
      age: fc.constantFrom<"at once" | "soon" | "much later">("soon", "at once", "much later"),
      isRenamed: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant("set" as const),
      place: fc.nat(9),
      member: fc.nat(5),
    }),
  },
);

const step: fc.Arbitrary<ModelStep> = fc.oneof(
  { weight: 8, arbitrary: up },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("refresh" as const), stack, faults }),
  },
  { weight: 1, arbitrary: edit },
  { weight: 4, arbitrary: byHand },
);

const setting: fc.Arbitrary<ModelSetting> = fc.record({
  secrets: mostly<ModelSetting["secrets"]>(2, "mask", "echo", "omit"),
  put: mostly<ModelSetting["put"]>(8, "replace", "keep", "keep, unknown"),
  marks: mostly<ModelSetting["marks"]>(9, "description", "none"),
  odd: mostly(4, false, true),
  sight: mostly(9, true, false),
});

/**
 * A replacement without marks and states makes a second object. Where it is killed before it moved the
 * users of the first one, nothing shows whose that is ("What does not hold" in guarantees.md).
 */
const forced = ({ force, kill }: Up, { marks }: ModelSetting): Up["force"] =>
  marks === "none" && kill !== undefined ? [] : force;

/** A run that sees no states cannot tell what a person did to them, nor what another state holds. */
const inSight = ({ steps, ...rest }: Scenario & { readonly setting: ModelSetting }): Scenario => {
  if (rest.setting.sight) return { ...rest, steps };
  const seen = steps.filter(({ type }) => type !== "rename" && type !== "move");
  return {
    ...rest,
    steps: seen.map((each) =>
      each.type === "up" ? { ...each, adopt: [], force: forced(each, rest.setting) } : each,
    ),
  };
};

/** A random history, and the programs that both stacks have in the end. */
export const scenario: fc.Arbitrary<Scenario> = fc
  .record({
    setting,
    steps: fc.array(step, { minLength: 1, maxLength: 6 }),
    last: fc.tuple(program, program),
  })
  .map(inSight);

/** What the replay through the real engine can do: runs, and a person's plain interference. */
const playable = (each: ModelStep): boolean =>
  ["up", "refresh", "remove", "change", "foreign"].includes(each.type);

/** A history without what the replay cannot do. */
export const asPlayable = ({ steps, last }: Scenario): Scenario => ({
  steps: steps
    .filter(playable)
    .map((each) =>
      each.type === "up" ? { ...each, adopt: [], eraseHidden: false, hooks: undefined } : each,
    ),
  last,
});

/** A random history that the real engine can play, too. */
export const replayable: fc.Arbitrary<Scenario> = scenario.map(asPlayable);
