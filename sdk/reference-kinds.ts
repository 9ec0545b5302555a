import * as pulumi from "@pulumi/pulumi";
import type { Definition, Field, Fields } from "../provider/definition/define.js";
import { isObject, objectOf } from "../provider/kernel/json.js";
import { typeToken } from "../provider/pointer.js";
import { className, isOfType, resourceLabel, sharedRegistry } from "./resource-type.js";

/** Whose id an output is, by the very output: what a program makes of it is not known any more. */
const ids = sharedRegistry("ids");

/** Remembers that `resource.id` is the id of this resource. */
export const rememberId = (resource: pulumi.CustomResource): void => {
  ids.set(resource.id, resource);
};

/** One place of the arguments that takes a resource, and what a program put there. */
interface GivenReference {
  /** Class and logical name of the resource that the arguments are for. */
  readonly of: string;
  readonly path: string;
  /** Type tokens of what it takes. */
  readonly takes: readonly string[];
  readonly given: unknown;
}

const withArticle = (name: string): string => `${/^[AEIOU]/.test(name) ? "an" : "a"} ${name}`;

const isPlain = (value: unknown): value is object =>
  isObject(value) && !pulumi.Output.isInstance(value) && !pulumi.Resource.isInstance(value);

/** Parts of a component that would have fitted, as a program writes them: `.channel`. */
const fitting = (value: object, takes: readonly string[], prefix: string, depth = 2): string[] =>
  Object.entries(value)
    .filter(([name]) => !name.startsWith("__"))
    .flatMap(([name, member]) => {
      if (takes.some((token) => isOfType(member, token))) return [`${prefix}.${name}`];
      return depth > 1 && isPlain(member) ? fitting(member, takes, `${prefix}.${name}`, 1) : [];
    });

const wayOut = (given: pulumi.Resource, takes: readonly string[]): string => {
  const parts = pulumi.ComponentResource.isInstance(given) ? fitting(given, takes, "") : [];
  return parts.length > 0 ? `. Give a part of it: ${parts.join(" or ")}` : "";
};

const givenText = (resource: pulumi.Resource, byId: boolean): string =>
  `the ${byId ? "id of the " : ""}${resourceLabel(resource)} was given`;

/**
 * Refuses a resource of another kind, or its id, before anything is registered.
 *
 * @throws pulumi.RunError that names both resources
 */
export const refuseOtherKinds = ({ of, path, takes, given }: GivenReference): void => {
  const byId = pulumi.Output.isInstance(given);
  const resource = byId ? ids.get(given) : given;
  if (!pulumi.Resource.isInstance(resource)) return;
  if (takes.some((token) => isOfType(resource, token))) return;
  const wanted = takes.map((token) => withArticle(className(token))).join(" or ");
  const was = givenText(resource, byId);
  throw new pulumi.RunError(`${of}: ${path} must be ${wanted}; ${was}${wayOut(resource, takes)}`);
};

const shapes: Readonly<Partial<Record<Field["type"], string>>> = {
  list: "a list",
  map: "an object of keys and values",
  object: "an object",
};

/** A resource, or its id, where a list or an object belongs: a preview could not tell it, as it knows no id yet. */
const refuseBareResource = (of: string, { type }: Field, given: unknown, path: string): void => {
  const shape = shapes[type];
  const resource = pulumi.Output.isInstance(given) ? ids.get(given) : given;
  if (shape === undefined || !pulumi.Resource.isInstance(resource)) return;
  const was = givenText(resource, resource !== given);
  throw new pulumi.RunError(`${of}: ${path} must be ${shape}; ${was}`);
};

const visit = (of: string, field: Field, given: unknown, path: string): void => {
  refuseBareResource(of, field, given, path);
  if (field.type === "reference") {
    refuseOtherKinds({ of, path, takes: [typeToken(field.to.kind)], given });
  } else if (field.type === "list" && Array.isArray(given)) {
    for (const [index, item] of given.entries()) visit(of, field.of, item, `${path}[${index}]`);
  } else if (field.type === "map" && isPlain(given)) {
    for (const [key, item] of Object.entries(given)) visit(of, field.of, item, `${path}.${key}`);
  } else if (field.type === "object" && isPlain(given)) {
    visitAll(of, field.fields, given, `${path}.`);
  }
};

const visitAll = (of: string, fields: Fields, given: object, prefix: string): void => {
  for (const [name, value] of Object.entries(given)) {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field) visit(of, field, value, prefix + name);
  }
};

/**
 * Refuses every reference in a resource's arguments, at any depth, that is surely of another kind.
 *
 * @throws pulumi.RunError
 */
export const checkReferences = (
  { kind, fields }: Definition,
  name: string,
  args: pulumi.Inputs,
): void => visitAll(`${kind} ${JSON.stringify(name)}`, fields, args, "");

/**
 * Arguments with the id of a resource in the place of each resource. Pulumi sends a resource as a URN
 * and an id, of which a transform gets only the first while the id is not known.
 */
export const withIds = (given: unknown): unknown => {
  if (pulumi.CustomResource.isInstance(given)) return given.id;
  if (Array.isArray(given)) return given.map(withIds);
  if (!isObject(given) || Object.getPrototypeOf(given) !== Object.prototype) return given;
  return objectOf(Object.entries(given).map(([name, value]) => [name, withIds(value)]));
};
