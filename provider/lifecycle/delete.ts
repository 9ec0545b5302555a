import type { JsonObject } from "../definition/json.js";
import { resources } from "../resources/index.js";
import { ConversationError, isConversationError } from "../service/errors.js";
import { type Context, keyOf, ownMark } from "./context.js";
import { type Properties, split } from "./properties.js";
import type { Session } from "./run.js";
import { usersOf } from "./users.js";

/**
 * Deletes the object; one that is already gone counts as deleted. Does nothing where the program
 * still wants the object (see {@link Decisions.keeps}).
 */
export const remove = async (context: Context, id: string, bag: JsonObject): Promise<void> => {
  const { definition, run } = context;
  const properties = split(bag);
  if (properties.owner && run.decisions.keeps(keyOf(definition, properties.owner), id)) return;
  const session = await run.session(properties.profile);
  try {
    await run.deletions.run(() => session.service.remove(definition, id), isRefusal);
  } catch (error) {
    throw isRefusal(error) ? await explain(context, session, id, properties, error) : error;
  }
};

/** The status of a refused deletion is not stated, so every refusal may be one. */
const isRefusal = (error: unknown): boolean => isConversationError(error, "REJECTED", "FORBIDDEN");

const explain = async (
  { definition }: Context,
  session: Session,
  id: string,
  properties: Properties,
  refusal: unknown,
): Promise<unknown> => {
  if (!isConversationError(refusal)) return refusal;
  const own = ownMark(definition, properties, session.settings);
  const users = await usersOf(definition, id, own, session, resources);
  const held = definition.heldByAny;
  if (users.length === 0 && (!held || refusal.code === "FORBIDDEN")) return refusal;
  const named =
    users.length > 0 ? `it is used by ${users.join("; ")}` : `no user was found, but: ${held?.doc}`;
  return new ConversationError(
    "IN_USE",
    `the service refuses (${refusal.details.status ?? "no status"}), as ${named}. ` +
      "Take the reference out or remove the user first, then try again.",
    refusal.details,
    "none",
    { cause: refusal },
  );
};
