import fc from "fast-check";
import { expect, test } from "vitest";
import { HttpError, ValidationErrors } from "../../emulator/http/exchange.js";
import { History, Store, storedReferences } from "../../emulator/objects/store.js";
import { DocumentArchive } from "../../emulator/runtime/conversation-store.js";
import { createClock } from "../../emulator/service/clock.js";
import { noJournal } from "../../emulator/service/journal.js";
import { Tokens } from "../../emulator/token/tokens.js";
import { resources } from "../../provider/resources/index.js";

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
  const history = new History<{
    readonly id: string;
    readonly created: string;
    readonly step: number;
  }>();
  for (let step = 0; step < 10_000; step += 1)
    history.add(1, `o${step}`, { id: `o${step}`, created, step });
  const undone = history.undone(new Map(), 0);
  expect(undone.length).toBeGreaterThanOrEqual(1000);
  expect(undone.length).toBeLessThanOrEqual(2000);
  expect(Math.max(...undone.map(({ step }) => step))).toBe(9_999);
});

test("objects with pictures can be undone as far as there is room", () => {
  const history = new History<{
    readonly id: string;
    readonly created: string;
    readonly icon: string;
  }>();
  for (let step = 0; step < 100; step += 1)
    history.add(1, `o${step}`, { id: `o${step}`, created, icon: "x".repeat(500_000) });
  const undone = history.undone(new Map(), 0);
  expect(undone.length).toBeGreaterThanOrEqual(4);
  expect(undone.length).toBeLessThanOrEqual(8);
  expect(undone.map(({ id }) => id)).toContain("o99");
});

/** An object of each kind that refers to whatever is asked for, as far as the kind has such a field. */
const referring = (collection: string, id: string, target: string) => {
  const bodies: Record<string, object> = {
    clientapplications: {
      roles: [{ authentication: { id: target } }, { authentication: { id: target } }],
    },
    participants: { application: { id: target } },
    orchestrations: {
      applications: { botConfiguration: { bots: [{ id: target, participant: { id: target } }] } },
    },
    accounts: { channel: { id: target }, chatConfigurations: { orchestration: { id: target } } },
  };
  return {
    ...bodies[collection],
    id,
    created,
    modified: created,
    name: `${collection} ${id}`,
    type: `${collection} ${id}`,
  };
};

test("what refers to an object is known without looking at all, whatever was written before", () => {
  const ids = ["a", "b", "c"];
  const change = fc.record({
    collection: fc.constantFrom(...resources.map(({ collection }) => collection)),
    id: fc.constantFrom(...ids),
    target: fc.constantFrom(...ids),
    isRemoved: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 40 }), fc.boolean(), (changes, isRestored) => {
      const { store } = storeOf();
      for (const { collection, id, target, isRemoved } of changes) {
        if (isRemoved) store.remove(collection, id);
        else store.put(collection, referring(collection, id, target));
      }
      const all = Object.fromEntries(
        resources.map(({ collection }) => [collection, [...store.all(collection)]]),
      );
      if (isRestored) store.replaceAll(all);
      for (const to of resources)
        for (const id of ids) {
          const isFound = resources.some((from) =>
            store
              .all(from.collection)
              .some((object) =>
                storedReferences(from, object).some((each) => each.to === to && each.id === id),
              ),
          );
          expect([to.kind, id, store.isReferredTo(to, id)]).toEqual([to.kind, id, isFound]);
        }
    }),
    { numRuns: 100 },
  );
});

test.each([false, true])(
  "documents come out of the archive as they went in, the large ones too (compressed: %s)",
  (isCompressed) => {
    const isAny = (value: unknown): value is unknown => value !== undefined;
    const large = fc.nat({ max: 700_000 }).map((length) => "é".repeat(length));
    const some = fc.oneof({ weight: 5, arbitrary: fc.jsonValue() }, large);
    fc.assert(
      fc.property(
        fc.array(some, { maxLength: 60 }),
        fc.infiniteStream(fc.nat()),
        (documents, order) => {
          const archive = new DocumentArchive({ isCompressed });
          const places = documents.map((document) => archive.add(document));
          const kept = documents.map((document): unknown => JSON.parse(JSON.stringify(document)));
          expect(new Set(places).size).toBe(places.length);
          for (let reads = 0; reads < places.length; reads += 1) {
            const which = (order.next().value ?? 0) % places.length;
            expect(archive.read(places[which] ?? -1, isAny)).toEqual(kept[which]);
          }
          const all = archive.readAll(places.toReversed(), isAny);
          expect(places.map((place) => all.get(place))).toEqual(kept);
          archive.clear();
          expect(() =>
            archive.read(0, (value): value is string => typeof value === "string"),
          ).toThrow("no such document");
        },
      ),
      { numRuns: 30 },
    );
  },
);

test("whoever asks for a token with every call keeps the newest 50,000", () => {
  const tokens = new Tokens(createClock("manual"));
  const claims = { clientId: "c", scopes: [], subject: "client" } as const;
  const [first = "", ...more] = Array.from({ length: 50_001 }, () => tokens.issue(claims, 1000));
  expect(() => tokens.authenticate(`Bearer ${first}`)).toThrow("invalid or expired");
  for (const token of [more[0], more.at(-1)])
    expect(tokens.authenticate(`Bearer ${token}`)).toEqual(claims);
});
