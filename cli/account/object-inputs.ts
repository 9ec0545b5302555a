import { typedFields } from "../../provider/definition/changes.js";
import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { looksMasked } from "../../provider/definition/merge.js";
import { normaliseFields } from "../../provider/definition/normalise.js";
import { fieldViolations } from "../../provider/definition/violations.js";
import {
  type ChangeValue,
  changeInside,
  changeMembers,
  valuesIn,
} from "../../provider/definition/walk.js";
import { fieldsFromWire } from "../../provider/definition/wire.js";
import {
  filledText,
  isBlank,
  isObject,
  type JsonObject,
  objectOf,
} from "../../provider/kernel/json.js";
import { isId } from "../../provider/kernel/object-id.js";
import { undisclosed } from "../../provider/kernel/stand-ins.js";
import { type Mark, readMark } from "../../provider/lifecycle/ownership/mark.js";
import { originalMark } from "../../provider/lifecycle/seen-object.js";
import type { WireObject } from "../../provider/service/collections.js";
import type { Settings } from "../../provider/service/setting-table.js";
import { unknownMembers } from "./unknown-members.js";

/** An object of the account as a program would declare it. */
export interface ObjectInputs {
  readonly definition: Definition;
  readonly id: string;
  /**
   * The fields in a program's terms and in their normal form: references as ids, secrets as the service
   * shows them, or as undisclosed where it hides them.
   */
  readonly fields: JsonObject;
  /** Paths of members that no field of the kind knows; a run leaves them as they are. */
  readonly undeclared?: readonly string[];
  /** As the service sent it. */
  readonly wire: WireObject;
  /** The service left a secret out that must be there, so it may leave out others. */
  readonly leavesOut?: true;
  readonly created?: string;
  readonly modified?: string;
  /** Whose it is, where a stack has made it. */
  readonly mark?: Mark;
  /** Why no program can declare it as it is. */
  readonly problem?: string;
}

/** A mask says nothing of the secret, nor does an empty text. */
const isShown = (value: unknown): boolean =>
  typeof value === "string" && value !== "" && !looksMasked(value);

/** An optional member that is empty is as good as absent, unless the definition says otherwise. */
const isLeftOut = (field: Field, value: unknown): boolean =>
  !field.required && isBlank(value) && !(field.type === "list" && field.emptyCounts);

const tidyValue = (field: Field, value: unknown): unknown => {
  if (field.secret) return isShown(value) ? value : undisclosed;
  return field.type === "object" && isObject(value)
    ? tidyFields(field.fields, value)
    : changeInside(field, value, tidyValue);
};

/** An object of the service that holds a secret which it must have, and does not show. */
const hiddenMembers = (fields: Fields, values: JsonObject): JsonObject =>
  objectOf(
    Object.entries(fields)
      .filter(([name, field]) => field.secret && field.required && values[name] === undefined)
      .map(([name]) => [name, undisclosed]),
  );

/** Values without what is empty, secrets that cannot be read as undisclosed. */
const tidyFields = (fields: Fields, values: JsonObject): JsonObject => ({
  ...objectOf(
    Object.entries(values).flatMap(([name, value]): [string, unknown][] => {
      const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
      const tidy = field ? tidyValue(field, value) : value;
      return field && isLeftOut(field, tidy) ? [] : [[name, tidy]];
    }),
  ),
  ...hiddenMembers(fields, values),
});

const publicValue: ChangeValue = (field, value) =>
  field.secret ? undisclosed : changeInside(field, value, publicValue);

/** Every secret as undisclosed: what may be written to a file. */
export const withoutSecrets = (fields: Fields, values: JsonObject): JsonObject =>
  changeMembers(fields, values, publicValue);

/** Whether a value has a member anywhere that would become the prototype of what holds it. */
const namesPrototype = (value: unknown): boolean =>
  Array.isArray(value)
    ? value.some(namesPrototype)
    : isObject(value) &&
      Object.entries(value).some(([name, of]) => name === "__proto__" || namesPrototype(of));

/** Every rule that the inputs break, in one sentence. */
const problemOf = (definition: Definition, id: string, fields: JsonObject): string | undefined => {
  if (!isId(id)) return "its id can stand in no call";
  if (namesPrototype(fields)) return 'it has a member with the name "__proto__"';
  const broken = fieldViolations(definition, fields);
  const sentences = broken.map(({ path, rule }) => (path ? `${path} ${rule}` : `it ${rule}`));
  return sentences.length > 0 ? sentences.join("; ") : undefined;
};

/** Whether a secret has a place among the tidied fields, and no value among those of the service. */
const leavesSecretsOut = ({ fields }: Definition, tidy: JsonObject, typed: JsonObject): boolean => {
  const shown = new Map(valuesIn(fields, typed).map(({ path, value }) => [path, value]));
  return valuesIn(fields, tidy).some(
    ({ path, value }) => value === undisclosed && !shown.get(path),
  );
};

/** Reads an object of a list in a program's terms: everything that a program can say of it. */
export const objectInputs = (
  definition: Definition,
  id: string,
  wire: WireObject,
  settings: Pick<Settings, "platformName">,
): ObjectInputs => {
  const mark = originalMark(definition, wire);
  const { description } = readMark(wire.description);
  const live = fieldsFromWire(definition.fields, { ...wire, description }, settings);
  const typed = typedFields(definition.fields, live);
  const fields = normaliseFields(definition, tidyFields(definition.fields, typed));
  const undeclared = unknownMembers(definition, wire);
  const [created, modified] = [filledText(wire.created), filledText(wire.modified)];
  const problem = problemOf(definition, id, fields);
  return {
    ...{ definition, id, fields, wire },
    ...(undeclared.length > 0 ? { undeclared } : {}),
    ...(leavesSecretsOut(definition, fields, typed) ? { leavesOut: true as const } : {}),
    ...(created ? { created } : {}),
    ...(modified ? { modified } : {}),
    ...(mark ? { mark } : {}),
    ...(problem ? { problem } : {}),
  };
};
