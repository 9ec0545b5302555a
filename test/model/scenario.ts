import fc from "fast-check";

/** Logical names of the small world, with what each refers to. */
export const world = {
  auth1: { kind: "Authentication", refers: [] },
  auth2: { kind: "Authentication", refers: [] },
  app1: { kind: "ClientApplication", refers: ["auth1"] },
  app2: { kind: "ClientApplication", refers: ["auth2"] },
  bot1: { kind: "Participant", refers: ["app1"] },
  bot2: { kind: "Participant", refers: ["app1"] },
  channel1: { kind: "Channel", refers: [] },
  flow1: { kind: "Orchestration", refers: ["app1", "bot1"] },
  flow2: { kind: "Orchestration", refers: ["app2"] },
  account1: { kind: "Account", refers: ["channel1", "flow1"] },
} as const satisfies Readonly<Record<string, { kind: string; refers: readonly string[] }>>;

export type Name = keyof typeof world;

const names = Object.keys(world) as Name[];

/** A resource that a program declares: another variant is another name, another version other content. */
export interface Declared {
  readonly name: Name;
  readonly variant: number;
  readonly version: number;
}

/** What goes wrong with one call, counted from the start of the step. */
export interface CallFault {
  readonly call: number;
  readonly kind:
    | "cut-before"
    | "cut-after"
    | "503-before"
    | "500-after"
    | "broken-answer"
    | "429"
    | "stale-list";
}

export type Step =
  | {
      readonly type: "up";
      readonly stack: 0 | 1;
      readonly program: readonly Declared[];
      readonly force: readonly Name[];
      readonly deleteFirst: boolean;
      readonly faults: readonly CallFault[];
      readonly kill?: { readonly call: number; readonly acted: boolean } | undefined;
    }
  | { readonly type: "refresh"; readonly stack: 0 | 1; readonly faults: readonly CallFault[] }
  | { readonly type: "remove" | "change"; readonly place: number }
  | { readonly type: "foreign"; readonly name: Name; readonly variant: number };

const name = fc.constantFrom(...names);
const stack = fc.constantFrom<0 | 1>(0, 0, 0, 1);

/** Programs are closed under references and hold each name once. */
const program = fc
  .array(fc.record({ name, variant: fc.nat(1), version: fc.nat(2) }), { maxLength: 6 })
  .map((wanted): readonly Declared[] => {
    const byName = new Map(wanted.map((declared) => [declared.name, declared]));
    const add = (each: Name, declared: Declared): void => {
      if (!byName.has(each)) byName.set(each, declared);
      for (const other of world[each].refers) add(other, { name: other, variant: 0, version: 0 });
    };
    for (const declared of wanted) add(declared.name, declared);
    return names.flatMap((each) => byName.get(each) ?? []);
  });

const faults = fc.array(
  fc.record({
    call: fc.nat(14),
    kind: fc.constantFrom<CallFault["kind"]>(
      "cut-before",
      "cut-after",
      "503-before",
      "500-after",
      "broken-answer",
      "429",
      "stale-list",
    ),
  }),
  { maxLength: 3 },
);

/** What is forced to be replaced is in the program. */
const up = fc
  .record({
    type: fc.constant("up" as const),
    stack,
    program,
    force: fc.array(fc.nat(), { maxLength: 2 }),
    deleteFirst: fc.boolean(),
    faults,
    kill: fc.option(fc.record({ call: fc.nat(14), acted: fc.boolean() }), {
      nil: undefined,
      freq: 2,
    }),
  })
  .map((each) => ({
    ...each,
    force: each.force.flatMap((place) => each.program[place % each.program.length]?.name ?? []),
  }));

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: up },
  { weight: 1, arbitrary: fc.record({ type: fc.constant("refresh" as const), stack, faults }) },
  {
    weight: 1,
    arbitrary: fc.record({
      type: fc.constantFrom("remove" as const, "change" as const),
      place: fc.nat(9),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ type: fc.constant("foreign" as const), name, variant: fc.nat(1) }),
  },
);

/** A random history, and the programs that both stacks have in the end. */
export const scenario = fc.record({
  steps: fc.array(step, { minLength: 1, maxLength: 5 }),
  last: fc.tuple(program, program),
});

export type Scenario = typeof scenario extends fc.Arbitrary<infer S> ? S : never;
