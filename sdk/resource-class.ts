import * as pulumi from "@pulumi/pulumi";
import { type Definition, outputFields } from "../provider/definition/define.js";
import { namingOf } from "../provider/definition/references.js";
import { isObject, objectOf } from "../provider/kernel/json.js";
import { pointerTo, typeToken } from "../provider/pointer.js";
import { autoName, parentTypes } from "./auto-name.js";
import { withFileContent } from "./file-content.js";
import type { FoundBy } from "./find-object.js";
import { assertArguments, assertFoundBy, assertGetId } from "./given-arguments.js";
import { stackOwnership } from "./ownership.js";
import { checkReferences, rememberId, withIds } from "./reference-kinds.js";
import { sharedRegistry } from "./resource-type.js";
import { markedSecrets, secretPaths } from "./secret-paths.js";

/** How an existing object is looked up. */
export interface Lookup {
  /** Name of the settings to use, for programs that speak to several accounts. Default: the settings without a name. */
  readonly profile?: string | undefined;
}

/** Marks the arguments of a look-up, which registers nothing with the stack's ownership. */
const looksUp = Symbol("looks up");

type Parents = ReturnType<typeof parentTypes>;

/** `<project>/<stack>/<random>/<logical name>`, the name preceded by the types of its parents. */
const ownerOf = (name: string, parents: Parents): pulumi.Output<string> => {
  const { id } = stackOwnership();
  // Most have no parent that counts: every output costs promises and a look at the stack trace.
  if (typeof parents === "string") return id.apply((ownership) => `${ownership}/${parents}${name}`);
  return pulumi.all([id, parents]).apply(([ownership, types]) => `${ownership}/${types}${name}`);
};

/**
 * The name where a program gives none. It is sent a second time, for the provider to know that it
 * is an automatic one: a resource that already has a name keeps that.
 */
const automaticName = (
  key: string,
  kind: string,
  name: string,
  parents: Parents,
): pulumi.Inputs => {
  const [project, stack] = [pulumi.getProject(), pulumi.getStack()];
  const named = (types: string) => autoName({ project, stack, kind, parents: types, name });
  const automatic = typeof parents === "string" ? named(parents) : parents.apply(named);
  return { [key]: automatic, autoName: automatic };
};

/**
 * What is to be adopted, from the argument `adopt` and the option `import`: the latter cannot work
 * for a resource of this sort, and `adopt` does what it is meant for.
 *
 * @throws pulumi.RunError where the two contradict each other
 */
const adoption = (kind: string, name: string, adopt: unknown, imported: unknown): pulumi.Inputs => {
  if (imported === undefined) return {};
  if (adopt === undefined || adopt === imported) return { adopt: imported };
  const said = typeof adopt === "object" ? "something else" : JSON.stringify(adopt);
  throw new pulumi.RunError(
    `${kind} ${JSON.stringify(name)}: the option import says ${JSON.stringify(imported)}, the argument adopt says ${said}. Both name the object to take over: give only one of them`,
  );
};

const propsOf = (
  definition: Definition,
  name: string,
  args: pulumi.Inputs,
  opts: pulumi.CustomResourceOptions | undefined,
): pulumi.Inputs => {
  const { kind, fields } = definition;
  // Outputs exist on the object only where the constructor names them.
  const names = [...Object.keys(fields), ...Object.keys(outputFields)];
  const empty = Object.fromEntries(names.map((key) => [key, undefined]));
  const pointer = { __provider: pointerTo(kind) };
  if (looksUp in args) return { ...empty, profile: args.profile, ...pointer };
  checkReferences(definition, name, args);
  const adopted = adoption(kind, name, args.adopt, opts?.import);
  const parents = parentTypes(typeToken(kind), name, opts?.parent);
  const { key, isAutomatic } = namingOf(definition);
  const isNamed = !isAutomatic || (args[key] !== undefined && args[key] !== null);
  return {
    ...empty,
    ...objectOf(Object.entries(args).map(([name, value]) => [name, withIds(value)])),
    ...adopted,
    ...(isNamed ? {} : automaticName(key, kind, name, parents)),
    ...(args.extra === undefined ? {} : { extraSecrets: secretPaths(args.extra) }),
    markedSecrets: markedSecrets(fields, args),
    owner: ownerOf(name, parents),
    ...pointer,
  };
};

/** By resource, whichever copy of this package made it. */
const declared = sharedRegistry("declared");

/** What the program says of a resource, as it says it; nothing of one of another package. */
export const declaredArgs = (resource: pulumi.Resource): pulumi.Inputs => {
  const args = declared.get(resource);
  return isObject(args) ? args : {};
};

/**
 * What the resource classes have in common. Not for direct use.
 *
 * @throws pulumi.RunError where a reference is of another kind, or `import` contradicts `adopt`
 */
export class ConversationResource extends pulumi.CustomResource {
  /** Whether a value is a resource of this package, also one made by another copy of it. Never fails. */
  static override isInstance(value: unknown): value is ConversationResource {
    return pulumi.CustomResource.isInstance(value) && declared.has(value);
  }

  protected constructor(
    definition: Definition,
    name: string,
    args: object,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const { import: _, ...rest } = opts ?? {};
    assertArguments(definition.kind, name, args);
    const given = withFileContent(definition, name, { ...args });
    super(typeToken(definition.kind), name, propsOf(definition, name, given, opts), rest);
    declared.set(this, given);
    rememberId(this);
  }
}

/** Reads an existing object: the `get` of every class. */
export const lookUp = <A, R>(
  type: new (name: string, args: A, opts?: pulumi.CustomResourceOptions) => R,
  name: string,
  id: pulumi.Input<pulumi.ID>,
  { profile }: Lookup,
  opts?: pulumi.CustomResourceOptions,
): R => {
  assertGetId(type.name, name, id);
  return new type(name, { profile, [looksUp]: true } as A, { ...opts, id });
};

/** Finds an existing object by its texts and reads it: the `find` of every class. */
export const findBy = <A, R>(
  definition: Definition,
  type: new (name: string, args: A, opts?: pulumi.CustomResourceOptions) => R,
  where: FoundBy,
  lookup: Lookup,
  opts?: pulumi.CustomResourceOptions,
): R => {
  assertFoundBy(definition, where);
  const texts = Object.values(where);
  // Loaded here: a program that finds nothing does not load what talks to the service.
  const id = import("./find-object.js").then(({ findObject }) =>
    findObject(definition, where, lookup.profile),
  );
  return lookUp(type, texts.join(" "), id, lookup, opts);
};
