import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { naturalKey } from "../../provider/definition/kinds.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { authentication } from "../../provider/resources/authentication.js";
import { channel } from "../../provider/resources/channel.js";
import { resources } from "../../provider/resources/index.js";
import { kindOf } from "../emulator/running.js";
import { type Bent, bent } from "../support/bent.js";
import { handedBack } from "../support/door.js";
import { asBody, owned } from "../support/emulated.js";
import { oauth2 } from "../support/forms.js";
import { type MadeKind, oneOfEach } from "./one-of-each.js";
import { kiosk, stepsOn } from "./steps.js";

let hub: Bent;

beforeEach(async () => {
  hub = await bent({}, { switches: { secrets: "echo" } });
});
afterEach(() => hub.stop());

const steps = stepsOn(() => hub);
const { make } = steps;

/** An object of a kind that a person made by hand, with what it refers to. */
const byHand = async (kind: string, more: Json = {}): Promise<{ made: MadeKind; id: string }> => {
  const made = (await oneOfEach(steps)).get(kind) as MadeKind;
  const object = (await hub.objects(made.collection)).find(({ id }) => id === made.id) ?? {};
  const rest = asBody(object);
  const key = naturalKey(kindOf(kind));
  const { id } = await hub.service.create(kindOf(kind), {
    ...rest,
    [key]: "by-hand",
    description: "Made by hand",
    ...more,
  });
  hub.nextRun([]);
  await hub.calls();
  return { made, id };
};

const inputsFor = ({ kind, inputs }: MadeKind, more: Json = {}): Json => {
  const { description: _, active: __, ...rest } = inputs;
  return {
    ...rest,
    [naturalKey(kindOf(kind))]: "by-hand",
    owner: `${inputs.owner}-2`,
    ...more,
  };
};

const preview = (kind: string, inputs: Json) => hub.of(kind).check({}, inputs);

describe.each(resources.map(({ kind }) => kind))("%s", (kind) => {
  test.each(["by name", "by id"])(
    "is adopted %s, keeps its human description, and gets the mark",
    async (how) => {
      const { made, id } = await byHand(kind, { active: false });
      const adopt = how === "by id" ? id : true;
      expect((await make(kind, inputsFor(made, { adopt }))).id).toBe(id);
      const object = (await hub.objects(made.collection)).find((each) => each.id === id);
      expect(object).toMatchObject({ active: false });
      expect(object?.description).toMatch(/^Made by hand \[pulumi: shop\/prod /);
    },
  );

  test("a preview shows what will be taken over and changed, and writes nothing", async () => {
    const { made, id } = await byHand(kind, { active: false });
    const { failures } = await preview(kind, inputsFor(made, { adopt: true }));
    expect(failures).toEqual([]);
    expect(hub.reported).toHaveLength(1);
    expect(hub.reported[0]).toContain(`adopts the ${kindOf(kind).noun} "by-hand" (ID ${id})`);
    expect(hub.reported[0]).toMatch(/unchanged, because not declared in the program:\s+active/);
    expect((await hub.calls()).every((call) => call.startsWith("GET"))).toBe(true);
  });

  test("a property with a default stays as it is until the program declares it", async () => {
    const { made, id } = await byHand(kind, { active: false });
    const live = async () => (await hub.objects(made.collection)).find((each) => each.id === id);
    const given = inputsFor(made, { adopt: true });
    let state = (await make(kind, given)).state;
    expect(await live()).toMatchObject({ active: false });
    for (const [program, active] of [
      [given, false],
      [inputsFor(made), false],
      [inputsFor(made, { active: true }), true],
      [inputsFor(made, { active: false }), false],
      [inputsFor(made), true],
    ] as const) {
      hub.nextRun();
      const { inputs } = await hub.of(kind).check(state, program);
      const next = handedBack(inputs);
      const { changes } = await hub.of(kind).diff(id, state, next);
      if (changes !== false) {
        const { outs } = await hub.of(kind).update(id, state, next);
        state = handedBack(outs);
      }
      expect(await live()).toMatchObject({ active });
    }
  });

  test("one object is for one resource only, in the preview and after it", async () => {
    const { made, id } = await byHand(kind);
    expect((await preview(kind, inputsFor(made, { adopt: id }))).failures).toEqual([]);
    const twice = inputsFor(made, { adopt: id, owner: `${made.inputs.owner}-3` });
    const other = { ...twice, [naturalKey(kindOf(kind))]: "other" };
    const { failures } = await preview(kind, other);
    expect(failures[0]?.reason).toContain(`belongs to another resource in this program: ${kind}`);
    hub.nextRun();
    await make(kind, inputsFor(made, { adopt: id }));
    await expect(make(kind, other)).rejects.toThrow();
    hub.nextRun([{ kind, id, owner: `${made.inputs.owner}-2` }]);
    await expect(make(kind, other)).rejects.toThrow();
  });

  test("adopt: true without an object is refused, and nothing is made", async () => {
    const { made } = await byHand(kind);
    const before = await hub.objects(made.collection);
    const inputs = {
      ...inputsFor(made, { adopt: true }),
      [naturalKey(kindOf(kind))]: "none",
    };
    const { failures } = await preview(kind, inputs);
    expect(failures[0]?.reason).toMatch(/there is no .* "none" to adopt.*remove adopt/);
    expect(await hub.objects(made.collection)).toEqual(before);
  });
});

test("adopt: true with two objects of that name names both and asks for an id", async () => {
  const { made, id } = await byHand("Orchestration");
  const object = (await hub.objects("orchestrations")).find((each) => each.id === id) ?? {};
  const rest = asBody(object);
  const other = await hub.service.create(kindOf("Orchestration"), rest);
  hub.nextRun();
  const { failures } = await preview("Orchestration", inputsFor(made, { adopt: true }));
  expect(failures[0]?.reason).toContain(id);
  expect(failures[0]?.reason).toContain(other.id);
});

test("the object that adopt names goes before one that an interrupted run left", async () => {
  await make("Channel", kiosk());
  const theirs = { type: "custom.theirs", displayName: "K", icon: "aVZC" };
  const { id } = await hub.service.create(channel, theirs);
  hub.nextRun([]);
  expect((await make("Channel", kiosk({ type: theirs.type, adopt: id }))).id).toBe(id);
});

test("an object whose adoption the service refuses is in no state", async () => {
  const theirs = { type: "custom.kiosk", displayName: "K", icon: "aVZC" };
  await hub.service.create(channel, theirs);
  hub.nextRun([]);
  await hub.faults({ on: "PUT /channels/{id}", kind: "status", status: 400 });
  const failure = await make("Channel", kiosk({ adopt: true })).catch((error: Error) => error);
  expect(failure).toMatchObject({ message: expect.stringContaining("was refused (400") });
  expect(failure).not.toHaveProperty("id");
});

test("adopt has no effect on a resource that the state holds", async () => {
  const { made, id } = await byHand("Channel");
  const inputs = inputsFor(made, { adopt: true });
  const { state } = await make("Channel", inputs);
  hub.nextRun();
  await hub.calls();
  const { failures, inputs: checkedInputs } = await hub.of("Channel").check(state, inputs);
  expect(failures).toEqual([]);
  expect(await hub.of("Channel").diff(id, state, { ...checkedInputs })).toEqual({ changes: false });
  expect(await hub.calls()).toEqual([]);
});

test("an object that another state holds is refused, marked or not", async () => {
  const { made, id } = await byHand("Channel");
  hub.nextRun([{ kind: "Channel", id, owner: "shop/dev/1/x", stack: "organization/shop/dev" }]);
  const { failures } = await preview("Channel", inputsFor(made, { adopt: true }));
  expect(failures[0]?.reason).toContain("in the state of the stack organization/shop/dev");
});

test("an object of another resource of this stack is refused where no state can be seen", async () => {
  const { id } = await make("Channel", kiosk());
  hub.nextRun();
  const { failures } = await preview("Channel", { ...kiosk({ adopt: id }), ...owned("two", {}) });
  expect(failures[0]?.reason).toContain("belongs to another Pulumi resource or state: shop/prod");
});

test("a copy of an object of ours can be adopted as a resource of its own", async () => {
  const made = (await oneOfEach(steps)).get("Channel") as MadeKind;
  const rest = asBody((await hub.objects("channels"))[0]);
  const copy = await hub.service.create(kindOf("Channel"), { ...rest, type: "custom.copy" });
  hub.nextRun([{ kind: "Channel", id: made.id, owner: String(made.inputs.owner) }]);
  const inputs = owned("copy", { ...made.inputs, type: "custom.copy", adopt: true });
  const { id, state } = await make("Channel", inputs);
  expect(id).toBe(copy.id);
  expect(state.serial).not.toBe(made.state.serial);
});

test("the preview of an adoption never shows a secret", async () => {
  const { made } = await byHand("ClientApplication");
  const roles = (made.inputs.roles as Json[]).map((role) => ({
    ...role,
    headers: { "X-Key": "canary-of-the-program" },
  }));
  await preview("ClientApplication", inputsFor(made, { adopt: true, roles }));
  expect(hub.reported.join()).not.toContain("canary");
  expect(hub.reported.join()).not.toContain("acme");
});

test("an object that is adopted by its id keeps its name where the program gives none", async () => {
  const { made, id } = await byHand("Participant");
  const { name: _, ...inputs } = inputsFor(made, { adopt: id });
  const automatic = { name: "orders-1a2b3c4", autoName: "orders-1a2b3c4" };
  await make("Participant", { ...inputs, ...automatic });
  const object = (await hub.objects("participants")).find((each) => each.id === id);
  expect(object?.name).toBe("by-hand");
});

const wireChannel = {
  type: "custom.kiosk",
  displayName: "Kiosk",
  icon: "aVZC",
  active: true,
};

test("the preview of an adoption shows the member that gives way to the chosen one", async () => {
  const basicAuth = { username: "u", password: "a-password" };
  await hub.service.create(authentication, { name: "web", type: "basic", basicAuth });
  hub.nextRun([]);
  await hub.of("Authentication").check({}, owned("b", { name: "web", adopt: true, oauth2 }));
  expect(hub.reported[0]).toMatch(
    /erased, because the program sets another member instead:\n\s+basicAuth/,
  );
});

test("the preview of an adoption speaks of a mark only where one is written", async () => {
  await hub.stop();
  hub = await bent({}, {}, { CONVERSATION_OWNERSHIP_MARK: "none" });
  await hub.service.create(channel, wireChannel);
  hub.nextRun([]);
  await hub.of("Channel").check({}, kiosk({ adopt: true }));
  expect(hub.reported[0]).toMatch(/no field changes$/);
});
