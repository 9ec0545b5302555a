import type { Definition } from "../definition/define.js";
import { wireName } from "../definition/wire/wire.js";
import { ConversationError, isConversationError } from "../kernel/errors.js";
import type { JsonObject } from "../kernel/json.js";
import { assertId } from "../kernel/object-id.js";
import type { WireObject } from "../service/objects/collections.js";
import { type Context, type Declared, declaredIn } from "./declared.js";
import { liveProperties, stateInputs, stateOutputs } from "./outputs.js";

export interface ReadResult {
  /** Empty where the object is proven to be gone. */
  readonly id: string;
  readonly props: JsonObject;
  readonly inputs?: JsonObject;
}

/** Whether an item of a list tells as much as the object itself would. */
export const isWhole = (definition: Definition, wire: WireObject): boolean =>
  Object.entries(definition.fields).every(
    ([name, field]) => !field.required || wire[wireName(name, field)] !== undefined,
  );

/** From the one list that all reads of a run share; absence is confirmed by the object itself. */
const liveObject = async (
  { definition, service }: Declared,
  id: string,
): Promise<WireObject | undefined> => {
  const listed = await service.find(definition, id).catch((error) => {
    if (isConversationError(error, "FORBIDDEN", "BAD_RESPONSE")) return undefined;
    throw error;
  });
  return listed && isWhole(definition, listed) ? listed : service.read(definition, id);
};

/** The live object: for a refresh what the program manages, for `get` everything. */
export const read = async (context: Context, id: string, bag: JsonObject): Promise<ReadResult> => {
  const { definition } = context;
  assertId(id, definition.noun);
  const declared = await declaredIn(context, bag);
  const { service, settings, properties: prior } = declared;
  const isGet = Object.keys(prior.fields).length === 0;
  const live = isGet ? await service.read(definition, id) : await liveObject(declared, id);
  if (!live) {
    // The engine takes an empty answer to `get` for success.
    if (isGet)
      throw new ConversationError("NOT_FOUND", `there is no ${definition.noun} with this id`);
    return { id: "", props: {} };
  }
  const now = liveProperties(definition, live, prior, settings);
  return { id, props: stateOutputs(definition, now), inputs: stateInputs(definition, now) };
};
