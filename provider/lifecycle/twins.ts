import { mergeFields } from "../definition/merge.js";
import { naturalKey } from "../definition/references.js";
import { bodyOf, fieldsFromWire, wireName } from "../definition/wire.js";
import type { WireObject } from "../service/collections.js";
import { isConversationError } from "../service/errors.js";
import { type Context, desiredBody } from "./context.js";
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
): Promise<number> =>
  removeAll(context, session, await twinsOf(context, session, properties, known));

type Twin = WireObject & { readonly id: string };

const twinsOf = async (
  context: Context,
  session: Session,
  properties: Properties,
  known: string,
): Promise<readonly Twin[]> => {
  const { objects } = await session.service.list(context.definition, { fresh: true });
  return findOwn(context, session, properties, objects).filter(({ id }) => id !== known);
};

/**
 * Gives a twin that cannot go yet, because others of the stack still refer to it, another name:
 * they are written later in the run, and the resource's own object comes before them.
 */
const setAside = async (
  { definition }: Context,
  { service, settings }: Session,
  properties: Properties,
  { id, created: _, modified: __, ...live }: Twin,
): Promise<void> => {
  const key = naturalKey(definition);
  const field = definition.fields[key];
  if (field?.type !== "text") return;
  const suffix = `-left-over-${id}`;
  const name = String(properties.fields[key]).slice(0, (field.max ?? 255) - suffix.length);
  const desired = desiredBody(definition, properties, settings);
  const { fields, rule } = definition;
  const prior = bodyOf(definition, fieldsFromWire(fields, live, settings), settings);
  const { body } = mergeFields({ fields, rule, live, desired, prior, keeps: false });
  await service.replace(definition, id, { ...body, [wireName(key, field)]: `${name}${suffix}` });
};

/**
 * Frees the name of a resource from its own left-overs: removes them, and renames what is still
 * referred to.
 *
 * @returns how many let go of the name
 */
export const freeName = async (
  context: Context,
  session: Session,
  properties: Properties,
  known: string,
): Promise<number> => {
  let freed = 0;
  for (const twin of await twinsOf(context, session, properties, known)) {
    if ((await removeAll(context, session, [twin])) === 0)
      await setAside(context, session, properties, twin);
    freed += 1;
  }
  return freed;
};
