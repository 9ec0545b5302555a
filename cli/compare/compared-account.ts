import type { Definition, Field, Fields } from "../../provider/definition/define.js";
import { changeInside } from "../../provider/definition/walk.js";
import { fieldsFromWire, type VendorName } from "../../provider/definition/wire.js";
import { asText, isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { nameOnWire, readMark } from "../../provider/lifecycle/ownership/mark.js";
import type { WireObject } from "../../provider/service/collections.js";

/** An object of one side, in a program's terms and without secrets. */
export interface ComparedSide {
  readonly definition: Definition;
  readonly id: string;
  readonly name: string;
  /** Its logical name in a program, where a state or its mark tells it. */
  readonly logicalName?: string;
  readonly fields: JsonObject;
  /** Fields of which something is encrypted that is no secret itself, so that nothing of them is known. */
  readonly encrypted?: readonly string[];
  /** Fields that the program made secret, so that no value of them is shown. */
  readonly sealed?: readonly string[];
}

/** One side of a comparison. */
export interface ComparedAccount {
  /** What it is, for messages. */
  readonly title: string;
  readonly objects: readonly ComparedSide[];
  /** Kinds of which objects are missing, as the service did not let them be read. */
  readonly unread?: readonly string[];
  /** Sentences about what is not there. */
  readonly notes: readonly string[];
}

const withoutSecret = (field: Field, value: unknown): unknown => {
  if (field.secret || (field.type === "map" && field.of.secret)) return undefined;
  return field.type === "object" && isObject(value)
    ? publicFields(field.fields, value)
    : changeInside(field, value, withoutSecret);
};

/** Values of a program without anything secret. */
export const publicFields = (fields: Fields, values: JsonObject): JsonObject =>
  objectOf(
    Object.entries(fields).map(([name, field]) => [name, withoutSecret(field, values[name])]),
  );

/** The logical name in a label such as `shop/prod kiosk`. */
const logicalIn = (label: string): string => label.split(" ").slice(1).join(" ");

/** An object as the service sends it. */
export const sideOfWire = (
  definition: Definition,
  id: string,
  wire: WireObject,
  vendor: VendorName,
): ComparedSide => {
  const { mark, description } = readMark(wire.description);
  const fields = fieldsFromWire(definition.fields, { ...wire, description }, vendor);
  return {
    definition,
    id,
    name: asText(nameOnWire(definition, wire)),
    ...(mark ? { logicalName: logicalIn(mark.label) } : {}),
    fields: publicFields(definition.fields, fields),
  };
};
