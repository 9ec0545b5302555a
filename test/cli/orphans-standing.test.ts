import fc from "fast-check";
import { expect, test } from "vitest";
import { judgeObjects } from "../../cli/inventory/inventory.js";
import { orphanStanding } from "../../cli/orphans/orphans.js";
import { statesOf } from "../../cli/pulumi/stack-states.js";
import { namingOf } from "../../provider/definition/kinds.js";
import { markFor, markOf, markText } from "../../provider/lifecycle/resource.js";
import type { Holding, StackState } from "../../provider/lifecycle/stack-states.js";
import { resources } from "../../provider/resources/index.js";
import { kindOf } from "../emulator/running.js";

const [first, second] = ["0tm9x2k4r7q", "0tm9x2k4r7r"] as const;
const ownership = "shop/prod/0123456789abcdef";
const names = { project: "shop", stack: "prod" };

const object = (kind: string, id: string, owner = `${ownership}/kiosk`, serial: string = first) => {
  const definition = kindOf(kind);
  const mark = markOf(kind, owner);
  const text = markText(markFor(mark, serial, "kiosk"));
  return { definition, id, wire: { [namingOf(definition).wire]: "kiosk", description: text } };
};

const holding = (id: string, more: Partial<Holding> = {}): Holding => ({
  ...{ stack: "prod", urn: "urn:x", kind: "Channel", id, own: true },
  owner: `${ownership}/kiosk`,
  ...more,
});

const state = (holdings: readonly Holding[], more: Partial<StackState> = {}): StackState => ({
  ...{ ownership, holdings, lookUps: [], pending: [] },
  ...more,
});

const judged = (
  objects: readonly ReturnType<typeof object>[],
  own: StackState,
  others: readonly StackState[] = [],
) => {
  const states = statesOf(own, others, true);
  const judge = judgeObjects(states, names);
  return objects.flatMap(({ definition, id, wire }) => {
    const item = { id, ...judge(definition, id, wire) };
    const standing = orphanStanding(item, { names, states });
    return standing ? [{ ...item, standing }] : [];
  });
};

const standings = (...given: Parameters<typeof judged>) =>
  judged(...given).map(({ id, standing }) => [id, standing]);

test.each(resources.map(({ kind }) => kind))(
  "%s: in no state, it is left over; in the own one, it is no orphan",
  (kind) => {
    expect(standings([object(kind, "1")], state([]))).toEqual([["1", "leftover"]]);
    expect(standings([object(kind, "1")], state([holding("1", { kind })]))).toEqual([]);
    // The same id at another collection is another object.
    const other = kind === "Channel" ? "Account" : "Channel";
    expect(standings([object(kind, "1")], state([holding("1", { kind: other })]))).toHaveLength(1);
  },
);

test("what another stack holds, or anybody looks up, is held: whatever its mark says", () => {
  const theirs = holding("1", { own: false, stack: "other", owner: "shop/other/ff/elsewhere" });
  expect(standings([object("Channel", "1")], state([]), [state([theirs])])).toEqual([
    ["1", "held"],
  ]);
  const looked = state([], { lookUps: [holding("1")] });
  expect(standings([object("Channel", "1")], looked)).toEqual([["1", "held"]]);
  expect(judged([object("Channel", "1")], looked)).toMatchObject([{ readBy: [{ urn: "urn:x" }] }]);
});

test("a mark of a resource that has another object: a copy", () => {
  const held = state([holding("1", { serial: first })]);
  expect(standings([object("Channel", "2")], held)).toEqual([["2", "copy"]]);
  const elsewhere = state([holding("1", { own: false, serial: first })]);
  expect(standings([object("Channel", "2")], state([]), [elsewhere])).toEqual([["2", "copy"]]);
  const renamed = state([
    holding("1", {
      ...{ owner: `${ownership}/new`, writtenOwner: `${ownership}/kiosk`, serial: first },
    }),
  ]);
  expect(standings([object("Channel", "2")], renamed)).toEqual([["2", "copy"]]);
});

test.each([
  [first, first, "copy"],
  [second, first, "leftover"],
  [second, undefined, "leftover"],
] as const)("serial %s where the state holds one with %s: %s", (serial, held, expected) => {
  const own = state([holding("1", held ? { serial: held } : {})]);
  expect(standings([object("Channel", "2", undefined, serial)], own)).toEqual([["2", expected]]);
});

test("the stack's name with the mark of a state that is not there: former", () => {
  const former = object("Channel", "1", "shop/prod/ffffffffffffffff/kiosk");
  expect(standings([former], state([]))).toEqual([["1", "former"]]);
  const { ownership: _, ...empty } = state([]);
  expect(standings([former], empty)).toEqual([["1", "former"]]);
  // A stack that was renamed since finds its own leftovers by itself.
  const renamed = state([], { ownership: "shop/prod/ffffffffffffffff" });
  expect(standings([former], state([]), [renamed])).toEqual([]);
});

test.each(["shop/prod2", "shop/pro", "site/prod", "shop/dev"])(
  "objects of %s are none of the stack",
  (stack) => {
    expect(
      standings([object("Channel", "1", `${stack}/ffffffffffffffff/kiosk`)], state([])),
    ).toEqual([]);
  },
);

test("a creation that is pending is reported with the object that it made", () => {
  const pending = [{ urn: "urn:x", kind: "Channel", owner: `${ownership}/kiosk` }];
  const objects = [
    object("Channel", "1"),
    object("Channel", "2", `${ownership}/other`),
    object("Account", "3"),
  ];
  const found = judged(objects, state([], { pending }));
  expect(found.map(({ isPending }) => isPending)).toEqual([true, false, false]);
});

test("nothing that any state holds is ever a leftover, a copy or a former one", () => {
  const ids = ["1", "2", "3"];
  const owners = [`${ownership}/kiosk`, `${ownership}/other`, "shop/prod/ffffffffffffffff/kiosk"];
  const anyHolding = fc.record({
    id: fc.constantFrom(...ids),
    own: fc.boolean(),
    owner: fc.constantFrom(...owners),
  });
  const anyObject = fc.record({ id: fc.constantFrom(...ids), owner: fc.constantFrom(...owners) });
  fc.assert(
    fc.property(fc.array(anyHolding), fc.array(anyObject), (held, seen) => {
      const holdings = held.map(({ id, ...more }) => holding(id, more));
      const own = state(holdings.filter((each) => each.own));
      const other = state(
        holdings.filter((each) => !each.own),
        { ownership: "shop/other/1" },
      );
      const objects = seen.map(({ id, owner }) => object("Channel", id, owner));
      for (const { id, standing } of judged(objects, own, [other]))
        expect(standing === "held").toBe(holdings.some((each) => each.id === id));
    }),
  );
});
