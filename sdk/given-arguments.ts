import * as pulumi from "@pulumi/pulumi";
import type { Definition, Field, Fields } from "../provider/definition/define.js";
import { memberPath } from "../provider/definition/fields.js";
import { searchFault } from "../provider/definition/found-object.js";
import { wrongKind } from "../provider/definition/kinds.js";
import { outputAsText } from "../provider/definition/violations.js";
import { isObject, mostLevels, objectOf } from "../provider/kernel/json.js";
import { kindOfToken, typeToken } from "../provider/kernel/pulumi.js";
import { nearestHint, valueSort } from "../provider/kernel/text.js";

const { Asset, Archive } = pulumi.asset;

/**
 * Returns the type token of a component in this package. The token must never change, because state
 * files contain it.
 */
export const componentToken = (component: string): string => `conversation:index:${component}`;

/**
 * Whether a value is a resource of the given type, from any copy of this package. Each copy has its
 * own classes, so `instanceof` does not recognize resources from another copy.
 */
export const isOfType = (value: unknown, token: string): boolean =>
  pulumi.Resource.isInstance(value) && pulumi.resourceType(value) === token;

/** The class of a type of this package; for any other type, the token itself. */
const className = (token: string): string => {
  const own = [typeToken(""), componentToken("")].find((prefix) => token.startsWith(prefix)) ?? "";
  return token.slice(own.length);
};

/** A resource's name in messages: `Channel "web"`. */
const resourceLabel = (resource: pulumi.Resource): string => {
  const type = className(pulumi.resourceType(resource));
  try {
    return `${type} ${JSON.stringify(pulumi.resourceName(resource))}`;
  } catch {
    // A resource that is known only by its URN has none.
    return type;
  }
};

/**
 * Returns a registry shared by all copies of this package in a program, including those in
 * component libraries. Another release may have written the content, so check it before use. A
 * registry's name must never change.
 */
export const sharedRegistry = (name: string): WeakMap<object, unknown> => {
  const key = Symbol.for(`pulumi-conversation/${name}`);
  const known: unknown = Reflect.get(globalThis, key);
  if (known instanceof WeakMap) return known;
  const made = new WeakMap<object, unknown>();
  // If another release keeps something else under this name, it still needs it.
  if (known === undefined) Reflect.set(globalThis, key, made);
  return made;
};

const sortOf = (value: unknown): string => {
  if (pulumi.Output.isInstance(value)) return "an output";
  return pulumi.Resource.isInstance(value) ? "a resource" : valueSort(value);
};

const isPlainObject = (value: unknown): value is object => sortOf(value) === "an object";

/** Values that Pulumi sends in forms of its own, or once they are known. */
const isPulumis = (value: unknown): boolean =>
  value instanceof Promise ||
  [pulumi.Output, pulumi.Resource, Asset, Archive].some((form) => form.isInstance(value));

/** What a value is that Pulumi would send as something else, because JSON lacks it. */
const beyondJson = (value: unknown): string | undefined => {
  if (typeof value === "number") return Number.isFinite(value) ? undefined : String(value);
  if (["bigint", "function", "symbol"].includes(typeof value)) return `a ${typeof value}`;
  if (!isObject(value)) return undefined;
  const tag = Object.prototype.toString.call(value).slice("[object ".length, -1);
  if (!["Object", "Module"].includes(tag)) return `a ${tag}`;
  return typeof value.toJSON === "function" ? "an object with toJSON" : undefined;
};

const half = "contains an unpaired surrogate: a string was cut in the middle of a character";

/** What is wrong with the first value in another one that JSON lacks, with its path. */
const outsideJson = (
  value: unknown,
  path: string,
  holders: readonly unknown[] = [],
): string | undefined => {
  if (isPulumis(value)) return undefined;
  if (typeof value === "string" && !value.isWellFormed()) return `${path} ${half}`;
  const sort = beyondJson(value);
  if (sort !== undefined) return `${path} is ${sort}`;
  if (holders.length > mostLevels)
    return `${path.slice(0, 40)}… has more than ${mostLevels} levels`;
  if (holders.includes(value)) return `${path} contains itself`;
  const isList = Array.isArray(value);
  if (!isList && !isObject(value)) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const inner = isList ? `${path}[${name}]` : memberPath(path, name);
    if (!name.isWellFormed()) return `${inner} ${half}`;
    const found = outsideJson(member, inner, [...holders, value]);
    if (found !== undefined) return found;
  }
  return undefined;
};

/** @throws pulumi.RunError if a value holds one that JSON lacks, such as a Date or NaN */
const assertJson = (of: string, path: string, value: unknown): void => {
  const found = outsideJson(value, path);
  if (found === undefined) return;
  throw new pulumi.RunError(
    `${of}: ${found}. Values are sent as JSON: convert it to a string, a finite number, a list, or a plain object`,
  );
};

/** Undefined counts as left out, as everywhere in Pulumi. */
const givenNames = (args: object): readonly string[] =>
  Object.entries(args).flatMap(([name, value]) => (value === undefined ? [] : [name]));

/** Options that belong to the third argument: in the second they would be no properties. */
const options = new Set([
  "aliases",
  "customTimeouts",
  "deleteBeforeReplace",
  "dependsOn",
  "ignoreChanges",
  "import",
  "parent",
  "protect",
  "provider",
  "replaceOnChanges",
  "retainOnDelete",
]);

/**
 * Rejects invalid logical names and properties before registration, because the engine would
 * misinterpret them. Types prevent such values only in TypeScript programs.
 *
 * @throws pulumi.RunError that describes the given value
 */
export const assertArguments = (kind: string, name: unknown, args: unknown): void => {
  const refusal = (of: string, rule: string) => new pulumi.RunError(`${of}: ${rule}`);
  const call = `new ${kind}(name, properties)`;
  if (typeof name !== "string" || name === "") {
    const given = name === "" ? "an empty string" : sortOf(name);
    const rule =
      "the name must be a non-empty string, because Pulumi identifies the resource by it";
    throw refusal(call, `${rule}; got ${given}`);
  }
  const of = `${kind} ${JSON.stringify(name)}`;
  if (!name.isWellFormed()) throw refusal(call, `the name ${JSON.stringify(name)} ${half}`);
  if (outputAsText(name) !== undefined) {
    const rule =
      "the name contains an output, but Pulumi needs the name before it creates anything";
    throw refusal(call, `${rule}. Use a plain string`);
  }
  if (args === undefined || args === null) return;
  if (!isPlainObject(args)) {
    const rule = `the properties must be an object; got ${sortOf(args)}`;
    const way = "Each property can be a promise or an output, but the whole object cannot";
    throw refusal(of, `${rule}. ${way}`);
  }
  assertJson(of, "", args);
  const option = givenNames(args).find((key) => options.has(key));
  if (option !== undefined) {
    const way = `pass it in the third argument, as in new ${kind}(name, properties, { ${option}: … })`;
    throw refusal(of, `${option} is a Pulumi option, not a property: ${way}`);
  }
};

/**
 * Rejects a component's argument that must be an object with properties but is not. Resources are
 * rejected, too, so a component that accepts a resource checks for it first.
 *
 * @throws pulumi.RunError that describes the given value
 */
export const assertPart = (of: string, path: string, part: unknown): void => {
  if (isPlainObject(part)) return;
  throw new pulumi.RunError(
    `${of}: ${path} must be an object with properties; got ${sortOf(part)}`,
  );
};

/** @throws pulumi.RunError if a component receives an unknown argument */
export const assertKnownNames = (of: string, names: readonly string[], args: object): void => {
  const other = givenNames(args).find((name) => !names.includes(name));
  if (other === undefined) return;
  const hint = nearestHint(other, names);
  throw new pulumi.RunError(
    `${of}: there is no argument ${other}${hint === "" ? `. Use ${names.join(", ")}` : hint}`,
  );
};

/** @throws pulumi.RunError if a resource is given an ID, which Pulumi drops: it would create a copy */
export const assertNoId = (kind: string, name: string, args: object): void => {
  const dropped = givenNames(args).find((key) => key === "id" || key === "urn");
  if (dropped === undefined) return;
  const quoted = JSON.stringify(name);
  throw new pulumi.RunError(
    `${kind} ${quoted}: ${dropped} cannot be set. For an object that exists, use ${kind}.get(${quoted}, id), or set adopt to its ID`,
  );
};

/** @throws pulumi.RunError if Pulumi would forget the object along with another one, without deleting it */
export const assertDeletion = (kind: string, name: string, whole?: pulumi.Resource): void => {
  if (!whole || kindOfToken(pulumi.resourceType(whole)) === undefined) return;
  throw new pulumi.RunError(
    `${kind} ${JSON.stringify(name)}: deletedWith cannot be the ${resourceLabel(whole)}, because the service deletes each object by itself. Leave it out`,
  );
};

/** @throws pulumi.RunError if the ID is invalid, because the engine would create a new object */
export const assertGetId = (kind: string, name: string, id: unknown): void => {
  const isGiven =
    typeof id === "string" ? id !== "" : ["an output", "a promise"].includes(sortOf(id));
  if (isGiven) return;
  throw new pulumi.RunError(
    `${kind}.get(${JSON.stringify(name)}, id): the ID must be a non-empty string; got ${id === "" ? "an empty string" : sortOf(id)}. To find an object by its name or type, use ${kind}.find`,
  );
};

/** @throws pulumi.RunError if these values cannot identify an object */
export const assertFoundBy = (definition: Definition, where: unknown): void => {
  const fault = searchFault(definition, isPlainObject(where) ? { ...where } : {});
  if (fault !== undefined) throw new pulumi.RunError(fault);
};

/**
 * The resource of each ID output, by the output itself: outputs derived from it are not recognized.
 */
const ids = sharedRegistry("ids");

/** Records which resource the output `resource.id` belongs to. */
export const rememberId = (resource: pulumi.CustomResource): void => {
  ids.set(resource.id, resource);
};

/** An argument that takes a resource, and the value that a program gave. */
interface GivenReference {
  /** Class and logical name of the resource that the arguments are for. */
  readonly of: string;
  readonly path: string;
  /** Type tokens of what it takes. */
  readonly takes: readonly string[];
  readonly given: unknown;
}

const isPlainArgument = (value: unknown): value is object =>
  isObject(value) && !pulumi.Output.isInstance(value) && !pulumi.Resource.isInstance(value);

const givenText = (resource: pulumi.Resource, byId: boolean): string =>
  `got the ${byId ? "id of the " : ""}${resourceLabel(resource)}`;

/**
 * Rejects a resource of the wrong kind, or the ID of one, before anything is registered.
 *
 * @throws pulumi.RunError that names both resources
 */
export const refuseOtherKinds = ({ of, path, takes, given }: GivenReference): void => {
  const byId = pulumi.Output.isInstance(given);
  const resource = byId ? ids.get(given) : given;
  if (!pulumi.Resource.isInstance(resource)) return;
  if (takes.some((token) => isOfType(resource, token))) return;
  const fault = wrongKind(path, takes.map(className), givenText(resource, byId));
  throw new pulumi.RunError(`${of}: ${fault}`);
};

const visit = (of: string, field: Field, given: unknown, path: string): void => {
  if (field.type === "reference") {
    refuseOtherKinds({ of, path, takes: [typeToken(field.to.kind)], given });
  } else if (field.type === "list" && Array.isArray(given)) {
    for (const [index, item] of given.entries()) visit(of, field.of, item, `${path}[${index}]`);
  } else if (field.type === "map" && isPlainArgument(given)) {
    for (const [key, item] of Object.entries(given)) visit(of, field.of, item, `${path}.${key}`);
  } else if (field.type === "object" && isPlainArgument(given)) {
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
 * Rejects references in a resource's arguments, at any depth, that are known to be of the wrong
 * kind.
 *
 * @throws pulumi.RunError
 */
export const checkReferences = (
  { kind, fields }: Definition,
  name: string,
  args: pulumi.Inputs,
): void => visitAll(`${kind} ${JSON.stringify(name)}`, fields, args, "");

/**
 * Returns an argument with each resource replaced by its ID. Otherwise, Pulumi would send each
 * resource as a URN and an ID, and transforms would receive only the URN while the ID is unknown.
 */
export const withIds = (given: unknown): unknown => {
  if (pulumi.CustomResource.isInstance(given)) return given.id;
  if (Array.isArray(given)) return given.map(withIds);
  if (!isObject(given) || Object.getPrototypeOf(given) !== Object.prototype) return given;
  return objectOf(Object.entries(given).map(([name, value]) => [name, withIds(value)]));
};
