import { tidyFields } from "../../provider/definition/changes.js";
import type { Definition } from "../../provider/definition/define.js";
import { normaliseFields } from "../../provider/definition/fields.js";
import { fieldViolations } from "../../provider/definition/violations.js";
import { fieldsFromWire, unknownMembers } from "../../provider/definition/wire.js";
import { filledText, isObject, type JsonObject } from "../../provider/kernel/json.js";
import { isId } from "../../provider/kernel/object-id.js";
import { originalMark, readMark } from "../../provider/lifecycle/ownership.js";
import type { Mark } from "../../provider/lifecycle/stack-states.js";
import type { WireObject } from "../../provider/service/lists.js";
import type { Settings } from "../../provider/service/settings.js";

/** An object of the account as a program would declare it. */
export interface ObjectInputs {
  readonly definition: Definition;
  readonly id: string;
  /**
   * The fields in a program's terms and in their normal form: references as IDs, secrets as the service
   * shows them, or as undisclosed if it hides them.
   */
  readonly fields: JsonObject;
  /** Paths of members that no field of the kind covers; no PUT carries them. */
  readonly undeclared?: readonly string[];
  /** As the service sent it. */
  readonly wire: WireObject;
  readonly created?: string;
  readonly modified?: string;
  /** Its owner, if a stack made it. */
  readonly mark?: Mark;
  /** Why no program can declare it unchanged. */
  readonly problem?: string;
}

/** Whether a value has, at any depth, a member that would become the prototype of its holder. */
const namesPrototype = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(namesPrototype)
    : isObject(value) &&
      Object.entries(value).some(([name, of]) => name === "__proto__" || namesPrototype(of));

/** All rules that the inputs break, in one sentence. */
const problemOf = (definition: Definition, id: string, fields: JsonObject): string | undefined => {
  if (!isId(id)) return "the ID is not valid in a request";
  if (namesPrototype(fields)) return 'a member is named "__proto__"';
  const broken = fieldViolations(definition, fields);
  const sentences = broken.map(({ path, rule }) => (path ? `${path} ${rule}` : `it ${rule}`));
  return sentences.length > 0 ? sentences.join("; ") : undefined;
};

/** Reads a listed object in a program's terms: everything that a program can declare. */
export const objectInputs = (
  definition: Definition,
  id: string,
  wire: WireObject,
  settings: Pick<Settings, "platformName">,
): ObjectInputs => {
  const mark = originalMark(definition, wire);
  const { description } = readMark(wire.description);
  const live = fieldsFromWire(definition.fields, { ...wire, description }, settings);
  const fields = normaliseFields(definition, tidyFields(definition.fields, live));
  const undeclared = unknownMembers(definition, wire);
  const [created, modified] = [filledText(wire.created), filledText(wire.modified)];
  const problem = problemOf(definition, id, fields);
  return {
    ...{ definition, id, fields, wire },
    ...(undeclared.length > 0 ? { undeclared } : {}),
    ...(created ? { created } : {}),
    ...(modified ? { modified } : {}),
    ...(mark ? { mark } : {}),
    ...(problem ? { problem } : {}),
  };
};
