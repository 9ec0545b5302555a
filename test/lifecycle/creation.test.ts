import { afterEach, beforeEach, expect, test } from "vitest";
import { asBody, type Emulated, emulated, owned } from "../support/emulated.js";
import { kiosk, stepsOn } from "./steps.js";

let hub: Emulated;

beforeEach(async () => {
  hub = await emulated();
});
afterEach(() => hub.stop());

const { checked, make } = stepsOn(() => hub);
const named = (name: string, more = {}) => owned(name, kiosk({ type: `custom.${name}`, ...more }));

test("a creation is one list and one POST, and leaves the mark in the description", async () => {
  const { id, state } = await make("Channel", kiosk({ description: "In the store" }));
  expect(await hub.calls()).toEqual(["GET /channels 200", "POST /channels 201"]);
  const [object] = await hub.objects("channels");
  expect(object?.id).toBe(id);
  expect(object?.description).toMatch(
    /^In the store \[pulumi: shop\/prod kiosk #[0-9a-f]{8}-[0-9a-f]{12}-[0-9a-z]{15}\]$/,
  );
  expect(state.description).toBe("In the store");
});

test("a POST whose response is lost is repeated only if a fresh list does not show its object", async () => {
  await hub.faults({ on: "POST /channels", kind: "drop-after-commit" });
  const found = await make("Channel", kiosk());
  expect(await hub.calls()).toEqual([
    "GET /channels 200",
    "POST /channels 201",
    "GET /channels 200",
  ]);
  await hub.faults({ on: "POST /channels", kind: "drop-before-commit" });
  const repeated = await make("Channel", named("other"));
  const posts = (await hub.calls()).filter((call) => call.startsWith("POST"));
  expect(posts).toEqual(["POST /channels 0", "POST /channels 201"]);
  expect((await hub.objects("channels")).map(({ id }) => id)).toEqual([found.id, repeated.id]);
});

test("a description that leaves no room for the mark is kept as it is", async () => {
  const description = "d".repeat(1000);
  await make("Channel", kiosk({ description }));
  expect((await hub.objects("channels"))[0]?.description).toBe(description);
});

test("an own object that cannot be put into shape is reported with its id", async () => {
  const first = await make("Channel", kiosk());
  hub.nextRun();
  await hub.faults({
    on: "PUT /channels/{id}",
    kind: "status",
    status: 400,
    body: { code: "400-1", developerMessage: "not today" },
  });
  const failure = await make("Channel", kiosk({ displayName: "New" })).catch((error) => error);
  expect(failure).toMatchObject({
    id: first.id,
    properties: { displayName: "New", __provider: "pointer" },
  });
  expect(failure.reasons[0]).toContain("not today");
});

test("adopt refuses an object of another stack and an id that does not exist", async () => {
  const { id } = await make("Channel", owned("kiosk", kiosk(), "other/dev/fedcba9876543210"));
  hub.nextRun();
  const refused = async (adopt: string): Promise<string | undefined> => {
    const inputs = named("mine", { adopt });
    return (await hub.of("Channel").check({}, inputs)).failures[0]?.reason;
  };
  expect(await refused(id)).toContain("other/dev kiosk");
  expect(await refused("1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10")).toContain(
    "there is no channel with the ID",
  );
});

const ownership = "shop/prod/0123456789abcdef";

test("an object whose resource was renamed in the state is not taken for the new resource of the old name", async () => {
  const { id } = await make("Channel", kiosk());
  const before = await hub.objects("channels");
  hub.nextRun([{ kind: "Channel", id, owner: `${ownership}/renamed` }]);
  await expect(make("Channel", kiosk())).rejects.toThrow(/belongs to urn:.*renamed.*aliases/s);
  expect(await hub.objects("channels")).toEqual(before);
  const other = await make("Channel", kiosk({ type: "custom.other" }));
  expect(other.id).not.toBe(id);
  expect((await hub.objects("channels"))[0]).toEqual(before[0]);
});

test("nor is one whose resource still has the old owner, because ignoreChanges keeps it", async () => {
  const { id, state } = await make("Channel", kiosk());
  hub.nextRun([{ kind: "Channel", id, owner: `${ownership}/renamed` }]);
  await hub.of("Channel").diff(id, state, await checked("Channel", kiosk()));
  const other = await make("Channel", kiosk({ type: "custom.other" }));
  expect(other.id).not.toBe(id);
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

test("half of a replacement whose other half was moved to another stack takes no object", async () => {
  const { id } = await make("Channel", kiosk());
  const half = { kind: "Channel", id, owner: `${ownership}/kiosk` };
  const stack = "organization/shop/dev";
  hub.nextRun([half, { ...half, owner: "shop/dev/1/kiosk", stack }]);
  const before = await hub.objects("channels");
  await expect(make("Channel", kiosk({ displayName: "New" }))).rejects.toThrow(stack);
  expect(await hub.objects("channels")).toEqual(before);
});

test("where no state can be seen, an object with the mark and another name is left alone", async () => {
  const { id } = await make("Channel", kiosk());
  // No state is readable.
  hub.nextRun();
  const other = await make("Channel", kiosk({ type: "custom.other" }));
  expect(other.id).not.toBe(id);
  expect(await hub.objects("channels")).toHaveLength(2);
});

test("what a killed run left under another name is put into shape, if no state holds it", async () => {
  const { id } = await make("Channel", kiosk());
  // It is readable, and empty.
  hub.nextRun([]);
  expect((await make("Channel", kiosk({ type: "custom.other" }))).id).toBe(id);
});

test("an object that somebody took the mark off is still known by its state when it is forced to be replaced", async () => {
  const { channel } = await import("../../provider/resources/channel.js");
  const { id } = await make("Channel", kiosk());
  const [object] = await hub.objects("channels");
  await hub.service.replace(channel, id, { ...asBody(object), description: "mine" });
  hub.nextRun([{ kind: "Channel", id, owner: `${ownership}/kiosk` }]);
  expect((await make("Channel", kiosk())).id).toBe(id);
});

test("an object whose long description ends like another's mark is still known by its state", async () => {
  const mark = " [pulumi: other/dev a #12345678-123456789abc]";
  const { id } = await make("Channel", kiosk({ description: mark.padStart(1023, "d") }));
  hub.nextRun([{ kind: "Channel", id, owner: `${ownership}/kiosk` }]);
  expect((await make("Channel", kiosk({ type: "custom.other" }))).id).toBe(id);
});

test("a second POST that succeeds after an unclear one is not lost when the list fails then", async () => {
  await hub.faults(
    { on: "POST /channels", kind: "drop-before-commit" },
    { on: "GET /channels", kind: "status", status: 503, after: 2, times: 9 },
  );
  const { id } = await make("Channel", kiosk());
  expect((await hub.objects("channels")).map((object) => object.id)).toEqual([id]);
});

test("an orchestration of a former state keeps the name that another one could have, too", async () => {
  const agents = ["1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10"];
  const flow = { name: "flow", applications: { agentConfiguration: { agents } } };
  await hub.control("PUT", "/switches", { unknownReference: "accept" });
  await make("Orchestration", owned("flow", flow, "shop/prod/fedcba9876543210"));
  const before = await hub.objects("orchestrations");
  hub.nextRun([]);
  await expect(make("Orchestration", owned("flow", flow))).rejects.toThrow(
    /belongs to another Pulumi resource or state: shop\/prod flow/,
  );
  expect(await hub.objects("orchestrations")).toEqual(before);
});

test("an automatic name of a former state is refused, though its suffix differs", async () => {
  const basicAuth = { username: "hub", password: "a-password" };
  const former = { name: "basic-1a2b3c4", basicAuth };
  await make("Authentication", owned("basic", former, "shop/prod/fedcba9876543210"));
  hub.nextRun([]);
  await expect(
    make("Authentication", owned("basic", { name: "basic-5d6e7f8", basicAuth })),
  ).rejects.toThrow(/belongs to another Pulumi resource or state: shop\/prod basic/);
});

test("a rename without an alias says how to keep the object", async () => {
  const { id } = await make("Channel", kiosk());
  hub.nextRun([{ kind: "Channel", id, owner: `${ownership}/kiosk` }]);
  await expect(make("Channel", owned("new", kiosk(), ownership))).rejects.toThrow(
    /aliases: \["urn:pulumi:prod::shop::pulumi-nodejs:dynamic\/conversation:Channel::kiosk"\]/,
  );
});
