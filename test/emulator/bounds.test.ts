import fc from "fast-check";
import { expect, test } from "vitest";
import type { EmulatorControl } from "../../emulator/control/emulator-control.js";
import { findReferences, Store } from "../../emulator/objects/objects.js";
import { CallLog, keptBody } from "../../emulator/service/calls.js";
import { createClock } from "../../emulator/service/clock.js";
import { resources } from "../../provider/resources/index.js";
import { HubRecords } from "../../sdk/testing/checks.js";
import { kindOf, running } from "./running.js";

const created = "2024-01-01T00:00:00.000Z";
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
      const store = new Store(createClock("manual"));
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
                findReferences(from, object).some((each) => each.to === to && each.id === id),
              ),
          );
          expect([to.kind, id, store.isReferredTo(to, id)]).toEqual([to.kind, id, isFound]);
        }
    }),
    { numRuns: 100 },
  );
});

test.each([
  ["small", 10, 3_000, 3_000],
  ["large", 500_000, 100, 64],
])("the earlier states of %s objects fill no memory", (_, length, changes, most) => {
  const clock = createClock("manual");
  const store = new Store(clock);
  for (let round = 0; round < changes; round += 1) {
    clock.advance(1);
    const icon = "x".repeat(length);
    store.put("channels", { id: "a", created, modified: created, icon, round });
  }
  const kept = Array.from({ length: changes }, (_, ago) => store.allBefore("channels", ago));
  const right = kept.filter(([object], ago) => object?.round === changes - 1 - ago);
  expect(right.length).toBeLessThanOrEqual(most);
  expect(right.length).toBeGreaterThanOrEqual(most / 2);
});

test("callers with large bodies fill no memory, and the newest calls keep theirs", () => {
  const log = new CallLog();
  const entry = { at: created, method: "POST", template: "/channels", path: "" };
  for (let call = 0; call < 1_000; call += 1)
    log.add({ ...entry, status: 201, ms: 0 }, { sent: keptBody(1, () => String(call)) });
  const kept = Array.from({ length: 1_000 }, (_, place) => log.callAt(place)?.content.sent?.text);
  const texts = kept.filter((text) => text !== undefined);
  expect(texts.length).toBeGreaterThanOrEqual(250);
  expect(texts.length).toBeLessThan(500);
  expect(kept.at(-1)).toBe("999");
  const unread = () => {
    throw new Error("a body that is too large was made into a text");
  };
  expect(keptBody(2 * 1024 * 1024, unread)).toEqual({ size: 2 * 1024 * 1024 });
});

test("the calls of a run are found, however many there were before", async () => {
  const log = new CallLog();
  const control = { log: async () => log.entries.all() } as unknown as EmulatorControl;
  const records = new HubRecords(control, "platform");
  const call = (path: string): void => {
    log.add({ at: created, method: "GET", template: path, path, status: 200, ms: 0 }, {});
  };
  expect(await records.nextCall()).toBe(0);
  for (let count = 0; count < 10_001; count += 1) call("/channels");
  const first = await records.nextCall();
  call("/accounts");
  expect(await records.calls(first)).toEqual([
    { at: created, endpoint: "GET /accounts", status: 200 },
  ]);
  log.reset();
  call("/accounts");
  expect(await records.calls(first)).toHaveLength(1);
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
