import fc from "fast-check";
import { afterEach, describe, expect, test } from "vitest";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { channel } from "../../provider/resources/channel.js";
import { orchestration } from "../../provider/resources/orchestration.js";
import { type Emulated, emulated, owned } from "../support/emulated.js";
import { stepsOn } from "./steps.js";

let hub: Emulated;
afterEach(() => hub.stop());

const { checked } = stepsOn(() => hub);

const agents = ["1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10"];
const flow = { name: "flow", applications: { agentConfiguration: { agents } } };
const kiosk = { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC" };

/** Names of channels are unique, those of orchestrations need not be. */
const kinds = {
  Channel: { definition: channel, inputs: kiosk, wire: kiosk },
  Orchestration: {
    definition: orchestration,
    inputs: flow,
    wire: {
      name: "flow",
      applications: { agentConfiguration: { agents: agents.map((id) => ({ id })) } },
    },
  },
} as const;
type Kind = keyof typeof kinds;

const marks = { description: {}, none: { CONVERSATION_OWNERSHIP_MARK: "none" } } as const;

const start = async (ownershipMark: keyof typeof marks): Promise<void> => {
  const switches = { unknownReference: "accept" } as const;
  hub = await emulated({ switches }, marks[ownershipMark]);
};

const create = async (kind: Kind, name = "one", more: Json = {}): Promise<string> => {
  const inputs = await checked(kind, owned(name, { ...kinds[kind].inputs, ...more }));
  return (await hub.of(kind).create(inputs)).id;
};

const live = (kind: Kind) => hub.objects(kinds[kind].definition.collection);

const forbidden = (collection: string, more: Json = {}) => ({
  on: `GET /${collection}`,
  kind: "forbidden-list",
  times: 99,
  ...more,
});

describe.each(["description", "none"] as const)("with ownershipMark %s", (ownershipMark) => {
  test.each(["in the same run", "in the next run"])(
    "an orchestration whose POST lost its answer is not made again %s while its list is forbidden",
    async (when) => {
      await start(ownershipMark);
      await hub.faults(
        { on: "POST /orchestrations", kind: "drop-after-commit" },
        forbidden("orchestrations", { after: 1 }),
      );
      await expect(create("Orchestration")).rejects.toThrow(
        /It is unknown whether the call created the orchestration/,
      );
      const made = await live("Orchestration");
      if (when === "in the next run") hub.nextRun();
      await expect(create("Orchestration")).rejects.toThrow(/list.*adopt: "<id>"/s);
      expect(await live("Orchestration")).toEqual(made);
      expect(made).toHaveLength(1);
    },
  );

  test("a retry within the run finds what the lost POST made as soon as the list can be read", async () => {
    await start(ownershipMark);
    await hub.faults(
      { on: "POST /orchestrations", kind: "drop-after-commit" },
      forbidden("orchestrations", { after: 1, times: 2 }),
    );
    await expect(create("Orchestration")).rejects.toThrow();
    await expect(create("Orchestration")).rejects.toThrow();
    const id = await create("Orchestration");
    expect((await live("Orchestration")).map((each) => each.id)).toEqual([id]);
  });

  test("an orchestration is not made while its list is forbidden, a channel is", async () => {
    await start(ownershipMark);
    await hub.faults(forbidden("orchestrations"), forbidden("channels"));
    await expect(create("Orchestration")).rejects.toThrow(
      /Allow the client to list orchestrations/,
    );
    expect(await create("Channel")).toBe((await live("Channel"))[0]?.id);
    expect(await live("Orchestration")).toEqual([]);
  });
});

test("nothing is made while a list fails for another reason than a refusal", async () => {
  await start("description");
  await hub.faults({ on: "GET /channels", kind: "status", status: 503, times: 99 });
  await expect(create("Channel")).rejects.toThrow(/list every channel.*503/);
  expect(await live("Channel")).toEqual([]);
});

test("what somebody made under the name is not taken for the object of a POST that no list was read before", async () => {
  await start("none");
  const { id } = await hub.service.create(channel, { ...kiosk, description: "mine" });
  hub.nextRun();
  await hub.faults(forbidden("channels", { times: 1 }), {
    on: "POST /channels",
    kind: "status",
    status: 500,
  });
  await expect(create("Channel")).rejects.toThrow(
    /It is unknown whether the call created the channel/,
  );
  expect(await live("Channel")).toMatchObject([{ id, description: "mine" }]);
});

const made = async (more: Json) =>
  (await hub.service.create(orchestration, { ...kinds.Orchestration.wire, ...more })).id;

test.each([
  ["another resource", () => create("Orchestration", "two")],
  ["another stack", () => made({ description: "x [pulumi: other/dev x #12345678-123456789abc]" })],
  ["a person under another name", () => made({ name: "theirs" })],
])("what %s has made since is not taken for the object of a lost POST", async (_, makeOther) => {
  await start("none");
  await hub.faults(
    { on: "POST /orchestrations", kind: "drop-before-commit" },
    { on: "GET /orchestrations", kind: "status", status: 400, after: 1 },
  );
  await expect(create("Orchestration")).rejects.toThrow(/It is unknown whether the call created/);
  const other = await makeOther();
  const own = await create("Orchestration");
  expect((await live("Orchestration")).map(({ id }) => id)).toEqual([other, own]);
});

test("what another resource has adopted is not taken back for the object of a lost POST", async () => {
  await start("description");
  hub.nextRun([]);
  await hub.faults(
    { on: "POST /orchestrations", kind: "drop-after-commit" },
    { on: "GET /orchestrations", kind: "status", status: 400, after: 1 },
  );
  await expect(create("Orchestration")).rejects.toThrow(/It is unknown whether the call created/);
  hub.emulator.advance(100_000);
  await create("Orchestration", "two", { adopt: true });
  // The list still shows the mark of the first one.
  await hub.faults({ on: "GET /orchestrations", kind: "stale-list", ms: 50_000 });
  await expect(create("Orchestration")).rejects.toThrow(/It is unknown whether the call created/);
});

test("where a list showed too late what a lost POST made, one of the two objects stays", async () => {
  await start("description");
  await hub.faults(
    { on: "POST /orchestrations", kind: "drop-after-commit" },
    { on: "GET /orchestrations", kind: "stale-list", ms: 60_000, after: 1 },
  );
  const id = await create("Orchestration");
  expect((await live("Orchestration")).map((each) => each.id)).toEqual([id]);
  expect(await hub.calls()).toContain("DELETE /orchestrations/{id} 204");
});

test("a forced replacement keeps the object of an orchestration whose list is forbidden", async () => {
  await start("description");
  const id = await create("Orchestration");
  const { owner } = owned("one", {});
  hub.nextRun([{ kind: "Orchestration", id, owner: String(owner) }]);
  await hub.faults(forbidden("orchestrations"));
  expect(await create("Orchestration")).toBe(id);
});

const rule = fc.oneof(
  fc.record({
    list: fc.constantFrom("forbidden-list", "status", "drop-before-commit"),
    after: fc.constantFrom(0, 0, 1, 2),
    times: fc.constantFrom(99, 2, 1),
  }),
  fc.record({
    post: fc.constantFrom(
      "drop-after-commit",
      "drop-before-commit",
      "status-after-commit",
      "status",
      "not-json",
    ),
    times: fc.constantFrom(1, 99),
  }),
);

const attempts = fc.array(
  fc.record({ isNewRun: fc.boolean(), rules: fc.array(rule, { minLength: 1, maxLength: 3 }) }),
  { minLength: 2, maxLength: 4 },
);

test("whatever becomes of POSTs and lists, over retries and runs, there is one object, and a person's stays theirs", async () => {
  await start("description");
  await fc.assert(
    fc.asyncProperty(
      attempts,
      fc.constantFrom<Kind>("Orchestration", "Orchestration", "Channel"),
      fc.constantFrom<keyof typeof marks>("description", "none"),
      fc.boolean(),
      async (steps, kind, ownershipMark, isNamesakeThere) => {
        await hub.stop();
        await start(ownershipMark);
        const { definition, wire } = kinds[kind];
        const persons = isNamesakeThere ? [await hub.service.create(definition, { ...wire })] : [];
        const before = await live(kind);
        hub.nextRun();
        for (const { isNewRun, rules } of steps) {
          if (isNewRun) hub.nextRun();
          hub.emulator.advance(1000);
          await hub.control("DELETE", "/faults");
          await hub.faults(
            ...rules.map((each) => {
              const on = `${"list" in each ? "GET" : "POST"} /${definition.collection}`;
              const what =
                "list" in each ? { kind: each.list, after: each.after } : { kind: each.post };
              const isStatus = what.kind.startsWith("status");
              return { on, ...what, times: each.times, ...(isStatus ? { status: 503 } : {}) };
            }),
          );
          const made = await create(kind).catch(() => undefined);
          const objects = await live(kind);
          expect(objects.slice(0, persons.length)).toEqual(before);
          expect(objects.length).toBeLessThanOrEqual(persons.length + 1);
          if (made) {
            expect(objects.at(-1)?.id).toBe(made);
            return;
          }
        }
        await hub.control("DELETE", "/faults");
        hub.nextRun();
        const end = await create(kind).catch(({ message }: Error) => message);
        const own = (await live(kind)).slice(persons.length);
        if (own.length !== 1 || own[0]?.id !== end) expect(end).toContain("adopt: ");
      },
    ),
    { seed: 20_261_123, numRuns: 40 },
  );
});
