import fc from "fast-check";
import { expect, test } from "vitest";
import { managedFields } from "../../provider/definition/changes.js";
import { list, text } from "../../provider/definition/define.js";
import { matching, sameMeaning } from "../../provider/definition/meaning.js";

const marks = list({
  doc: "Marks.",
  basis: "assumed",
  unordered: true,
  of: text({ doc: "A mark.", basis: "assumed" }),
});

test.each([
  [
    ["0", "5\n", "5"],
    [0, "5", "5\r\n"],
  ],
  [
    ["é\n", "é"],
    ["é", "é\r"],
  ],
])("%j comes back as %j: who fits two makes way for who fits one", (prior, live) => {
  expect(sameMeaning(marks, live, prior)).toBe(true);
  expect(managedFields({ marks }, { marks: live }, { marks: prior })).toEqual({ marks: prior });
});

test("whatever fits what, as many find a place as can, each its own", () => {
  const size = fc.integer({ min: 0, max: 5 });
  const cases = fc.tuple(size, size).chain(([items, others]) =>
    fc.array(fc.array(fc.boolean(), { minLength: others, maxLength: others }), {
      minLength: items,
      maxLength: items,
    }),
  );
  /** The most that can be placed, by trying everything. */
  const most = (rows: readonly (readonly boolean[])[], taken: readonly number[] = []): number => {
    const [row, ...rest] = rows;
    if (!row) return 0;
    const placed = row.flatMap((fits, place) =>
      fits && !taken.includes(place) ? [1 + most(rest, [...taken, place])] : [],
    );
    return Math.max(most(rest, taken), ...placed);
  };
  fc.assert(
    fc.property(cases, (rows) => {
      const others = (rows[0] ?? []).map((_, place) => place);
      const found = matching([...rows.keys()], others, (other, item) =>
        Boolean(rows[Number(item)]?.[Number(other)]),
      );
      const places = found.filter((place) => place !== undefined);
      expect(new Set(places).size).toBe(places.length);
      found.forEach((place, at) => {
        if (place !== undefined) expect(rows[at]?.[place]).toBe(true);
      });
      expect(places.length).toBe(most(rows));
    }),
  );
});
