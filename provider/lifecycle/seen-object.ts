import type { Definition } from "../definition/define.js";
import { sameMeaning } from "../definition/meaning.js";
import { isId } from "../kernel/object-id.js";
import type { Listing, WireObject } from "../service/collections.js";
import {
  hasRoom,
  isCopy,
  isSameResource,
  type Mark,
  markOn,
  nameOnWire,
  readMark,
} from "./ownership/mark.js";
import type { Declared, Found } from "./resource.js";

/** An object at the service, as one resource sees it. */
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
  /** Whether it is also no copy, as far as the object itself shows. */
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
): readonly SeenObject[] => {
  const see = classifier(declared);
  return Array.from(objects, ([id, wire]) => see(id, wire));
};

/** Looks at one object. */
export const seenObject = (declared: Declared, id: string, wire: WireObject): SeenObject =>
  classifier(declared)(id, wire);

/** How one resource looks at objects. */
const classifier = (declared: Declared) => {
  const { definition, properties } = declared;
  const { [declared.nameKey]: nameField, description: textField } = definition.fields;
  const given = properties.fields.description;
  const isPlain = nameField?.type === "text" && !nameField.json && !nameField.format;
  const isPlainWanted = isPlain && hasOneForm(declared.name);
  return (id: string, wire: WireObject): SeenObject => {
    const { description, created } = wire;
    const name = wire[declared.nameOnWire];
    const { mark, isReachable, hasPlainName } = look(id, name, wire);
    const isOurs =
      mark !== undefined && declared.mark !== undefined && isSameResource(mark, declared.mark);
    // Most names are of one form only, and then a glance is enough.
    const isNamed =
      nameField !== undefined &&
      (hasPlainName && isPlainWanted
        ? name === declared.name
        : sameMeaning(nameField, name, declared.name));
    const isGiven =
      mark && textField && given !== undefined && sameMeaning(textField, description, given);
    return {
      id,
      wire,
      isReachable,
      mark,
      addedMark: isGiven ? undefined : mark,
      isOurs,
      isOwn: isOurs && !isCopy(mark, name, created),
      isNamed,
      mayBeNamed: isNamed || !(typeof name === "string" || typeof name === "number"),
      isRoomless: typeof description === "string" && !hasRoom(declared, description),
    };
  };
};

/** What every service gives back as it is, of which there is one form only. */
const hasOneForm = (name: unknown): boolean =>
  typeof name === "string" && /^[!-~](?:[ -~]*[!-~])?$/.test(name);

/** What is the same of an object for every resource. */
interface ObjectFacts {
  readonly mark: Mark | undefined;
  readonly id: unknown;
  readonly isReachable: boolean;
  readonly name: unknown;
  readonly hasPlainName: boolean;
}

/** Every creation looks at all objects of its kind: what does not depend on who looks is read once. */
const looked = new WeakMap<WireObject, ObjectFacts>();

const look = (id: string, name: unknown, wire: WireObject): ObjectFacts => {
  const known = looked.get(wire);
  if (known?.id === id && known.name === name) return known;
  const hasPlainName = hasOneForm(name);
  const isReachable = isId(id);
  const { mark } = readMark(wire.description);
  const facts = { mark, id, isReachable, name, hasPlainName };
  looked.set(wire, facts);
  return facts;
};

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
