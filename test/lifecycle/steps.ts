import { expect } from "vitest";
import { type Emulated, owned } from "../support/emulated.js";

type Json = Record<string, unknown>;

const signature = "4dabf18193072939515e22adb298388d";

/** Values as the engine hands them back: secrets unwrapped. */
export const unsealed = (value: unknown): Json =>
  JSON.parse(JSON.stringify(value), (_, member) =>
    member && typeof member === "object" && signature in member ? member.value : member,
  );

/** Inputs of a channel. */
export const kiosk = (more: Json = {}) =>
  owned("kiosk", { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC", ...more });

/** Inputs of an authentication. */
export const basicInputs = (password: string) =>
  owned("basic", { name: "web", basicAuth: { username: "hub", password } });

/** The settings of an authentication with OAuth. */
export const oauth2 = {
  tokenRequestUrl: "https://x.example.com/token",
  method: "POST",
  headers: { Accept: "application/json" },
  payload: { grant: "x" },
  accessTokenPath: "$.token",
};

/** The engine's steps on the emulated service that a test uses at the moment. */
export const stepsOn = (hub: () => Emulated) => {
  const checked = async (kind: string, inputs: Json): Promise<Json> => {
    const { inputs: result, failures } = await hub().of(kind).check({}, inputs);
    expect(failures).toEqual([]);
    return { ...unsealed(result), __provider: "pointer" };
  };

  const make = async (kind: string, inputs: Json): Promise<{ id: string; state: Json }> => {
    const { id, outs } = await hub()
      .of(kind)
      .create(await checked(kind, inputs));
    return { id, state: { ...unsealed(outs), __provider: "pointer" } };
  };

  const change = async (kind: string, id: string, state: Json, inputs: Json): Promise<Json> => {
    const { outs } = await hub()
      .of(kind)
      .update(id, state, await checked(kind, inputs));
    return { ...unsealed(outs), __provider: "pointer" };
  };

  return { checked, make, change };
};
