import type { JsonObject } from "../definition/json.js";
import { mergeFields } from "../definition/merge.js";
import { bodyOf, fieldsFromWire } from "../definition/wire.js";
import type { WireObject } from "../service/collections.js";
import { isConversationError } from "../service/errors.js";
import { type Context, desiredBody, keyOf, outputsOf } from "./context.js";
import { adoptee, assertFree, findNew, findOwn, knownObjects } from "./existing.js";
import { Incomplete } from "./incomplete.js";
import { type Properties, split } from "./properties.js";
import type { Session } from "./run.js";
import { removeAll, removeTwins } from "./twins.js";

export interface CreateResult {
  readonly id: string;
  readonly outs: JsonObject;
}

/** Attempts to POST one object, each after a look whether the one before had an effect. */
const attempts = 3;

type Made = WireObject & { readonly id: string };

/**
 * Makes the object, once: an object with our own mark is taken over, a name that is not ours is
 * refused, and a POST whose effect is not known is repeated only after a fresh list shows that it
 * had none.
 */
export const create = async (context: Context, bag: JsonObject): Promise<CreateResult> => {
  const { definition, run } = context;
  const properties = split(bag);
  const session = await run.session(properties.profile);
  const made = await ensure(context, session, properties);
  if (properties.owner) run.decisions.settled(keyOf(definition, properties.owner), made.id);
  return { id: made.id, outs: outputsOf(definition, properties, made) };
};

const ensure = async (
  context: Context,
  session: Session,
  properties: Properties,
): Promise<Made> => {
  const spared = await sparedObject(context, session, properties);
  if (spared) return takeOver(context, session, properties, spared);
  const objects = await knownObjects(context, session);
  const own = await takeOverOwn(context, session, properties, objects);
  if (own) return own;
  const adopted = await adoptee(context, session, properties, objects);
  if (adopted) return replace(context, session, properties, adopted, {});
  assertFree(context, session, properties, objects);
  return post(context, session, properties, objects);
};

/** Under `deleteBeforeReplace` the object is there, and its id is known for certain. */
const sparedObject = async (
  { definition, run }: Context,
  { service }: Session,
  { owner }: Properties,
): Promise<Made | undefined> => {
  const id = owner && run.decisions.sparedOf(keyOf(definition, owner));
  const live = id && (await service.read(definition, id));
  return live ? { ...live, id } : undefined;
};

/** Our own object, left by an interrupted run or under forced replacement: put into shape. */
const takeOver = async (
  context: Context,
  session: Session,
  properties: Properties,
  own: Made,
): Promise<Made> => {
  try {
    return await replace(context, session, properties, own, own);
  } catch (error) {
    if (!(error instanceof Error) || isConversationError(error, "NOT_FOUND")) throw error;
    throw new Incomplete(own.id, outputsOf(context.definition, properties, own), error);
  }
};

/** The object with our own mark, if there is one; a second one of the same resource goes. */
const takeOverOwn = async (
  context: Context,
  session: Session,
  properties: Properties,
  objects: ReadonlyMap<string, WireObject>,
): Promise<Made | undefined> => {
  const [own, ...twins] = findOwn(context, session, properties, objects);
  if (!own) return undefined;
  const made = await takeOver(context, session, properties, own);
  await removeAll(context, session, twins);
  return made;
};

const replace = async (
  { definition }: Context,
  { service, settings }: Session,
  properties: Properties,
  live: Made,
  prior: WireObject,
): Promise<Made> => {
  const { id, created, modified: _, ...rest } = live;
  const { fields, rule } = definition;
  const { body } = mergeFields({
    fields,
    rule,
    live: rest,
    desired: desiredBody(definition, properties, settings),
    // What no field knows may be anybody's, and stays.
    prior: bodyOf(definition, fieldsFromWire(fields, prior, settings), settings),
    keeps: false,
  });
  await service.replace(definition, id, body);
  return { id, ...(created === undefined ? {} : { created }) };
};

const post = async (
  context: Context,
  session: Session,
  properties: Properties,
  before: ReadonlyMap<string, WireObject>,
): Promise<Made> => {
  const { definition } = context;
  const body = desiredBody(definition, properties, session.settings);
  for (let attempt = 1; ; attempt += 1) {
    try {
      const made = await session.service.create(definition, body);
      // The list that showed no effect of the attempt before may have been behind the truth.
      if (attempt > 1) await removeTwins(context, session, properties, made.id);
      return made;
    } catch (error) {
      if (!isConversationError(error) || error.effect === "none") throw error;
      if (error.details.objectId) return { id: error.details.objectId };
      const { objects, complete } = await session.service.list(definition, { fresh: true });
      const own = await takeOverOwn(context, session, properties, objects);
      if (own) return own;
      const made = findNew(context, session, properties, objects, before);
      if (made) return takeOver(context, session, properties, made);
      // A list with holes proves nothing: the next run looks again.
      if (!complete || attempt === attempts) throw error;
    }
  }
};
