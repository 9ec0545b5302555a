import type { Definition } from "../definition/define.js";
import type { JsonObject } from "../kernel/json.js";
import { type CheckedInputs, check } from "./check.js";
import { type CreateResult, createObject } from "./create.js";
import { deleteObject } from "./delete.js";
import { type DiffResult, diff } from "./diff.js";
import { engineCall } from "./engine-call.js";
import { type ReadResult, read } from "./read.js";
import { connected, declaredBefore, type Resource, resourceIn } from "./resource.js";
import type { Run } from "./run.js";
import { updateObject } from "./update.js";

/** What the engine calls, with plain values. */
export interface Lifecycle {
  check(olds: JsonObject, news: JsonObject): Promise<CheckedInputs>;
  diff(id: string, olds: JsonObject, news: JsonObject): Promise<DiffResult>;
  create(inputs: JsonObject): Promise<CreateResult>;
  read(id: string, properties: JsonObject): Promise<ReadResult>;
  update(id: string, olds: JsonObject, news: JsonObject): Promise<{ readonly outs: JsonObject }>;
  delete(id: string, properties: JsonObject): Promise<void>;
}

/** The life cycle of one kind within one run. */
export const lifecycle = (definition: Definition, run: Run): Lifecycle => {
  const context = { definition, run };
  /** Runs one operation on the resource that the engine's values are of. */
  const call = <T>(
    doing: string,
    values: { readonly id?: string; readonly inputs: JsonObject; readonly olds?: JsonObject },
    work: (resource: Resource) => Promise<T>,
  ): Promise<T> =>
    engineCall({ ...context, doing, ...values }, async () =>
      work(resourceIn(context, values.inputs)),
    );
  return {
    check: (olds, inputs) =>
      call("checking", { inputs, olds }, (resource) => check(resource, olds, inputs)),
    diff: (id, olds, inputs) =>
      call("comparing", { id, inputs, olds }, async (resource) => diff(resource, id, olds)),
    create: (inputs) =>
      call("creating", { inputs }, async (resource) => createObject(await connected(resource))),
    read: (id, inputs) => call("reading", { id, inputs }, (resource) => read(resource, id)),
    update: (id, olds, inputs) =>
      call("updating", { id, inputs, olds }, async (resource) => {
        const declared = await connected(resource);
        return updateObject(declared, await declaredBefore(declared, olds), id);
      }),
    delete: (id, inputs) =>
      call("deleting", { id, inputs }, (resource) => deleteObject(resource, id, inputs)),
  };
};
