import type { Definition } from "../definition/define.js";
import type { JsonObject } from "../kernel/json.js";
import { type CheckedInputs, check } from "./check.js";
import { type CreateResult, createObject } from "./create.js";
import { type Context, remembered } from "./declared.js";
import { deleteObject } from "./delete.js";
import { type DiffResult, diff } from "./diff.js";
import { handler } from "./handler.js";
import { split } from "./properties.js";
import { type ReadResult, read } from "./read.js";
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

const checkAndRemember = async (context: Context, olds: JsonObject, news: JsonObject) => {
  const resource = remembered(context, split(news));
  if (resource) context.run.decisions.wanted(resource);
  return check(context, olds, news);
};

const diffAndRemember = (context: Context, id: string, olds: JsonObject, news: JsonObject) => {
  const resource = remembered(context, split(news));
  const { serial } = split(olds).told;
  if (resource) context.run.decisions.settled(resource, { id, serial });
  return diff(context, olds, news);
};

/** The life cycle of one kind within one run. */
export const lifecycle = (definition: Definition, run: Run): Lifecycle => {
  const context = { definition, run };
  return {
    check: (olds, inputs) =>
      handler({ definition, doing: "checking", inputs, olds }, async () =>
        checkAndRemember(context, olds, inputs),
      ),
    diff: (id, olds, inputs) =>
      handler({ definition, doing: "comparing", id, inputs, olds }, async () =>
        diffAndRemember(context, id, olds, inputs),
      ),
    create: (inputs) =>
      handler({ definition, doing: "creating", inputs }, () => createObject(context, inputs)),
    read: (id, inputs) =>
      handler({ definition, doing: "reading", id, inputs }, () => read(context, id, inputs)),
    update: (id, olds, inputs) =>
      handler({ definition, doing: "updating", id, inputs, olds }, () =>
        updateObject(context, id, olds, inputs),
      ),
    delete: (id, inputs) =>
      handler({ definition, doing: "deleting", id, inputs }, () =>
        deleteObject(context, id, inputs),
      ),
  };
};
