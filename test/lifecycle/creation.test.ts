import { afterEach, beforeEach, expect, test } from "vitest";
import { type Emulated, emulated, owned } from "../support/emulated.js";

const channel = (type: string, more: Record<string, unknown> = {}) => ({
  type,
  displayName: "Kiosk",
  icon: "aVZC",
  ...more,
});

let hub: Emulated;

beforeEach(async () => {
  hub = await emulated();
});
afterEach(() => hub.stop());

const checked = async (inputs: Record<string, unknown>, kind = "Channel") => {
  const { inputs: result, failures } = await hub.of(kind).check({}, inputs);
  expect(failures).toEqual([]);
  return { ...JSON.parse(JSON.stringify(result)), __provider: "pointer" };
};

const create = async (inputs: Record<string, unknown>) =>
  hub.of("Channel").create(await checked(inputs));

test("a creation is one list and one POST, and leaves the mark in the description", async () => {
  const { id, outs } = await create(
    owned("kiosk", channel("custom.kiosk", { description: "In the store" })),
  );
  expect(await hub.calls()).toEqual(["GET /channels 200", "POST /channels 201"]);
  const [object] = await hub.objects("channels");
  expect(object?.id).toBe(id);
  expect(object?.description).toMatch(
    /^In the store \[pulumi: shop\/prod kiosk #[0-9a-f]{8}-[0-9a-f]{12}-[0-9a-z]{15}\]$/,
  );
  expect(outs.description).toBe("In the store");
});

test("further creations of a run share the list", async () => {
  await Promise.all(["a", "b", "c"].map((name) => create(owned(name, channel(`custom.${name}`)))));
  const calls = await hub.calls();
  expect(calls.filter((call) => call.startsWith("GET"))).toEqual(["GET /channels 200"]);
});

test("a description that leaves no room for the mark is kept as it is", async () => {
  const description = "d".repeat(1000);
  await create(owned("kiosk", channel("custom.kiosk", { description })));
  expect((await hub.objects("channels"))[0]?.description).toBe(description);
});

test.each(["drop-after-commit", "truncate", "not-json", "no-id", "status-after-commit"])(
  "after %s the object is found again and not made twice",
  async (kind) => {
    await hub.faults({
      on: "POST /channels",
      kind,
      ...(kind.startsWith("status") ? { status: 500 } : {}),
    });
    const { id } = await create(owned("kiosk", channel("custom.kiosk")));
    expect((await hub.objects("channels")).map((object) => object.id)).toEqual([id]);
  },
);

test.each(["drop-before-commit", "status"])(
  "after %s the object is made by a second POST",
  async (kind) => {
    await hub.faults({ on: "POST /channels", kind, ...(kind === "status" ? { status: 503 } : {}) });
    const { id } = await create(owned("kiosk", channel("custom.kiosk")));
    expect((await hub.objects("channels")).map((object) => object.id)).toEqual([id]);
  },
);

test("an object that an interrupted run left behind is taken over and put into shape", async () => {
  const first = await create(owned("kiosk", channel("custom.kiosk", { displayName: "Old" })));
  hub.nextRun();
  const second = await create(owned("kiosk", channel("custom.kiosk", { displayName: "New" })));
  expect(second.id).toBe(first.id);
  expect(await hub.objects("channels")).toMatchObject([{ displayName: "New" }]);
});

test("an own object that cannot be put into shape is reported with its id", async () => {
  const first = await create(owned("kiosk", channel("custom.kiosk")));
  hub.nextRun();
  await hub.faults({
    on: "PUT /channels/{id}",
    kind: "status",
    status: 400,
    body: { code: "400-1", developerMessage: "not today" },
  });
  const failure = await create(
    owned("kiosk", channel("custom.kiosk", { displayName: "New" })),
  ).catch((error) => error);
  expect(failure).toMatchObject({
    id: first.id,
    properties: { displayName: "New", __provider: "pointer" },
  });
  expect(failure.reasons[0]).toContain("not today");
});

test("a name that somebody else uses is refused, and the object is left alone", async () => {
  const other = "shop/prod/fedcba9876543210";
  await create(owned("kiosk", channel("custom.kiosk"), other));
  const [before] = await hub.objects("channels");
  hub.nextRun();
  await expect(create(owned("kiosk", channel("custom.kiosk")))).rejects.toThrow(
    /belongs to another Pulumi resource or state: shop\/prod kiosk/,
  );
  expect(await hub.objects("channels")).toEqual([before]);
});

test("an unmanaged object with the name is refused with the way to adopt it", async () => {
  const { id } = await hub.service.create(
    (await import("../../provider/resources/channel.js")).channel,
    channel("custom.kiosk"),
  );
  hub.nextRun();
  await expect(create(owned("kiosk", channel("custom.kiosk")))).rejects.toThrow(`adopt: "${id}"`);
});

test.each([true, "id"])(
  "adopt: %s takes an unmanaged object over and keeps what it does not know",
  async (how) => {
    const { channel: definition } = await import("../../provider/resources/channel.js");
    const { id } = await hub.service.create(definition, {
      ...channel("custom.kiosk"),
      region: "eu",
    });
    hub.nextRun();
    const adopt = how === "id" ? id : how;
    const made = await create(
      owned("kiosk", channel("custom.kiosk", { displayName: "Mine", adopt })),
    );
    expect(made.id).toBe(id);
    expect(await hub.objects("channels")).toMatchObject([
      { id, displayName: "Mine", region: "eu", description: expect.stringContaining("[pulumi: ") },
    ]);
  },
);

test("adopt refuses an object of another stack and an id that does not exist", async () => {
  const { id } = await create(
    owned("kiosk", channel("custom.kiosk"), "other/dev/fedcba9876543210"),
  );
  hub.nextRun();
  const refused = async (adopt: string): Promise<string | undefined> => {
    const inputs = owned("mine", channel("custom.mine", { adopt }));
    return (await hub.of("Channel").check({}, inputs)).failures[0]?.reason;
  };
  expect(await refused(id)).toContain("other/dev kiosk");
  expect(await refused("1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10")).toContain(
    "there is no channel with the id",
  );
});

test("without marks an interrupted creation is still recognised within its run", async () => {
  await hub.stop();
  hub = await emulated({}, { CONVERSATION_OWNERSHIP_MARK: "none" });
  await hub.faults({ on: "POST /channels", kind: "drop-after-commit" });
  await create(owned("kiosk", channel("custom.kiosk")));
  expect(await hub.objects("channels")).toHaveLength(1);
  expect((await hub.objects("channels"))[0]).not.toHaveProperty("description");
});

test("a rate limit is waited out", async () => {
  await hub.stop();
  hub = await emulated({ plan: "developer", burst: 1 });
  await Promise.all(
    ["a", "b", "c", "d"].map((name) => create(owned(name, channel(`custom.${name}`)))),
  );
  expect(await hub.objects("channels")).toHaveLength(4);
});
