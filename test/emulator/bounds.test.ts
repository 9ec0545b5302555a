import { setMaxListeners } from "node:events";
import fc from "fast-check";
import { expect, test } from "vitest";
import { CallLog, keptBody } from "../../emulator/http/call-log.js";
import { ValidationErrors } from "../../emulator/http/exchange.js";
import { RateLimiter } from "../../emulator/http/rate-limit.js";
import { History, Store, storedReferences } from "../../emulator/objects/store.js";
import { DocumentArchive } from "../../emulator/runtime/conversation-store.js";
import { CallSlots } from "../../emulator/runtime/outgoing.js";
import { createClock } from "../../emulator/service/clock.js";
import { noJournal } from "../../emulator/service/journal.js";
import { savedSwitches } from "../../emulator/service/switches.js";
import { Tokens } from "../../emulator/token/tokens.js";
import { resources } from "../../provider/resources/index.js";
import { coreMsOf } from "../support/core-time.js";
import { kindOf, running } from "./running.js";

const created = "2024-01-01T00:00:00.000Z";
const channel = (id: string, type = id) => ({ id, created, modified: created, type });

const storeOf = (...ids: string[]) => {
  const clock = createClock("manual");
  const store = new Store(clock, noJournal);
  for (const id of ids) store.put("channels", channel(id));
  return { store, clock };
};

test("a broken shape is seen beyond the errors that are kept", () => {
  const errors = new ValidationErrors();
  for (let place = 0; place < 30; place += 1) errors.at(`p${place}`).notAllowed(["a"]);
  expect(errors.hasBrokenShape).toBe(false);
  errors.at("q").wrongType("must be a string");
  expect(errors.hasBrokenShape).toBe(true);
});

test.each([
  ["no more than 2,000 changes", 10_000, 1, 1000, 2000],
  ["objects with pictures only as far as there is room", 100, 500_000, 4, 8],
])("undone are %s", (_, changes, length, least, most) => {
  const history = new History<{
    readonly id: string;
    readonly created: string;
    readonly icon: string;
  }>();
  for (let step = 0; step < changes; step += 1)
    history.add(1, `o${step}`, { id: `o${step}`, created, icon: "x".repeat(length) });
  const undone = history.undone(new Map(), 0);
  expect(undone.length).toBeGreaterThanOrEqual(least);
  expect(undone.length).toBeLessThanOrEqual(most);
  expect(undone.map(({ id }) => id)).toContain(`o${changes - 1}`);
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
  expect(() => tokens.authenticate(`Bearer ${first}`)).toThrow("invalid, or expired");
  for (const token of [more[0], more.at(-1)])
    expect(tokens.authenticate(`Bearer ${token}`)).toEqual(claims);
});

const words = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, place) => `w${place}`);

test("callers who make endpoints up fill no memory, and others keep their counts", () => {
  const log = new CallLog();
  const call = (template: string) =>
    log.add(
      {
        at: created,
        method: "GET",
        template,
        path: "",
        status: 200,
        ms: 0,
        clientId: "c",
        subjects: [],
      },
      { check: "operation" },
    );
  for (const word of words(10_000)) {
    call(`/case-manager/v3/${word}`);
    call("/channels");
  }
  expect(Object.keys(log.counts()).length).toBeLessThanOrEqual(2_000);
  expect(log.counts()["GET /channels"]).toEqual({ accepted: 10_000, refused: 0 });
});

test("callers with large bodies fill no memory, and the newest calls keep theirs", () => {
  const log = new CallLog();
  const entry = {
    at: created,
    method: "POST",
    template: "/channels",
    path: "",
    status: 201,
    ms: 0,
  };
  const text = "x".repeat(60_000);
  for (let call = 0; call < 1_000; call += 1) {
    const content = { check: "operation", sent: keptBody(text.length, () => text) } as const;
    log.add({ ...entry, subjects: [] }, content);
  }
  const kept = Array.from({ length: 1_000 }, (_, place) => log.callAt(place)?.content.sent?.text);
  const characters = kept.reduce((sum, each) => sum + (each?.length ?? 0), 0);
  expect(characters).toBeGreaterThan(4 * 1024 * 1024);
  expect(characters).toBeLessThanOrEqual(8 * 1024 * 1024);
  expect(kept.at(-1)).toBe(text);
  const unread = () => {
    throw new Error("a body that is too large was made into a text");
  };
  expect(keptBody(2 * 1024 * 1024, unread)).toEqual({ size: 2 * 1024 * 1024 });
});

test("callers who make endpoints up keep the bucket of nobody, and fill that of no other", () => {
  const clock = createClock("manual");
  const switches = savedSwitches(noJournal, {});
  const limiter = new RateLimiter({ plan: "basic", burst: 1, clock, switches });
  expect(limiter.refusal("GET /channels")).toBeUndefined();
  for (const word of words(10_000)) {
    limiter.refusal(`GET /case-manager/v3/${word}`, [1, 1, 1]);
    expect(limiter.refusal("GET /channels")?.status).toBe(429);
  }
  expect(limiter.refusal("GET /case-manager/v3/w9999", [1, 1, 1])?.status).toBe(429);
  expect(limiter.refusal("GET /case-manager/v3/w0", [1, 1, 1])).toBeUndefined();
});

test("20,000 calls that wait are given up, or let another by, in no time", async () => {
  const slots = new CallSlots(160, 80);
  const leaving = words(20_000).map(() => new AbortController());
  const { signal } = new AbortController();
  setMaxListeners(0, signal);
  let outcomes: readonly string[] = [];
  const ms = await coreMsOf(async () => {
    const slow = leaving.map((controller) =>
      slots.take("slow", controller.signal).then(
        () => "had a turn",
        () => "given up",
      ),
    );
    for (const turn of words(500).map(() => slots.take("quick", signal))) (await turn)();
    for (const controller of leaving) controller.abort();
    outcomes = await Promise.all(slow);
  });
  expect(outcomes.filter((outcome) => outcome === "given up")).toHaveLength(20_000 - 80);
  // With a look at all that wait for each of them it takes half a minute.
  expect(ms).toBeLessThan(10_000);
});

const minute = 60_000;

test("every answer gives the emulator's own time, also when its clock is moved by hand", async () => {
  const service = await running({ clock: "manual" });
  const channel = kindOf("Channel");
  const id = await service.make(channel);
  const dates = async (): Promise<unknown[]> => {
    const calls = [
      service.call("GET", "/channels"),
      service.call("GET", `/channels/${id}`),
      service.call("GET", "/channels/none"),
      service.call("GET", "/nothing"),
      service.call("POST", "/channels", undefined, { raw: "{" }),
      service.call("GET", "/channels", undefined, { token: "wrong" }),
    ];
    return (await Promise.all(calls)).map(({ headers }) => headers.date);
  };
  const before = await dates();
  expect(new Set(before).size).toBe(1);
  service.emulator.advance(90 * minute);
  const [after, ...others] = await dates();
  expect(Date.parse(String(after)) - Date.parse(String(before[0]))).toBe(90 * minute);
  expect(new Set(others)).toEqual(new Set([after]));
});

test("what was made and changed has the time of its answer", async () => {
  const service = await running({ clock: "manual" });
  service.emulator.advance(5 * minute);
  const id = await service.make(kindOf("Channel"));
  const { headers, json } = await service.call("GET", `/channels/${id}`);
  const date = Date.parse(String(headers.date));
  expect(Math.abs(Date.parse(String(json.created)) - date)).toBeLessThan(1_000);
});
