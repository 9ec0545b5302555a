import { mergeDeep } from "../definition/extra.js";
import { bodyOf } from "../definition/wire.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { hasRoom, markFor, markText, newSerial, readMark } from "./ownership/mark.js";
import type { Declared } from "./resource.js";
import { dropUndisclosed } from "./state.js";

/** What the service is to hold of a resource. */
export interface DesiredBody {
  readonly body: JsonObject;
  /** Whether the body carries the mark: marks may be off, and a long description leaves no room for one. */
  readonly isMarked: boolean;
  /** The serial of the object, whether or not the body carries it. */
  readonly serial: string;
}

/** What is known of the object besides. */
export interface ObjectSoFar {
  /** Left out: a new one. */
  readonly serial?: string | undefined;
  /** Its description, of which what a person wrote is kept where the program gives none. */
  readonly description?: unknown;
}

/** The fields, the owner mark and the members of `extra`. */
export const desiredBody = (declared: Declared, object: ObjectSoFar): DesiredBody => {
  const { definition, settings, service, mark, name } = declared;
  const { fields, extra } = dropUndisclosed(definition, declared.properties);
  const { description: human } = readMark(object.description);
  const given = fields.description;
  const written = typeof given === "string" && given !== "" ? given : human;
  const isMarked = mark !== undefined && hasRoom(declared, written);
  const serial = object.serial ?? newSerial(service.now());
  const suffix = isMarked ? markText(markFor(mark, serial, name)) : undefined;
  const description = written && suffix ? `${written} ${suffix}` : (suffix ?? written);
  const body = bodyOf(definition, { ...fields, description }, settings);
  return {
    body: isObject(extra) ? mergeDeep(body, extra) : body,
    isMarked,
    serial,
  };
};
