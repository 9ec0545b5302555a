import { mergeDeep } from "../definition/wire/extra.js";
import { bodyOf } from "../definition/wire/wire.js";
import { isObject, type JsonObject } from "../kernel/json.js";
import { type Declared, hasRoom } from "./declared.js";
import { markFor, markText } from "./ownership/mark.js";
import { dropUndisclosed } from "./state/state-values.js";

/** What the service is to hold of a resource. */
export interface DesiredBody {
  readonly body: JsonObject;
  /** Whether the body carries the mark: marks may be off, and a long description leaves no room for one. */
  readonly isMarked: boolean;
}

/**
 * The fields, the owner mark and the members of `extra`.
 *
 * @param serial of the object
 * @param human what a person wrote as the description, kept where the program gives none
 */
export const desiredBody = (declared: Declared, serial: string, human?: string): DesiredBody => {
  const { definition, settings, mark, name } = declared;
  const { fields, extra } = dropUndisclosed(definition, declared.properties);
  const given = fields.description;
  const written = typeof given === "string" && given !== "" ? given : human;
  const suffix =
    mark && hasRoom(declared, written) ? markText(markFor(mark, serial, name)) : undefined;
  const description = written && suffix ? `${written} ${suffix}` : (suffix ?? written);
  const body = bodyOf(definition, { ...fields, description }, settings);
  return {
    body: isObject(extra) ? mergeDeep(body, extra) : body,
    isMarked: suffix !== undefined,
  };
};
