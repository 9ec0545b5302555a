import { kiosk, stepsOn } from "../../lifecycle/steps.js";
import type { Stage } from "./stage.js";

export type Json = Record<string, unknown>;

/** An id as the service gives them, of no object. */
export const someId = "1f0c2a54-6b7e-4a53-9a52-0c7f3a9b1d10";

export const checked = (stage: Stage, inputs: Json, kind = "Channel"): Promise<Json> =>
  stepsOn(() => stage).checked(kind, inputs);

/** One entry of a stack's state. */
export interface Entry {
  readonly id: string;
  readonly state: Json;
}

/** Makes an object; the channel that every cell is about if nothing else is said. */
export const create = (stage: Stage, inputs: Json = kiosk(), kind = "Channel"): Promise<Entry> =>
  stepsOn(() => stage).make(kind, inputs);
