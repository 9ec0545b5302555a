import { expect, test } from "vitest";
import { createClock } from "../../emulator/clock.js";
import { HttpError } from "../../emulator/http/response.js";
import { ValidationErrors } from "../../emulator/http/validation-errors.js";
import { noJournal } from "../../emulator/journal.js";
import { History, Store } from "../../emulator/objects/store.js";

const created = "2024-01-01T00:00:00.000Z";
const channel = (id: string, type = id) => ({ id, created, modified: created, type });

const storeOf = (...ids: string[]) => {
  const clock = createClock("manual");
  const store = new Store(clock, noJournal);
  for (const id of ids) store.put("channels", channel(id));
  return { store, clock };
};

test("no more than 30 errors are kept", () => {
  const errors = new ValidationErrors();
  for (let place = 0; place < 1000; place += 1) errors.at(`p${place}`).invalid("is wrong");
  let thrown: unknown;
  try {
    errors.assertNone();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toBeInstanceOf(HttpError);
  expect(thrown instanceof HttpError ? thrown.details.length : 0).toBe(30);
});

test("a broken shape is seen beyond the errors that are kept", () => {
  const errors = new ValidationErrors();
  for (let place = 0; place < 30; place += 1) errors.at(`p${place}`).notAllowed(["a"]);
  expect(errors.hasBrokenShape).toBe(false);
  errors.at("q").missing();
  expect(errors.hasBrokenShape).toBe(true);
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
  for (let step = 0; step < 10_000; step += 1)
    history.add({ at: 1, id: `o${step}`, before: { created, step } });
  const undone = history.undone(new Map(), 0);
  expect(undone.length).toBeGreaterThanOrEqual(1000);
  expect(undone.length).toBeLessThanOrEqual(2000);
  expect(Math.max(...undone.map(({ step }) => step))).toBe(9_999);
});
