import { isConversationError } from "../service/errors.js";
import type { Context } from "./context.js";
import { findOwn } from "./existing.js";
import type { Properties } from "./properties.js";
import type { Session } from "./run.js";

/**
 * Removes own objects beside the one that stands for the resource. One that cannot go now does no
 * harm to the resource, so that is no failure.
 *
 * @returns how many are gone
 */
export const removeAll = async (
  { definition }: Context,
  { service }: Session,
  twins: readonly { readonly id: string }[],
): Promise<number> => {
  let gone = 0;
  for (const { id } of twins) {
    try {
      await service.remove(definition, id);
      gone += 1;
    } catch (error) {
      if (!isConversationError(error)) throw error;
    }
  }
  return gone;
};

/**
 * Looks for objects with the mark of a resource for which another object is known: surely
 * left-overs, made by a run that was cut off while a list was behind the truth.
 *
 * @returns how many are gone
 */
export const removeTwins = async (
  context: Context,
  session: Session,
  properties: Properties,
  known: string,
): Promise<number> => {
  const { objects } = await session.service.list(context.definition, { fresh: true });
  const own = findOwn(context, session, properties, objects);
  return removeAll(
    context,
    session,
    own.filter(({ id }) => id !== known),
  );
};
