import { hash } from "node:crypto";
import { hostname, userInfo } from "node:os";
import type { z } from "zod";
import { isObject, type JsonObject, objectOf } from "../../provider/kernel/json.js";
import { inertOutput } from "../../provider/kernel/text.js";
import type { StackNames } from "../../provider/lifecycle/ownership/orphans.js";
import { ownershipKind } from "../../provider/lifecycle/ownership/ownership.js";
import { type Properties, stateInputs, stateOutputs } from "../../provider/lifecycle/state.js";
import { pointerTo, typeToken } from "../../provider/pointer.js";
import { type ObjectInputs, withoutSecrets } from "../account/object-inputs.js";
import type { Printed } from "../printed.js";
import type { importEntrySchema } from "./import-schema.js";

/** A resource that Pulumi takes into a state, as `pulumi import --file` reads it. */
export type ImportEntry = Printed<z.output<typeof importEntrySchema>>;

export interface EntryOptions {
  /** Id of the stack's `Ownership`. */
  readonly ownership: string;
  readonly profile?: string;
}

/** Project, stack and a part of its own: the id of an `Ownership` that is not in a state yet. */
export const ownershipId = ({ project, stack }: StackNames, own: string): string =>
  `${project}/${stack}/${own}`;

/**
 * The part of an `Ownership` that no other stack has, for one that is written to a file: the same each
 * time that a person exports an account on a machine, and another one for everybody else.
 */
export const personalPart = (baseUrl: string, names: StackNames): string => {
  let user = "";
  try {
    user = userInfo().username;
  } catch {
    // An account of the machine without a name.
  }
  const parts = [hostname(), user, baseUrl, names.project, names.stack];
  return hash("sha256", parts.join("\n")).slice(0, 16);
};

const propertiesOf = (
  { fields, created, modified }: ObjectInputs,
  logical: string,
  { ownership, profile }: EntryOptions,
): Properties => ({
  fields,
  owner: `${ownership}/${logical}`,
  ...(profile ? { profile } : {}),
  record: { ...(created ? { created } : {}), ...(modified ? { modified } : {}) },
});

/** An object as an entry, its secrets as the engine's own wire carries them. */
export const importEntry = (
  object: ObjectInputs,
  logical: string,
  options: EntryOptions,
): ImportEntry => {
  const { definition, id } = object;
  const properties = propertiesOf(object, logical, options);
  const pointer = { __provider: pointerTo(definition.kind) };
  return {
    type: typeToken(definition.kind),
    name: logical,
    id,
    inputs: { ...stateInputs(definition, properties), ...pointer },
    outputs: { ...stateOutputs(definition, properties), ...pointer },
  };
};

/** The `Ownership` of a stack whose state holds none. */
export const ownershipEntry = (id: string, { project, stack }: StackNames): ImportEntry => {
  const values = { project, stack, __provider: pointerTo(ownershipKind) };
  return { type: typeToken(ownershipKind), name: "ownership", id, inputs: values, outputs: values };
};

const isSecretOnWire = (value: JsonObject): boolean =>
  Object.hasOwn(value, "value") && Object.keys(value).some((name) => /^[0-9a-f]{32}$/.test(name));

/** Secrets in the form that a file has for them. */
const inFile = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(inFile);
  if (!isObject(value)) return value;
  if (!isSecretOnWire(value))
    return objectOf(Object.entries(value).map(([name, member]) => [name, inFile(member)]));
  const { value: secret, ...kind } = value;
  return { ...kind, plaintext: JSON.stringify(secret) };
};

/** The text of an import file, as `pulumi import --file` reads it. */
export const inImportFile = (entries: readonly ImportEntry[]): string =>
  inertOutput(`${JSON.stringify({ resources: inFile(entries) }, null, 2)}\n`, false);

/**
 * The import file of an export: no entry where there is no object. It holds no secret: each is written as
 * undisclosed.
 */
export const importFileText = (
  objects: readonly { readonly object: ObjectInputs; readonly logical: string }[],
  options: EntryOptions,
  owner: StackNames,
): string => {
  if (objects.length === 0) return inImportFile([]);
  const entries = objects.map(({ object, logical }) => {
    const fields = withoutSecrets(object.definition.fields, object.fields);
    return importEntry({ ...object, fields }, logical, options);
  });
  return inImportFile([ownershipEntry(options.ownership, owner), ...entries]);
};
