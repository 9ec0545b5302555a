import { afterEach, beforeEach, expect, test } from "vitest";
import { type Emulated, emulated, owned } from "../support/emulated.js";
import { kiosk, stepsOn } from "./steps.js";

let hub: Emulated;

beforeEach(async () => {
  hub = await emulated();
});
afterEach(() => hub.stop());

const { make } = stepsOn(() => hub);
const ownership = "shop/prod/0123456789abcdef";

test("an object whose resource was renamed in the state is not taken for the new resource of the old name", async () => {
  const { id } = await make("Channel", kiosk());
  const before = await hub.objects("channels");
  hub.nextRun([{ kind: "Channel", id, owner: `${ownership}/renamed` }]);
  await expect(make("Channel", kiosk())).rejects.toThrow(/stands for urn:.*renamed.*aliases/s);
  expect(await hub.objects("channels")).toEqual(before);
  const other = await make("Channel", kiosk({ type: "custom.other" }));
  expect(other.id).not.toBe(id);
  expect((await hub.objects("channels"))[0]).toEqual(before[0]);
});

test("an object that was moved to another stack is not taken for a new resource of the old name", async () => {
  const { id } = await make("Channel", kiosk());
  const before = await hub.objects("channels");
  hub.nextRun([{ kind: "Channel", id, owner: "shop/dev/1/kiosk", stack: "organization/shop/dev" }]);
  await expect(make("Channel", kiosk())).rejects.toThrow("organization/shop/dev");
  expect(await hub.objects("channels")).toEqual(before);
  await make("Channel", kiosk({ type: "custom.other" }));
  expect((await hub.objects("channels"))[0]).toEqual(before[0]);
});

test("where no state can be seen, an object with the mark and another name is left alone", async () => {
  const { id } = await make("Channel", kiosk());
  hub.nextRun();
  const other = await make("Channel", kiosk({ type: "custom.other" }));
  expect(other.id).not.toBe(id);
  expect(await hub.objects("channels")).toHaveLength(2);
});

test("a left-over under another name that no state holds is put into shape", async () => {
  const { id } = await make("Channel", kiosk());
  hub.nextRun([]);
  expect((await make("Channel", kiosk({ type: "custom.other" }))).id).toBe(id);
});

test("an object that somebody took the mark off is still known by its state when it is forced to be replaced", async () => {
  const { channel } = await import("../../provider/resources/channel.js");
  const { id } = await make("Channel", kiosk());
  const [object] = await hub.objects("channels");
  await hub.service.replace(channel, id, { ...object, description: "mine" });
  hub.nextRun([{ kind: "Channel", id, owner: `${ownership}/kiosk` }]);
  expect((await make("Channel", kiosk())).id).toBe(id);
});

test("a second POST that succeeds after an unclear one is not lost when the list fails then", async () => {
  await hub.faults(
    { on: "POST /channels", kind: "drop-before-commit" },
    { on: "GET /channels", kind: "status", status: 503, after: 2, times: 9 },
  );
  const { id } = await make("Channel", kiosk());
  expect((await hub.objects("channels")).map((object) => object.id)).toEqual([id]);
});

test("a rename without an alias says how to keep the object", async () => {
  const { id } = await make("Channel", kiosk());
  hub.nextRun([{ kind: "Channel", id, owner: `${ownership}/kiosk` }]);
  await expect(make("Channel", owned("new", kiosk(), ownership))).rejects.toThrow(
    /aliases: \[\{ name: "kiosk" \}\]/,
  );
});
