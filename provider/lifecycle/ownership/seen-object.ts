import type { Definition } from "../../definition/define.js";
import { sameMeaning } from "../../definition/meaning/same.js";
import { namingOf } from "../../definition/references.js";
import { isId } from "../../kernel/object-id.js";
import type { Listing, WireObject } from "../../service/objects/collections.js";
import type { Declared, Found } from "../declared.js";
import type { Mark } from "./mark.js";
import { hasRoom, isCopy, isSameResource, readMark } from "./read-mark.js";

/** An object at the service, and what it tells of itself to one resource. */
export interface SeenObject {
  readonly id: string;
  readonly wire: WireObject;
  /** Whether a call can name its id. */
  readonly isReachable: boolean;
  /** The mark in its description; a copy carries the one of the original. */
  readonly mark: Mark | undefined;
  /** The mark, where it is not the end of what the program itself says. */
  readonly addedMark: Mark | undefined;
  /** Whether it carries the mark of the resource. */
  readonly isOurs: boolean;
  /** Whether it is also no copy, as far as it tells itself. */
  readonly isOwn: boolean;
  /** Whether it has the name of the resource, in whichever form the service gives it back. */
  readonly isNamed: boolean;
  /** Whether it may have it: a name that cannot be read may well be the wanted one. */
  readonly mayBeNamed: boolean;
  /** Whether its description leaves no room for the mark of the resource. */
  readonly isRoomless: boolean;
}

/** Looks at the objects of a list, once for all decisions of a call. */
export const seenObjects = (
  declared: Declared,
  objects: Listing["objects"],
): readonly SeenObject[] => [...objects].map(([id, wire]) => seenObject(declared, id, wire));

/** Looks at one object. */
export const seenObject = (declared: Declared, id: string, wire: WireObject): SeenObject => {
  const { definition, properties } = declared;
  const { [declared.nameKey]: nameField, description: textField } = definition.fields;
  const { description, created } = wire;
  const mark = markOn(wire);
  const name = wire[declared.nameOnWire];
  const isOurs =
    mark !== undefined && declared.mark !== undefined && isSameResource(mark, declared.mark);
  const isRoomless = typeof description === "string" && !hasRoom(declared, description);
  const isOwn = isOurs && !isCopy(mark, name, created);
  const isNamed = nameField !== undefined && sameMeaning(nameField, name, declared.name);
  const given = properties.fields.description;
  const isGiven =
    mark && textField && given !== undefined && sameMeaning(textField, description, given);
  return {
    id,
    wire,
    isReachable: isId(id),
    mark,
    addedMark: isGiven ? undefined : mark,
    isOurs,
    isOwn,
    isNamed,
    mayBeNamed: isNamed || !(typeof name === "string" || typeof name === "number"),
    isRoomless,
  };
};

/** Every creation looks at all objects of its kind: the mark of each is read once. */
const marks = new WeakMap<WireObject, ReturnType<typeof readMark>>();

/** The mark that an object at the service carries. */
export const markOn = (wire: WireObject): Mark | undefined => {
  const read = marks.get(wire) ?? readMark(wire.description);
  marks.set(wire, read);
  return read.mark;
};

/** What tells an object apart for a person. */
export const nameOnWire = (definition: Definition, wire: WireObject): unknown =>
  wire[namingOf(definition).wire];

/** The mark of an object that we made ourselves; undefined on objects of others and on copies of ours. */
export const originalMark = (definition: Definition, wire: WireObject): Mark | undefined => {
  const mark = markOn(wire);
  return mark && !isCopy(mark, nameOnWire(definition, wire), wire.created) ? mark : undefined;
};

/** Name and id of an object for messages, cut where a service sends something absurd. */
export const describe = (definition: Definition, { id, ...wire }: Found): string => {
  const name = nameOnWire(definition, wire);
  const shown =
    typeof name === "string" ? `${JSON.stringify([...name].slice(0, 80).join(""))} ` : "";
  return `${definition.noun} ${shown}(id ${String(id).slice(0, 80)})`;
};
