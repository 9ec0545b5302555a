import type { JsonObject } from "../definition/json.js";
import { mergeFields } from "../definition/merge.js";
import type { WireObject } from "../service/collections.js";
import { ConversationError, isConversationError } from "../service/errors.js";
import { type Context, desiredBody, keyOf, outputsOf } from "./context.js";
import { split } from "./properties.js";

/**
 * Writes what the program wants over the live object, in one PUT after one read: what the
 * definition does not know is kept.
 */
export const update = async (
  context: Context,
  id: string,
  olds: JsonObject,
  news: JsonObject,
): Promise<{ readonly outs: JsonObject }> => {
  const { definition, run } = context;
  const old = split(olds);
  const next = split(news);
  const { settings, service } = await run.session(next.profile);
  const desired = desiredBody(definition, next, settings);
  const prior = desiredBody(definition, old, settings);
  const write = async (): Promise<WireObject> => {
    const live = await service.read(definition, id);
    if (!live) {
      throw new ConversationError(
        "NOT_FOUND",
        "it is gone from the service. Run `pulumi refresh`, then `pulumi up` makes it again.",
      );
    }
    const { id: _, created, ...rest } = live;
    await service.replace(definition, id, mergeFields(definition.fields, rest, desired, prior));
    return created === undefined ? {} : { created };
  };
  const told = await write().catch((error) => {
    // Changed between the read and the write: what is there now is read, and written once more.
    if (isConflict(error)) return write();
    throw error;
  });
  if (next.owner) run.decisions.settled(keyOf(definition, next.owner), id);
  return { outs: outputsOf(definition, next, told) };
};

const isConflict = (error: unknown): boolean =>
  isConversationError(error, "REJECTED") && [409, 412].includes(error.details.status ?? 0);
