import fc from "fast-check";
import { expect, test } from "vitest";
import { GrowingList, ShownConversation } from "../../emulator/page/browser/page-state.mjs";
import { visibleRows } from "../../emulator/page/browser/virtual-list.mjs";
import { RecentEntries } from "../../emulator/recent-entries.js";

test("a list that is read bit by bit is what the emulator has, through clearing and restarts", () => {
  const acts = fc.array(
    fc.oneof(
      fc.record({ act: fc.constant("add"), count: fc.nat(30) }),
      fc.constant({ act: "clear", count: 0 }),
      fc.constant({ act: "read", count: 0 }),
      fc.constant({ act: "restart", count: 0 }),
    ),
  );
  fc.assert(
    fc.property(acts, (steps) => {
      let source = new RecentEntries<number>(20);
      let next = 0;
      let known = 0;
      const list = new GrowingList<number>();
      const read = (): void => {
        const since = source.since(known);
        known = since.next;
        list.take(since);
        expect(list.entries).toEqual(source.all());
      };
      for (const { act, count } of steps) {
        if (act === "add") for (let each = 0; each < count; each += 1) source.add(next++);
        else if (act === "clear") source.clear();
        else if (act === "read") read();
        else {
          // The page is told by the cursor that nothing of before counts.
          source = new RecentEntries<number>(20);
          known = 0;
          read();
        }
      }
      read();
    }),
    { numRuns: 300, seed: 7 },
  );
});

test("a shown conversation takes what follows, and nothing of another one", () => {
  const shown = new ShownConversation("c");
  const growth = (from: number, count: number, id = "c") => ({
    id,
    isCompleted: false,
    from,
    messages: Array.from({ length: count }, (_, place) => ({ id: `m${from + place}` })),
  });
  shown.take(growth(0, 2));
  shown.take(growth(2, 1));
  shown.take(growth(0, 5, "another"));
  shown.take(growth(9, 1));
  expect(shown.messages.map(({ id }) => id)).toEqual(["m0", "m1", "m2"]);
  shown.take(undefined);
  expect(shown.isThere).toBe(false);
});

test("only rows in sight are rendered, and all of those", () => {
  fc.assert(
    fc.property(
      fc.nat(400_000),
      fc.integer({ min: 1, max: 2_000 }),
      fc.nat(10_000),
      (top, height, count) => {
        const { from, to } = visibleRows({ top, height, rowHeight: 30, count });
        expect(to - from).toBeLessThanOrEqual(Math.ceil(height / 30) + 18);
        for (const row of [Math.floor(top / 30), Math.floor((top + height - 1) / 30)])
          if (row < count) expect(row >= from && row < to).toBe(true);
      },
    ),
    { numRuns: 300, seed: 8 },
  );
});
