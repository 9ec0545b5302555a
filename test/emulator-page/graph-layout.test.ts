import fc from "fast-check";
import { expect, test } from "vitest";
import {
  edgesFrom,
  graphKey,
  layOut,
  linePath,
  neighbour,
  nodeHeight,
  nodesBetween,
  usersByKey,
} from "../../emulator/page/browser/graph.mjs";
import type { GraphObject } from "../../emulator/page/page-routes.js";

const kinds = ["a", "b", "c"].map((collection) => ({ collection, noun: collection, doc: "" }));

const object = (collection: string, id: string, ...references: readonly string[]): GraphObject => ({
  collection,
  id,
  name: id,
  isActive: true,
  references: references.map((key) => {
    const [to = "", target = ""] = key.split("/");
    return { collection: to, id: target, path: "x" };
  }),
});

/** Accounts of any size and shape, also with references to nothing. */
const accounts = fc
  .array(
    fc.record({ kind: fc.constantFrom("a", "b", "c"), to: fc.array(fc.nat(60), { maxLength: 4 }) }),
    {
      maxLength: 60,
    },
  )
  .map((list) =>
    list.map(({ kind, to }, place) =>
      object(kind, String(place), ...to.map((target) => `${list[target]?.kind ?? "a"}/${target}`)),
    ),
  );

test("every object stands once, in the column of its kind, and none covers another", () => {
  fc.assert(
    fc.property(accounts, fc.integer({ min: 200, max: 2_000 }), (objects, width) => {
      const layout = layOut(kinds, objects, width);
      const nodes = layout.columns.flat();
      expect(nodes.map(({ key }) => key).sort()).toEqual(objects.map(graphKey).sort());
      for (const { object: each, column } of nodes)
        expect(kinds[column]?.collection).toBe(each.collection);
      const places = nodes.map(({ x, y }) => ({ x, y }));
      for (const [place, one] of places.entries())
        for (const other of places.slice(place + 1))
          expect(
            Math.abs(one.y - other.y) >= nodeHeight ||
              Math.abs(one.x - other.x) >= layout.nodeWidth,
          ).toBe(true);
      for (const { x, y } of nodes) {
        expect(x + layout.nodeWidth).toBeLessThanOrEqual(layout.width);
        expect(y + nodeHeight).toBeLessThanOrEqual(layout.height);
      }
    }),
    { numRuns: 100, seed: 11 },
  );
});

/** Points along the path of a line, close enough to each other to meet every card that it touches. */
const pointsOn = (path: string): readonly { readonly x: number; readonly y: number }[] => {
  const points: { x: number; y: number }[] = [];
  let at = { x: 0, y: 0 };
  for (const [, command, list = ""] of path.matchAll(/([MCH])([^MCH]+)/g)) {
    const [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0] = list.trim().split(" ").map(Number);
    const start = at;
    if (command === "M") at = { x: a, y: b };
    if (command === "H") at = { x: a, y: at.y };
    if (command === "C") at = { x: e, y: f };
    const [one, other] =
      command === "C"
        ? [
            { x: a, y: b },
            { x: c, y: d },
          ]
        : [start, at];
    for (let step = 0; command !== "M" && step <= 100; step += 1) {
      const [t, s] = [step / 100, 1 - step / 100];
      const along = (axis: "x" | "y") =>
        s ** 3 * start[axis] +
        3 * s * s * t * one[axis] +
        3 * s * t * t * other[axis] +
        t ** 3 * at[axis];
      points.push({ x: along("x"), y: along("y") });
    }
  }
  return points;
};

/** Between a card and the lines that pass it, in pixels: so much that its shadow ends before. */
const clearance = 4;

/** Six kinds as in an account; every object refers to objects of earlier kinds, near and far. */
const linkedAccount = (size: number, random: (below: number) => number): readonly GraphObject[] => {
  const objects = Array.from({ length: size }, (_, place) => object(`k${place % 6}`, `o${place}`));
  return objects.map((each, place) => {
    const earlier = objects.filter(({ collection }) => collection < each.collection);
    const targets = Array.from({ length: Math.min(earlier.length, 1 + (place % 4)) }, () =>
      graphKey(earlier[random(earlier.length)] ?? each),
    );
    return object(each.collection, each.id, ...targets);
  });
};

test.each([0, 6, 60, 1_000])(
  "no line of an account of %i objects touches a card that it does not concern",
  (size) => {
    const six = Array.from({ length: 6 }, (_, kind) => ({
      collection: `k${kind}`,
      noun: `k${kind}`,
      doc: "",
    }));
    const widths = fc.constantFrom(812, 900, 1_099, 1_100, 1_400, 2_400);
    fc.assert(
      fc.property(widths, fc.infiniteStream(fc.nat()), (width, numbers) => {
        const random = (below: number) => (numbers.next().value ?? 0) % below;
        const layout = layOut(six, linkedAccount(size, random), width);
        expect(layout.isStacked).toBe(false);
        expect(layout.width).toBeLessThanOrEqual(width);
        const nodes = layout.columns.flat();
        const edges = nodes.flatMap((node) => edgesFrom(layout, node));
        expect(edges.length > 0).toBe(size > 0);
        for (const edge of edges) {
          for (const { x, y } of pointsOn(linePath(layout, edge))) {
            const column = layout.columns.find(
              ([first]) => first && x > first.x && x < first.x + layout.nodeWidth,
            );
            const touched = column?.find(
              (node) => y > node.y - clearance && y < node.y + nodeHeight + clearance,
            );
            if (touched) expect([edge.from.key, edge.to.key]).toContain(touched.key);
          }
        }
      }),
      { numRuns: size > 100 ? 6 : 60, seed: 14 },
    );
  },
);

test("what is between two heights is found, as a look at every node finds it", () => {
  fc.assert(
    fc.property(accounts, fc.nat(3_000), fc.nat(900), (objects, top, height) => {
      const layout = layOut(kinds, objects, 1_400);
      const found = new Set(nodesBetween(layout, top, top + height));
      for (const node of layout.columns.flat()) {
        const isInside = node.y >= top && node.y + nodeHeight <= top + height;
        if (isInside) expect(found.has(node)).toBe(true);
        if (node.y + 2 * nodeHeight < top || node.y > top + height + nodeHeight)
          expect(found.has(node)).toBe(false);
      }
    }),
    { numRuns: 100, seed: 12 },
  );
});

test("lines lead from an object to what is there, each once", () => {
  const objects = [object("a", "1"), object("b", "2", "a/1", "a/1", "a/gone")];
  const layout = layOut(kinds, objects, 1_400);
  const user = layout.nodes.get("b/2");
  expect(user && edgesFrom(layout, user).map(({ to }) => to.key)).toEqual(["a/1"]);
  expect(usersByKey(objects).get("a/1")).toEqual(["b/2"]);
});

test("what refers to the same object stands together", () => {
  const objects = [
    object("a", "top"),
    object("a", "bottom"),
    object("b", "1", "a/bottom"),
    object("b", "2", "a/top"),
    object("b", "3", "a/bottom"),
    object("b", "4", "a/top"),
  ];
  const [, users] = layOut(kinds, objects, 1_400).columns;
  expect(users?.map(({ object: { id } }) => id)).toEqual(["2", "4", "1", "3"]);
});

test("with little room the kinds stand below one another", () => {
  const layout = layOut(kinds, [object("a", "1"), object("c", "2")], 400);
  expect(layout.isStacked).toBe(true);
  expect(layout.width).toBe(400);
  expect(layout.headings.map(({ count }) => count)).toEqual([1, 0, 1]);
});

test("arrow keys reach every object, and pass over empty kinds", () => {
  const layout = layOut(kinds, [object("a", "1"), object("a", "2"), object("c", "3")], 1_400);
  const go = (key: string, arrow: string) => {
    const node = layout.nodes.get(key);
    return node && neighbour(layout, node, arrow)?.key;
  };
  expect(go("a/1", "ArrowDown")).toBe("a/2");
  expect(go("a/1", "ArrowUp")).toBeUndefined();
  expect(go("a/2", "ArrowRight")).toBe("c/3");
  expect(go("c/3", "ArrowRight")).toBeUndefined();
  expect(go("a/2", "Home")).toBe("a/1");
  expect(go("a/1", "End")).toBe("a/2");
  expect(go("a/1", "x")).toBeUndefined();
});
