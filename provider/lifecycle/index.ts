import type { Definition } from "../definition/define.js";
import type { JsonObject } from "../kernel/json.js";
import { onImport } from "./adoption.js";
import { type CheckedInputs, type DiffResult, onCheck, onDiff } from "./check.js";
import { type CreateResult, onCreate } from "./create.js";
import { onDelete } from "./delete.js";
import { onLookUp, onRead, type ReadResult } from "./read.js";
import { kindInRun } from "./resource.js";
import type { Run } from "./run.js";
import { onUpdate } from "./update.js";

/** The operations that the engine calls, with plain values. */
export interface Lifecycle {
  check(olds: JsonObject, news: JsonObject): Promise<CheckedInputs>;
  diff(id: string, olds: JsonObject, news: JsonObject): Promise<DiffResult>;
  create(inputs: JsonObject): Promise<CreateResult>;
  read(id: string, properties: JsonObject): Promise<ReadResult>;
  update(id: string, olds: JsonObject, news: JsonObject): Promise<{ readonly outs: JsonObject }>;
  delete(id: string, properties: JsonObject): Promise<void>;
}

/** What only the plugin is asked for. */
interface Importing {
  /** Reads an object that the resource with this owner may import, or only looks at. */
  lookUp(id: string, owner?: string): Promise<ReadResult>;
  /** Returns why the resource with this owner may not import an object; otherwise, undefined. */
  importRefusal(id: string, owner?: string): Promise<string | undefined>;
}

/** Returns the lifecycle of one kind within one run. */
export const lifecycle = (definition: Definition, run: Run): Lifecycle & Importing => {
  const of = kindInRun(definition, run);
  return {
    check: onCheck(of),
    diff: onDiff(of),
    create: onCreate(of),
    read: onRead(of),
    update: onUpdate(of),
    delete: onDelete(of),
    lookUp: onLookUp(of),
    importRefusal: onImport(of),
  };
};
