import type { JsonObject } from "../definition/json.js";
import { mergeFields } from "../definition/merge.js";
import type { WireObject } from "../service/collections.js";
import { ConversationError, isConversationError } from "../service/errors.js";
import { type Context, desiredBody, keyOf, outputsOf } from "./context.js";
import { split } from "./properties.js";
import { freeName } from "./twins.js";

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
  const session = await run.session(next.profile);
  const { settings, service } = session;
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
    const { id: _, created, modified: __, ...rest } = live;
    const { fields, rule } = definition;
    const { body } = mergeFields({ fields, rule, live: rest, desired, prior, keeps: false });
    await service.replace(definition, id, body);
    return created === undefined ? {} : { created };
  };
  const told = await write().catch(async (error) => {
    if (!isConversationError(error, "REJECTED")) throw error;
    // The name may be taken by our own left-over; or the object changed between read and write, and
    // what is there now is read, and written once more.
    const freed = await freeName(context, session, next, id).catch(() => 0);
    if (freed > 0 || isConflict(error)) return write();
    throw error;
  });
  if (next.owner) run.decisions.settled(keyOf(definition, next.owner), id);
  return { outs: outputsOf(definition, next, told) };
};

const isConflict = ({ details }: ConversationError): boolean =>
  [409, 412].includes(details.status ?? 0);
