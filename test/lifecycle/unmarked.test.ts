import { afterEach, describe, expect, test } from "vitest";
import { naturalKey } from "../../provider/definition/kinds.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { markFor, markOf, markText } from "../../provider/lifecycle/resource.js";
import { channel } from "../../provider/resources/channel.js";
import { resources } from "../../provider/resources/index.js";
import { asBody, type Emulated, emulated, type Held } from "../support/emulated.js";
import { type MadeKind, oneOfEach } from "./one-of-each.js";
import { kiosk, stepsOn } from "./steps.js";

let hub: Emulated;

afterEach(() => hub.stop());

const steps = stepsOn(() => hub);
const { make, checked } = steps;

const longest = "d".repeat(1023);
const held = ({ kind, id, inputs }: MadeKind): Held => ({ kind, id, owner: String(inputs.owner) });

/** Two ways to an object without a mark: no room for it, or marks are off. */
const ways: readonly [string, Readonly<Record<string, string>>, (inputs: Json) => Json][] = [
  ["with a description that leaves no room", {}, (inputs) => ({ ...inputs, description: longest })],
  ["with marks off", { CONVERSATION_OWNERSHIP_MARK: "none" }, (inputs) => inputs],
];

const kinds = resources.map((definition) => ({
  kind: definition.kind,
  collection: definition.collection,
  key: naturalKey(definition),
}));

describe.each(ways)("%s", (_, environment, without) => {
  const start = async (): Promise<ReadonlyMap<string, MadeKind>> => {
    hub = await emulated({}, environment);
    return oneOfEach(steps, (_kind, inputs) => without(inputs));
  };
  const madeOf = (all: ReadonlyMap<string, MadeKind>, kind: string): MadeKind => {
    const made = all.get(kind);
    if (!made) throw new Error(kind);
    return made;
  };

  test("an object of any kind whose POST lost its answer is not made twice", async () => {
    const all = await start();
    for (const { kind, collection, key } of kinds) {
      const { inputs } = madeOf(all, kind);
      const before = (await hub.objects(collection)).length;
      await hub.faults({ on: `POST /${collection}`, kind: "drop-after-commit" });
      const again = { ...inputs, [key]: "another", owner: `${inputs.owner}-2` };
      const { id } = await make(kind, again);
      const objects = await hub.objects(collection);
      expect(objects, kind).toHaveLength(before + 1);
      expect(objects.map((object) => object.id)).toContain(id);
      for (const { description = "" } of objects) expect(description).not.toContain("[pulumi");
    }
  });

  test("an object of any kind keeps its id when it is forced to be replaced", async () => {
    const all = await start();
    for (const { kind, collection } of kinds) {
      const made = madeOf(all, kind);
      const before = await hub.objects(collection);
      hub.nextRun([held(made)]);
      const inputs = await checked(kind, made.inputs);
      expect((await hub.of(kind).create(inputs)).id, kind).toBe(made.id);
      await hub.of(kind).delete(made.id, made.state);
      const after = (await hub.objects(collection)).map(({ id }) => id);
      expect(after).toEqual(before.map(({ id }) => id));
    }
  });

  test("an object of any kind that an interrupted run left is refused, never made twice", async () => {
    const all = await start();
    for (const { kind, collection, key } of kinds) {
      const made = madeOf(all, kind);
      const before = await hub.objects(collection);
      for (const states of [[], undefined]) {
        hub.nextRun(states);
        await expect(make(kind, made.inputs), kind).rejects.toThrow(
          new RegExp(
            `already exists and is not managed by Pulumi.*adopt: "${made.id}", or use another ${key}\\.`,
            "s",
          ),
        );
      }
      expect(await hub.objects(collection)).toEqual(before);
      hub.nextRun([]);
      expect((await make(kind, { ...made.inputs, adopt: made.id })).id).toBe(made.id);
    }
  });
});

test("where marks are off, one of this stack is still no part of a description", async () => {
  hub = await emulated({}, { CONVERSATION_OWNERSHIP_MARK: "none" });
  const inputs = kiosk({ description: "Old" });
  const { id, state } = await make("Channel", inputs);
  const mark = markFor(markOf("Channel", String(inputs.owner)), "0tp9r9gagf5", inputs.type);
  const description = `New ${markText(mark)}`;
  const live = await hub.service.read(channel, id);
  await hub.service.replace(channel, id, { ...asBody(live), description });
  hub.nextRun();
  expect((await hub.of("Channel").read(id, state)).inputs).toMatchObject({ description: "New" });
});
