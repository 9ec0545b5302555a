import { owned } from "../../support/emulated.js";
import type { Stage } from "./stage.js";

export type Json = Record<string, unknown>;

const signature = "4dabf18193072939515e22adb298388d";

/** Values as the engine hands them back: plain JSON, secrets unwrapped. */
export const handedBack = (value: unknown): Json => ({
  ...JSON.parse(JSON.stringify(value), (_, member) =>
    member && typeof member === "object" && signature in member ? member.value : member,
  ),
  __provider: "pointer",
});

/** The channel that every cell is about, as a program declares it. */
export const declared = (more: Json = {}): Json =>
  owned("kiosk", { type: "custom.kiosk", displayName: "Kiosk", icon: "aVZC", ...more });

/** An id as the service gives them, of no object. */
export const someId = "1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10";

/** An orchestration, whose name need not be unique; for a service that accepts any reference. */
export const flow = owned("flow", {
  name: "flow",
  applications: { agentConfiguration: { agents: [someId] } },
});

export const acceptAnyReference = (stage: Stage): Promise<unknown> =>
  stage.hub.control("PUT", "/switches", { unknownReference: "accept" });

export const checked = async (stage: Stage, inputs: Json, kind = "Channel"): Promise<Json> => {
  const { inputs: result, failures } = await stage.of(kind).check({}, inputs);
  if (failures.length > 0) throw new Error(failures.map(({ reason }) => reason).join("; "));
  return handedBack(result);
};

/** One entry of a stack's state. */
export interface Entry {
  readonly id: string;
  readonly state: Json;
}

export const create = async (
  stage: Stage,
  inputs: Json = declared(),
  kind = "Channel",
): Promise<Entry> => {
  const { id, outs } = await stage.of(kind).create(await checked(stage, inputs, kind));
  return { id, state: handedBack(outs) };
};
