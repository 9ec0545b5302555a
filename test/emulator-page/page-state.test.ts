import fc from "fast-check";
import { expect, test } from "vitest";
import { RecentEntries } from "../../emulator/http/call-log.js";
import { visibleRows } from "../../emulator/page/browser/elements.mjs";
import { GrowingList, PageState, ShownConversation } from "../../emulator/page/browser/page.mjs";

const entryOf = (place: number) => ({
  at: "2026-01-01T00:00:00.000Z",
  method: "GET",
  template: "/channels",
  path: `/channels?${place}`,
  status: 200,
  ms: 1,
  subjects: [],
});

const summaryOf = (place: number) => ({
  id: `c-${place}`,
  phase: "bot" as const,
  subject: "accounts/a",
  customer: "Ada",
  address: "kiosk",
  channelType: "custom.kiosk",
  messages: 1,
  modified: "2026-01-01T00:00:00.000Z",
});

/** A look in which nothing happened. */
const quiet = {
  cursor: "run--0-0-0-0",
  now: 0,
  clock: "real" as const,
  plan: "none" as const,
  buckets: [],
  counts: {},
  platformName: "platform",
  calls: { first: 0, next: 0, entries: [] },
  deliveries: { first: 0, next: 0, entries: [] },
  conversations: { isWhole: false, total: 0, entries: [] },
  found: undefined,
  conversation: undefined,
  object: undefined,
  call: undefined,
};

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
    downloads: {},
  });
  shown.take(growth(0, 2));
  shown.take(growth(2, 1));
  shown.take(growth(0, 5, "another"));
  expect(shown.messages.map(({ id }) => id)).toEqual(["m0", "m1", "m2"]);
  shown.take(undefined);
  expect(shown.isThere).toBe(false);
});

test("of a conversation that grows without end the last messages are kept, and where they stand", () => {
  const shown = new ShownConversation("c");
  const counts = fc.array(fc.oneof(fc.nat(40), fc.integer({ min: 400, max: 1_100 })));
  fc.assert(
    fc.property(counts, (growths) => {
      let length = shown.next;
      for (const count of growths) {
        length += count;
        // As the emulator does: the last 500 of what is new.
        const from = Math.max(shown.next, length - 500);
        const messages = Array.from({ length: length - from }, (_, place) => ({
          id: `m${from + place}`,
        }));
        shown.take({ id: "c", isCompleted: false, from, messages, downloads: {} });
        expect(shown.next).toBe(length);
        expect(shown.messages.length).toBeLessThanOrEqual(500);
        expect(shown.messages.at(0)?.id).toBe(length === 0 ? undefined : `m${shown.before}`);
        expect(shown.messages.at(-1)?.id).toBe(length === 0 ? undefined : `m${length - 1}`);
      }
    }),
    { numRuns: 50, seed: 9 },
  );
});

test("a page that stays open for ten minutes keeps no more than the last of everything", () => {
  const state = new PageState();
  const shown = { conversation: "c-0", object: "", call: "", search: "" };
  state.show(shown);
  let calls = 0;
  for (let look = 0; look < 1_200; look += 1) {
    const entries = Array.from({ length: 40 }, (_, place) => entryOf(calls + place));
    calls += entries.length;
    state.take(
      {
        ...quiet,
        calls: { first: Math.max(0, calls - 10_000), next: calls, entries },
        conversations: {
          isWhole: false,
          total: 5 * look,
          entries: Array.from({ length: 5 }, (_, place) => summaryOf(5 * look + place)),
        },
        conversation: {
          id: "c-0",
          isCompleted: false,
          from: state.shown.next,
          messages: Array.from({ length: 5 }, (_, place) => ({ id: `m${5 * look + place}` })),
          downloads: {},
        },
      },
      shown,
    );
  }
  expect(state.calls.entries.length).toBe(10_000);
  expect(state.calls.entries.at(-1)).toEqual(entryOf(47_999));
  expect([...state.conversations.keys()].at(-1)).toBe("c-5999");
  expect(state.conversations.size).toBe(2_000);
  expect([state.shown.messages.length, state.shown.next]).toEqual([500, 6_000]);
});

test("what was found stays until the emulator answers for the next text, and goes with the text", () => {
  const state = new PageState();
  const shown = { conversation: "", object: "", call: "" };
  const answer = (search: string, isWhole: boolean, ...places: number[]): void =>
    state.take(
      { ...quiet, found: { isWhole, entries: places.map(summaryOf) } },
      { ...shown, search },
    );
  const found = () => state.found && [...state.found.keys()];
  state.seek(" or ");
  expect([state.look().search, found()]).toEqual(["or", undefined]);
  answer("or", true, 1, 2);
  answer("or", false, 3, 1);
  expect(found()).toEqual(["c-2", "c-3", "c-1"]);
  // Also one that is not among those that the page has.
  expect([state.conversations.size, state.conversationOf("c-3")]).toEqual([0, summaryOf(3)]);
  state.seek("order");
  answer("or", true, 7);
  expect(found()).toEqual(["c-2", "c-3", "c-1"]);
  answer("order", true);
  expect(found()).toEqual([]);
  state.seek(" ");
  answer("order", true, 1);
  expect(found()).toBeUndefined();
});

test("a text that was sought before is sought anew: what was found for it is not known any more", () => {
  const state = new PageState();
  const shown = { conversation: "", object: "", call: "" };
  const answer = (cursor: string, search: string, isWhole: boolean, ...places: number[]): void =>
    state.take(
      { ...quiet, cursor, found: { isWhole, entries: places.map(summaryOf) } },
      { ...shown, search },
    );
  const found = () => state.found && [...state.found.keys()];
  state.seek("or");
  answer("run-6f72-0-0-0-1-0", "or", true, 1, 2);
  expect(state.look().cursor).toBe("run-6f72-0-0-0-1-0");
  // Cut and pasted while the emulator still looks for it.
  state.seek("");
  state.seek("or");
  answer("run-6f72-0-0-0-2-0", "or", false, 3);
  expect(found()).toBeUndefined();
  expect(state.look().cursor).toBe("run--0-0-0-2-0");
  answer("run-6f72-0-0-0-2-0", "or", true, 1, 2, 3);
  expect(found()).toEqual(["c-1", "c-2", "c-3"]);
  // An answer came while another text was sought.
  state.seek("order");
  answer("run-6f72-0-0-0-3-0", "or", false, 4);
  state.seek("or");
  expect(state.look().cursor).toBe("run--0-0-0-3-0");
  answer("run-6f72-0-0-0-3-0", "or", true, 1, 2, 3, 4);
  expect(found()).toEqual(["c-1", "c-2", "c-3", "c-4"]);
  state.seek("or ");
  expect(state.look().cursor).toBe("run-6f72-0-0-0-3-0");
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
