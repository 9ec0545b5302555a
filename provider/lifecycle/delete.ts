import type { JsonObject } from "../definition/json.js";
import { resources } from "../resources/index.js";
import { ConversationError, isConversationError } from "../service/errors.js";
import { type Context, keyOf, ownMark } from "./context.js";
import { type Properties, split } from "./properties.js";
import type { Run, Session } from "./run.js";
import { describeUser, type User, usersOf } from "./users.js";

/**
 * Deletes the object; one that is already gone counts as deleted. Does nothing where the program
 * still wants the object (see {@link Decisions.keeps}).
 */
export const remove = async (context: Context, id: string, bag: JsonObject): Promise<void> => {
  const { definition, run } = context;
  const properties = split(bag);
  if (properties.owner) {
    const key = keyOf(definition, properties.owner);
    if (run.decisions.keeps(key, id)) return run.decisions.spare(key, id);
    run.decisions.leaving(key, id);
  }
  const session = await run.session(properties.profile);
  const attempt = () => session.service.remove(definition, id);
  try {
    await run.deletions.run(attempt, isRefusal);
  } catch (error) {
    if (!isConversationError(error) || !isRefusal(error)) throw error;
    const users = await usersOf(definition, id, session, resources);
    const orphans = users.filter((user) => isOrphan(user, run));
    if (orphans.length === 0) throw explained(context, session, properties, users, error);
    for (const orphan of orphans) await session.service.remove(orphan.definition, orphan.id);
    await attempt();
  }
};

/** The status of a refused deletion is not stated, so every refusal may be one. */
const isRefusal = (error: unknown): boolean => isConversationError(error, "REJECTED", "FORBIDDEN");

/**
 * Whether an object is surely a left-over of ours: it carries the mark of a resource for which the
 * state holds another object.
 */
const isOrphan = ({ mark, id }: User, { decisions }: Run): boolean => {
  const known = mark && decisions.objectOf(mark.resource);
  return known !== undefined && known !== id;
};

const explained = (
  { definition }: Context,
  session: Session,
  properties: Properties,
  users: readonly User[],
  refusal: ConversationError,
): ConversationError => {
  const own = ownMark(definition, properties, session.settings);
  const held = definition.heldByAny;
  if (users.length === 0 && (!held || refusal.code === "FORBIDDEN")) return refusal;
  const named =
    users.length > 0
      ? `it is used by ${users.map((user) => describeUser(user, own)).join("; ")}`
      : `no user was found, but: ${held?.doc}`;
  return new ConversationError(
    "IN_USE",
    `the service refuses (${refusal.details.status ?? "no status"}), as ${named}. ` +
      "Take the reference out or remove the user first, then try again.",
    refusal.details,
    "none",
    { cause: refusal },
  );
};
