import { managedFields } from "../definition/managed.js";
import { naturalKey } from "../definition/references.js";
import { sameFields } from "../definition/same.js";
import { fieldsFromWire } from "../definition/wire.js";
import type { WireObject } from "../service/collections.js";
import { ConversationError, isConversationError } from "../service/errors.js";
import { type Context, keyOf, markOn, nameOnWire, ownMark } from "./context.js";
import { isNamesake, type Mark, readMark } from "./mark.js";
import type { Properties } from "./properties.js";
import type { Session } from "./run.js";

type Objects = ReadonlyMap<string, WireObject>;
type Found = WireObject & { readonly id: string };

/** The objects of the kind, from the one list that all creations of a run share. */
export const knownObjects = async (
  { definition }: Context,
  { service }: Session,
): Promise<Objects> => {
  try {
    return (await service.list(definition)).objects;
  } catch (error) {
    // Who may create but not list still gets the service's own refusal of a name that is taken.
    if (isConversationError(error, "FORBIDDEN")) return new Map();
    throw error;
  }
};

const findAll = (
  objects: Objects,
  fits: (wire: WireObject, id: string) => boolean,
): readonly Found[] =>
  [...objects].filter(([id, wire]) => fits(wire, id)).map(([id, wire]) => ({ ...wire, id }));

const find = (
  objects: Objects,
  fits: (wire: WireObject, id: string) => boolean,
): Found | undefined => findAll(objects, fits)[0];

/**
 * The objects that carry our own mark and do not stand for another resource by now. More than one
 * is there only where a list was behind the truth between two POSTs; then the one that has the name
 * that is wanted comes first, as no other can be given it.
 */
export const findOwn = (
  { definition, run }: Context,
  { settings }: Session,
  properties: Properties,
  objects: Objects,
): readonly Found[] => {
  const mark = ownMark(definition, properties, settings);
  if (!mark || !properties.owner) return [];
  const key = keyOf(definition, properties.owner);
  const own = findAll(objects, (wire, id) => {
    const there = markOn(wire);
    const holder = run.decisions.holderOf(id) ?? key;
    return there?.resource === mark.resource && there.stack === mark.stack && holder === key;
  });
  const wanted = properties.fields[naturalKey(definition)];
  const isNamed = (wire: WireObject) => nameOnWire(definition, wire) === wanted;
  return [...own.filter(isNamed), ...own.filter((wire) => !isNamed(wire))];
};

/**
 * Without a mark: the object that was not there before the POST, and is what was posted, name and
 * all. Undefined where the mark speaks for itself.
 */
export const findNew = (
  { definition }: Context,
  { settings }: Session,
  properties: Properties,
  objects: Objects,
  before: Objects,
): Found | undefined =>
  ownMark(definition, properties, settings)
    ? undefined
    : find(objects, (wire, id) => {
        const { description } = readMark(wire.description);
        const fields = fieldsFromWire(definition.fields, { ...wire, description }, settings);
        const managed = managedFields(definition.fields, fields, properties.fields);
        return !before.has(id) && sameFields(definition.fields, managed, properties.fields);
      });

const isUnique = ({ definition }: Context): boolean => {
  const field = definition.fields[naturalKey(definition)];
  return field?.type === "text" && field.unique === true;
};

const describe = ({ definition }: Context, wire: Found): string =>
  `the ${definition.noun} ${JSON.stringify(nameOnWire(definition, wire))} (id ${wire.id})`;

const ownedElsewhere = (context: Context, wire: Found, mark: Mark): ConversationError =>
  new ConversationError(
    "OWNED_ELSEWHERE",
    `${describe(context, wire)} belongs to another Pulumi resource or state: ${mark.label}. ` +
      "Nothing was changed. Remove it there first, or give this one another name; " +
      "if that state is lost for good, remove the mark at the end of the object's description at the service and adopt it.",
  );

/** The object that `adopt` names, by id or by its unique name; refused where it belongs to somebody else. */
export const adoptee = async (
  context: Context,
  { service }: Session,
  { adopt, fields }: Properties,
  objects: Objects,
): Promise<Found | undefined> => {
  const { definition } = context;
  if (adopt === undefined) return undefined;
  const name = fields[naturalKey(definition)];
  const found =
    adopt === true
      ? find(objects, (wire) => nameOnWire(definition, wire) === name)
      : await service.read(definition, adopt).then((wire) => wire && { ...wire, id: adopt });
  if (!found && adopt !== true) {
    throw new ConversationError(
      "NOT_FOUND",
      `there is no ${definition.noun} with the id ${adopt} to adopt. Nothing was changed.`,
    );
  }
  const mark = found && markOn(found);
  if (found && mark) throw ownedElsewhere(context, found, mark);
  return found;
};

/** Refuses where an object that is not ours has the name. */
export const assertFree = (
  context: Context,
  { settings }: Session,
  properties: Properties,
  objects: Objects,
): void => {
  const { definition } = context;
  const name = properties.fields[naturalKey(definition)];
  const own = ownMark(definition, properties, settings);
  const taken = find(objects, (wire) => {
    const mark = markOn(wire);
    // Names that need not be unique may well be there twice, but not as one resource of two states.
    const ofNamesake = own !== undefined && mark !== undefined && isNamesake(own, mark);
    return nameOnWire(definition, wire) === name && (isUnique(context) || ofNamesake);
  });
  if (!taken) return;
  const mark = markOn(taken);
  if (mark) throw ownedElsewhere(context, taken, mark);
  throw new ConversationError(
    "NAME_TAKEN",
    `${describe(context, taken)} already exists and is not managed by Pulumi. Nothing was changed. ` +
      `Take it over with adopt: true or adopt: "${taken.id}", or use another ${naturalKey(definition)}.`,
  );
};
