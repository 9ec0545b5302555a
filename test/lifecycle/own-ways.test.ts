import { afterEach, expect, test } from "vitest";
import { channel } from "../../provider/resources/channel.js";
import { type Bent, bent } from "../support/bent.js";
import { oneOfEach } from "./one-of-each.js";
import { kiosk, stepsOn } from "./steps.js";

type Json = Record<string, unknown>;

let hub: Bent;
afterEach(() => hub.stop());

const steps = stepsOn(() => hub);

test.each([
  ["in lower case", (name: string) => name.toLowerCase()],
  ["without blanks inside", (name: string) => name.replaceAll(" ", "-")],
  ["cut", (name: string) => name.slice(0, 6)],
])("a lost POST makes no second object where the service keeps names %s", async (_, kept) => {
  let lost = 1;
  hub = await bent({
    stored: (body) => ({ ...body, ...(body.name ? { name: kept(String(body.name)) } : {}) }),
    answer: (answer, { method, collection }) =>
      method === "POST" && collection === "orchestrations" && lost-- > 0 ? "lost" : answer,
  });
  const all = await oneOfEach(steps, (kind, inputs) =>
    kind === "Orchestration" ? { ...inputs, name: "All Orders" } : inputs,
  );
  const made = await hub.objects("orchestrations");
  expect(made.map(({ id }) => id)).toEqual([all.get("Orchestration")?.id]);
});

test("times without a zone are GMT, whatever the zone of this machine: ours is no copy", async () => {
  const zone = process.env.TZ;
  process.env.TZ = "America/Los_Angeles";
  try {
    hub = await bent({
      shown: (object) => ({ ...object, created: String(object.created).replace("Z", "") }),
    });
    const { id, state } = await steps.make("Channel", kiosk());
    hub.nextRun();
    const { props } = await hub.of("Channel").read(id, state);
    expect(props.created).toBe(state.created);
    expect((await steps.make("Channel", kiosk())).id).toBe(id);
  } finally {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  }
});

test("where a PUT keeps what it leaves out, a run says what it cannot remove", async () => {
  hub = await bent({}, { switches: { put: "keep" } }, { CONVERSATION_PUT: "keep" });
  const restrictions = { inbound: { maxTextLength: 5 } };
  const { id, state } = await steps.make(
    "Channel",
    kiosk({ restrictions, extra: { region: "eu" } }),
  );
  const later = await steps.change("Channel", id, state, kiosk());
  expect(hub.told.join()).toMatch(/still has restrictions, region, which the program declares no/);
  hub.nextRun();
  await steps.change("Channel", id, later, kiosk({ displayName: "New" }));
  expect(hub.told).toEqual([]);
});

test.each([
  ["lists leave descriptions out", ({ description: _, ...object }: Json) => object, 1],
  ["ids cannot be used", (object: Json) => ({ ...object, id: `a.${object.id}` }), 1],
])("a POST is not sent twice where %s", async (_, shown, count) => {
  let lost = 1;
  hub = await bent({
    shown: (object, { id, collection }) =>
      id === undefined && collection === "orchestrations" ? shown(object) : object,
    answer: (answer, { method, collection }) =>
      method === "POST" && collection === "orchestrations" && lost-- > 0 ? "lost" : answer,
  });
  await oneOfEach(steps).catch(() => undefined);
  expect(await hub.objects("orchestrations")).toHaveLength(count);
});

test.each([78, 79, 80])(
  "a name of %i letters and an emoji is cut between characters",
  async (n) => {
    hub = await bent();
    const type = `${"a".repeat(n)}😀b`;
    const { id } = await hub.service.create(channel, { type, displayName: "K", icon: "aVZC" });
    hub.nextRun([]);
    const failure = await steps.make("Channel", kiosk({ type })).catch((error: Error) => error);
    expect(String(failure)).toBe("pulumi-conversation");
    expect((failure as Error).message).toContain(id);
    expect((failure as Error).message).not.toMatch(/\\ud83d/i);
  },
);
