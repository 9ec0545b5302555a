import type { JsonObject } from "../definition/json.js";
import { mergeFields } from "../definition/merge.js";
import { ConversationError } from "../service/errors.js";
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
  const { service, settings } = await run.session(next.profile);
  const live = await service.read(definition, id);
  if (!live) {
    throw new ConversationError(
      "NOT_FOUND",
      "it is gone from the service. Run `pulumi refresh`, then `pulumi up` makes it again.",
    );
  }
  const { id: _, created, ...rest } = live;
  const body = mergeFields(
    definition.fields,
    rest,
    desiredBody(definition, next, settings),
    desiredBody(definition, old, settings),
  );
  await service.replace(definition, id, body);
  if (next.owner) run.decisions.settled(keyOf(definition, next.owner), id);
  return { outs: outputsOf(definition, next, created === undefined ? {} : { created }) };
};
