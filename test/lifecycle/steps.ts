import { expect } from "vitest";
import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { handedBack } from "../support/door.js";
import { type Emulated, owned } from "../support/emulated.js";

export const kiosk = (more: Json = {}) =>
  owned("kiosk", { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC", ...more });

export const basicInputs = (password: string) =>
  owned("basic", { name: "web", basicAuth: { username: "hub", password } });

/** The engine's steps on the emulated service that a test uses at the moment. */
export const stepsOn = (hub: () => Pick<Emulated, "of">) => {
  const checked = async (kind: string, inputs: Json): Promise<Json> => {
    const { inputs: result, failures } = await hub().of(kind).check({}, inputs);
    expect(failures).toEqual([]);
    return handedBack(result);
  };

  const make = async (kind: string, inputs: Json): Promise<{ id: string; state: Json }> => {
    const { id, outs } = await hub()
      .of(kind)
      .create(await checked(kind, inputs));
    return { id, state: handedBack(outs) };
  };

  const change = async (kind: string, id: string, state: Json, inputs: Json): Promise<Json> => {
    const { outs } = await hub()
      .of(kind)
      .update(id, state, await checked(kind, inputs));
    return handedBack(outs);
  };

  return { checked, make, change };
};
