import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { naturalKey } from "../../provider/definition/kinds.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { kindOf } from "../emulator/running.js";
import { asBody, type Emulated, emulated, type Held } from "../support/emulated.js";
import { type MadeKind, oneOfEach } from "./one-of-each.js";
import { kiosk, stepsOn } from "./steps.js";

let hub: Emulated;

beforeEach(async () => {
  hub = await emulated();
});
afterEach(() => hub.stop());

const steps = stepsOn(() => hub);
const { make, change, checked } = steps;

const stored = async (collection: string, id: string): Promise<Json | undefined> =>
  (await hub.objects(collection)).find((object) => object.id === id);

/** A person copies an object, description and all; under another name where names are unique. */
const copied = async ({ kind, collection, id }: MadeKind, name?: string): Promise<string> => {
  const rest = asBody(await stored(collection, id));
  const definition = kindOf(kind);
  const key = naturalKey(definition);
  const made = await hub.service.create(definition, {
    ...rest,
    [key]: name ?? `${rest[key]}-copy`,
  });
  return made.id;
};

const held = (...all: readonly MadeKind[]): Held[] =>
  all.map(({ kind, id, inputs }) => ({ kind, id, owner: String(inputs.owner) }));

describe.each(resources.map(({ kind }) => kind))(
  "a copy of our %s, description included",
  (kind) => {
    let made: MadeKind;
    let copy: string;
    let before: Json | undefined;

    beforeEach(async () => {
      const all = await oneOfEach(steps);
      made = all.get(kind) as MadeKind;
      copy = await copied(made);
      before = await stored(made.collection, copy);
      hub.nextRun(held(made));
    });
    const untouched = async () => expect(await stored(made.collection, copy)).toEqual(before);

    test("stays when an update of ours is refused", async () => {
      await hub.faults({
        on: `PUT /${made.collection}/{id}`,
        kind: "status",
        status: 400,
        body: { code: "400-196", developerMessage: "invalid value" },
      });
      await expect(
        change(kind, made.id, made.state, { ...made.inputs, description: "New" }),
      ).rejects.toThrow("invalid value");
      await untouched();
    });

    test("stays when ours is forced to be replaced", async () => {
      const inputs = await checked(kind, made.inputs);
      expect((await hub.of(kind).create(inputs)).id).toBe(made.id);
      await hub.of(kind).delete(made.id, made.state);
      await untouched();
      expect(await stored(made.collection, made.id)).toBeDefined();
    });

    test("stays when ours is forced to be replaced and no state can be seen", async () => {
      hub.nextRun();
      expect((await hub.of(kind).create(await checked(kind, made.inputs))).id).toBe(made.id);
      await untouched();
    });

    test("is not taken for ours when ours is gone and made again", async () => {
      await hub.service.remove(kindOf(kind), made.id).catch(() => undefined);
      hub.nextRun([]);
      await make(kind, made.inputs).catch(() => undefined);
      await untouched();
    });

    test("stays when ours was renamed by the program", async () => {
      const key = naturalKey(kindOf(kind));
      await change(kind, made.id, made.state, { ...made.inputs, [key]: `${made.inputs[key]}-new` });
      await untouched();
    });
  },
);

test("a copy that uses an object of ours is named when that cannot be deleted, and stays", async () => {
  const all = await oneOfEach(steps);
  const application = all.get("ClientApplication") as MadeKind;
  const copy = await copied(application);
  hub.nextRun(held(...all.values()));
  for (const kind of ["Account", "Orchestration", "Participant", "ClientApplication"]) {
    const { id, state } = all.get(kind) as MadeKind;
    await hub.of(kind).delete(id, state);
  }
  const { id, state } = all.get("Authentication") as MadeKind;
  await expect(hub.of("Authentication").delete(id, state)).rejects.toThrow(
    `orders-bot-copy" (ID ${copy}, not managed by Pulumi)`,
  );
  expect(await stored("clientapplications", copy)).toBeDefined();
});

test("of two orchestrations with one mark the older is ours", async () => {
  const all = await oneOfEach(steps);
  const flow = all.get("Orchestration") as MadeKind;
  hub.emulator.advance(60_000);
  const copy = await copied(flow, String(flow.inputs.name));
  const before = await stored("orchestrations", copy);
  hub.nextRun();
  const { id } = await make("Orchestration", { ...flow.inputs, description: "New" });
  expect(id).toBe(flow.id);
  expect(await stored("orchestrations", copy)).toEqual(before);
});

test("of two orchestrations with one mark and one age neither is touched", async () => {
  const all = await oneOfEach(steps);
  const flow = all.get("Orchestration") as MadeKind;
  const copy = await copied(flow, String(flow.inputs.name));
  const before = await hub.objects("orchestrations");
  hub.nextRun();
  await expect(make("Orchestration", flow.inputs)).rejects.toThrow(
    /carry the same mark for this resource.*Nothing was changed.*adopt/s,
  );
  expect(await hub.objects("orchestrations")).toEqual(before);
  hub.nextRun();
  expect((await make("Orchestration", { ...flow.inputs, adopt: flow.id })).id).toBe(flow.id);
  expect(await stored("orchestrations", copy)).toEqual(before.find(({ id }) => id === copy));
});

test("a late copy of an orchestration that is gone keeps no other one from its name", async () => {
  const flow = (await oneOfEach(steps)).get("Orchestration") as MadeKind;
  const object = asBody(await stored("orchestrations", flow.id));
  await hub.service.remove(kindOf("Account"), String((await hub.objects("accounts"))[0]?.id));
  await hub.service.remove(kindOf("Orchestration"), flow.id);
  hub.emulator.advance(7 * 3_600_000);
  const copy = await hub.service.create(kindOf("Orchestration"), object);
  hub.nextRun([]);
  const { id } = await make("Orchestration", flow.inputs);
  expect((await hub.objects("orchestrations")).map((each) => each.id)).toEqual([copy.id, id]);
});

test("a copy made long after its mark is not taken for a leftover, also under the same name", async () => {
  const { id } = await make("Channel", kiosk());
  const [object] = await hub.objects("channels");
  await hub.service.remove(kindOf("Channel"), id);
  hub.emulator.advance(7 * 3_600_000);
  const copy = await hub.service.create(kindOf("Channel"), asBody(object));
  hub.nextRun([]);
  await expect(make("Channel", kiosk())).rejects.toThrow(/copy of a stack's object/);
  expect(await hub.objects("channels")).toMatchObject([{ id: copy.id, displayName: "Kiosk" }]);
});

describe("of two objects of ours the one with the wanted name stands for the resource; the other one", () => {
  const wanted = () => kiosk({ type: "custom.wanted" });
  let left: string;
  let ours: string;

  beforeEach(async () => {
    left = (await make("Channel", kiosk())).id;
    // No state can be seen, so the first one may be a renamed resource's.
    hub.nextRun();
    ours = (await make("Channel", wanted())).id;
  });
  const idsAfter = async (...held: readonly Held[]): Promise<readonly unknown[]> => {
    hub.nextRun(held);
    expect((await make("Channel", wanted())).id).toBe(ours);
    return (await hub.objects("channels")).map(({ id }) => id);
  };

  test("is removed", async () => {
    expect(await idsAfter()).toEqual([ours]);
  });

  test("stays while a resource looks it up", async () => {
    const reader = { kind: "Channel", id: left, owner: "shop/dev/1/it", reads: true } as const;
    expect(await idsAfter({ ...reader, stack: "organization/shop/dev" })).toEqual([left, ours]);
  });

  test("stays beside a copy of it, because nothing shows which is which", async () => {
    const copy = await hub.service.create(kindOf("Channel"), {
      ...asBody(await stored("channels", left)),
      type: "custom.kiosk ",
    });
    expect(await idsAfter()).toEqual([left, ours, copy.id]);
  });
});

test("a leftover of ours is taken over and put into shape, and the user is informed", async () => {
  const { id } = await make("Channel", kiosk({ displayName: "Old" }));
  hub.nextRun([]);
  expect((await make("Channel", kiosk({ displayName: "New" }))).id).toBe(id);
  const found = `took over the channel "custom.kiosk" (ID ${id}): it carries this resource's mark, and `;
  expect(hub.reported.join()).toContain(`${found}no state contains it`);
  expect(await hub.objects("channels")).toMatchObject([{ displayName: "New" }]);
  hub.nextRun();
  await make("Channel", kiosk());
  expect(hub.reported).toEqual([`${found}the provider cannot read the states.`]);
});

test("marks of release 0.1.0 are still known, and renewed", async () => {
  const { id } = await make("Channel", kiosk());
  const [object] = await hub.objects("channels");
  const old = String(object?.description).replace(/-[0-9a-z]{15}\]$/, "]");
  await hub.service.replace(kindOf("Channel"), id, { ...asBody(object), description: old });
  hub.nextRun([]);
  expect((await make("Channel", kiosk())).id).toBe(id);
  expect((await hub.objects("channels"))[0]?.description).toMatch(/-[0-9a-z]{15}\]$/);
});
