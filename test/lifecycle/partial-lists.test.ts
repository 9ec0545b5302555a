import { afterEach, describe, expect, test } from "vitest";
import { wireName } from "../../provider/definition/fields.js";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { type Bent, bent } from "../support/bent.js";
import { handedBack } from "../support/door.js";
import { asBody } from "../support/emulated.js";
import { type MadeKind, oneOfEach } from "./one-of-each.js";
import { kiosk, stepsOn } from "./steps.js";

let hub: Bent;
afterEach(() => hub.stop());

const steps = stepsOn(() => hub);

const withoutTimes = ({ modified: _, description: __, ...rest }: Json = {}): Json => rest;

/** A list whose items hold what is required and the description, and nothing else. */
const summarised = async () => {
  hub = await bent({}, { switches: { secrets: "echo" } });
  const all = await oneOfEach(steps);
  hub.bend.ways = {
    shown: (object, { id, collection }) => {
      const definition = resources.find((each) => each.collection === collection);
      if (id !== undefined || !definition) return object;
      const wanted = Object.entries(definition.fields).flatMap(([name, field]) =>
        field.required ? [wireName(name, field)] : [],
      );
      const shown = new Set([...wanted, "id", "created", "modified", "description"]);
      return Object.fromEntries(Object.entries(object).filter(([name]) => shown.has(name)));
    },
  };
  return all;
};

describe.each(resources.map((definition) => ({ definition, kind: definition.kind })))(
  "where a list shows only a part of each $kind",
  ({ definition, kind }) => {
    /** The object with the optional members that the inputs lack. */
    const prepared = async (all: ReadonlyMap<string, MadeKind>) => {
      const made = all.get(kind) as MadeKind;
      const find = async () =>
        (await hub.objects(made.collection)).find(({ id }) => id === made.id) ?? {};
      const required = Object.entries(made.inputs).filter(
        ([name]) => definition.fields[name]?.required || name === "owner",
      );
      const { oauth2 } = made.inputs;
      const inputs: Json = {
        ...Object.fromEntries(required),
        ...(oauth2 === undefined ? {} : { oauth2 }),
      };
      return { made, find, inputs, object: await find() };
    };

    test("adoption by name keeps what the list leaves out", async () => {
      const { made, find, inputs, object } = await prepared(await summarised());
      await hub.service.replace(definition, made.id, { ...asBody(object), description: "by hand" });
      hub.nextRun([]);
      await steps.make(kind, { ...inputs, adopt: true });
      expect(withoutTimes(await find())).toEqual(withoutTimes(object));
    });

    test("forced replacement and the take-over of a leftover do, too", async () => {
      const { made, find, inputs, object } = await prepared(await summarised());
      for (const held of [[{ kind, id: made.id, owner: String(made.inputs.owner) }], []]) {
        hub.nextRun(held);
        expect((await steps.make(kind, inputs)).id).toBe(made.id);
        expect(withoutTimes(await find())).toEqual(withoutTimes(object));
      }
    });

    test("a refresh finds no drift", async () => {
      const { id, state } = (await summarised()).get(kind) as MadeKind;
      hub.nextRun();
      const { props } = await hub.of(kind).read(id, state);
      expect(handedBack(props)).toEqual(state);
    });
  },
);

test("a refresh reads the object itself only if its list shows something else", async () => {
  hub = await bent();
  const { id, state } = await steps.make("Channel", kiosk());
  for (const [shown, calls] of [
    [undefined, ["GET /channels 200"]],
    [{ id }, ["GET /channels 200", "GET /channels/{id} 200"]],
  ] as const) {
    hub.bend.ways = { shown: (object, { id: itself }) => (itself || !shown ? object : shown) };
    hub.nextRun();
    await hub.calls();
    const { props } = await hub.of("Channel").read(id, state);
    expect(handedBack(props)).toEqual(state);
    expect(await hub.calls()).toEqual(calls);
  }
});
