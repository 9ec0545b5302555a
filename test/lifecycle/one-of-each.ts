import type { JsonObject as Json } from "../../provider/kernel/json.js";
import { resources } from "../../provider/resources/index.js";
import { owned } from "../support/emulated.js";
import { bound } from "../support/forms.js";
import type { stepsOn } from "./steps.js";

/** A made resource, and the inputs it was made of. */
export interface MadeKind {
  readonly kind: string;
  readonly collection: string;
  readonly id: string;
  readonly state: Json;
  readonly inputs: Json;
}

/** Makes the example of every kind, in setup order, each under its kind as logical name. */
export const oneOfEach = async (
  { make }: ReturnType<typeof stepsOn>,
  change: (kind: string, inputs: Json) => Json = (_, inputs) => inputs,
): Promise<ReadonlyMap<string, MadeKind>> => {
  const ids = new Map<string, string>();
  const all = new Map<string, MadeKind>();
  for (const { kind, collection, example } of resources) {
    const values = bound(example, (other) => ids.get(other)) as Json;
    const inputs = owned(kind, change(kind, values));
    const { id, state } = await make(kind, inputs);
    ids.set(kind, id);
    all.set(kind, { kind, collection, id, state, inputs });
  }
  return all;
};
