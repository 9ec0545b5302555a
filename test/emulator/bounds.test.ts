import { expect, test } from "vitest";
import { createClock } from "../../emulator/clock.js";
import { Findings } from "../../emulator/control/findings.js";
import { History } from "../../emulator/control/history.js";
import { Refusal } from "../../emulator/http/refusal.js";
import { isStoredObject } from "../../emulator/objects/collections.js";
import { noJournal, Store } from "../../emulator/objects/store.js";

const created = "2024-01-01T00:00:00.000Z";
const channel = (id: string, type = id) => ({ id, created, modified: created, type });

const storeOf = (...ids: string[]) => {
  const clock = createClock("manual");
  const store = new Store(clock, noJournal, isStoredObject);
  for (const id of ids) store.put("channels", channel(id));
  return { store, clock };
};

test("no more than 30 findings are kept", () => {
  const findings = new Findings();
  for (let place = 0; place < 1000; place += 1) findings.invalid(`p${place}`, "is wrong");
  let refusal: unknown;
  try {
    findings.assertNone();
  } catch (error) {
    refusal = error;
  }
  expect(refusal).toBeInstanceOf(Refusal);
  expect(refusal instanceof Refusal ? refusal.details.length : 0).toBe(30);
});

test("a broken shape is seen beyond the findings that are kept", () => {
  const findings = new Findings();
  for (let place = 0; place < 30; place += 1) findings.notAllowed(`p${place}`, ["a"]);
  expect(findings.hasBrokenShape).toBe(false);
  findings.missing("q");
  expect(findings.hasBrokenShape).toBe(true);
});

test("the list of a collection is not copied for every call, and is new after a change", () => {
  const { store } = storeOf("a", "b");
  const before = store.all("channels");
  expect(store.all("channels")).toBe(before);
  store.put("channels", channel("c"));
  expect(store.all("channels").map(({ id }) => id)).toEqual(["a", "b", "c"]);
  store.remove("channels", "a");
  expect(store.all("channels").map(({ id }) => id)).toEqual(["b", "c"]);
  expect(before.map(({ id }) => id)).toEqual(["a", "b"]);
});

test("a unique value is taken by another object only, and free when it goes", () => {
  const { store } = storeOf("a");
  expect(store.takenMember("channels", { type: "a" })).toBe("type");
  expect(store.takenMember("channels", { type: "a" }, "a")).toBeUndefined();
  store.put("channels", channel("a", "renamed"));
  expect(store.takenMember("channels", { type: "a" })).toBeUndefined();
  expect(store.takenMember("channels", { type: "renamed" })).toBe("type");
  store.remove("channels", "a");
  expect(store.takenMember("channels", { type: "renamed" })).toBeUndefined();
});

test("an earlier list has what was deleted and not what came since", () => {
  const { store, clock } = storeOf("a", "b");
  clock.advance(1000);
  store.remove("channels", "a");
  store.put("channels", channel("c"));
  expect(
    store
      .allBefore("channels", 500)
      .map(({ id }) => id)
      .sort(),
  ).toEqual(["a", "b"]);
  expect(store.allBefore("channels", 0).map(({ id }) => id)).toEqual(["b", "c"]);
});

test("no more than 2,000 changes can be undone", () => {
  const history = new History<{ readonly created: string; readonly step: number }>();
  for (let step = 0; step < 10_000; step += 1) history.add(1, `o${step}`, { created, step });
  const undone = history.undone(new Map(), 0);
  expect(undone.length).toBeGreaterThanOrEqual(1000);
  expect(undone.length).toBeLessThanOrEqual(2000);
  expect(Math.max(...undone.map(({ step }) => step))).toBe(9_999);
});
