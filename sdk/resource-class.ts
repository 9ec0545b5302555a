import { hash } from "node:crypto";
import { readFile } from "node:fs/promises";
import * as pulumi from "@pulumi/pulumi";
import {
  type Definition,
  type Field,
  type Fields,
  outputFields,
} from "../provider/definition/define.js";
import { namingOf } from "../provider/definition/fields.js";
import { isObject, objectOf } from "../provider/kernel/json.js";
import { secretPathsBelow } from "../provider/kernel/stand-ins.js";
import { pointerTo, typeToken } from "../provider/pointer.js";
import type { FoundBy } from "./find-object.js";
import {
  assertArguments,
  assertFoundBy,
  assertGetId,
  checkReferences,
  isOfType,
  rememberId,
  sharedRegistry,
  withIds,
} from "./given-arguments.js";

/** Longest name that the service takes, in UTF-16 characters. */
const longest = 255;

const graphemes = new Intl.Segmenter("en", { granularity: "grapheme" });

const lengthOf = (parts: Iterable<string>, most: number): number => {
  let length = 0;
  for (const part of parts) {
    if (length + part.length > most) break;
    length += part.length;
  }
  return length;
};

/**
 * The start of a text, limited in UTF-16 characters, never cut within what a reader sees as one
 * character.
 */
const start = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const characters = Array.from(graphemes.segment(text), ({ segment }) => segment);
  // One character with hundreds of accents leaves nothing else to keep than some of them.
  return text.slice(0, lengthOf(characters, most) || lengthOf(text, most));
};

/** What makes an automatic name unique. */
export interface NamedBy {
  readonly project: string;
  readonly stack: string;
  readonly kind: string;
  /** Types of the parents, outermost first, each followed by `$`; empty directly in the stack. */
  readonly parents: string;
  /** The logical name. */
  readonly name: string;
}

/**
 * The name at the service of a resource that a program gives none: the logical name and a suffix
 * that is the same in every run for this project, stack, kind, parents and logical name.
 */
export const autoName = ({ project, stack, kind, parents, name }: NamedBy): string => {
  const parts = [project, stack, kind, ...(parents ? [parents] : []), name].join("\n");
  const suffix = hash("sha256", parts).slice(0, 7);
  return `${start(name, longest - suffix.length - 1)}-${suffix}`;
};

/**
 * A URN without a dependency on the parent: a component stands for all of its children, so those
 * that refer to each other would wait for one another forever.
 */
const urnOf = (token: string, name: string, parent: pulumi.Resource): Promise<string> =>
  new Promise((resolve) => {
    pulumi.createUrn(name, token, parent).apply(resolve);
  });

/**
 * Types of the parents of a resource, outermost first, each followed by `$`; a plain empty text
 * directly in the stack. Known in previews, since a URN is.
 */
export const parentTypes = (
  token: string,
  name: string,
  parent: pulumi.Resource | undefined,
): string | pulumi.Output<string> => {
  if (!parent) return "";
  return pulumi.output(urnOf(token, name, parent)).apply((urn) => {
    const qualified = urn.split("::")[2] ?? token;
    return qualified.slice(0, -token.length).replace("pulumi:pulumi:Stack$", "");
  });
};

/** Every asset counts as a file for Pulumi's own question. */
const isFile = (value: unknown): value is pulumi.asset.FileAsset =>
  pulumi.asset.Asset.isInstance(value);

/** @throws pulumi.RunError naming the property and the file, if it cannot be read */
const contentOf = async (asset: pulumi.asset.FileAsset, property: string): Promise<string> => {
  if (!("path" in asset))
    throw new pulumi.RunError(
      `${property}: takes base64 text, or a file of this machine as new pulumi.asset.FileAsset(path); another asset was given`,
    );
  const file = await asset.path;
  try {
    return (await readFile(file)).toString("base64");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new pulumi.RunError(`${property}: the file ${file} cannot be read: ${reason}`);
  }
};

/** The arguments of a resource with the content of files in place of the files: what is text in base64 may be one. */
export const withFileContent = (
  { kind, fields }: Definition,
  name: string,
  args: pulumi.Inputs,
): pulumi.Inputs => {
  const files = Object.entries(fields).flatMap(([key, field]) => {
    const value: unknown = args[key];
    const isContent = field.type === "text" && field.format === "base64";
    const property = `${kind} ${JSON.stringify(name)}: ${key}`;
    return isContent && isFile(value) ? [[key, contentOf(value, property)] as const] : [];
  });
  return files.length === 0 ? args : { ...args, ...Object.fromEntries(files) };
};

/** The field of a member: of an object the one with its name, of a map the one of all. */
const fieldOfMember = (field: Field | undefined, name: string): Field | undefined => {
  if (field?.type === "map") return field.of;
  return field?.type === "object" && Object.hasOwn(field.fields, name)
    ? field.fields[name]
    : undefined;
};

/** @param field what the definition knows of the value; what is secret by it needs no mark */
const pathsIn = async (value: unknown, field?: Field): Promise<readonly string[]> => {
  if (field?.secret) return [];
  if (pulumi.Output.isInstance(value)) {
    // `output` also sees what an output of outputs holds. An unknown one knows whether it is secret.
    return (await pulumi.isSecret(pulumi.output(value))) ? [""] : [];
  }
  if (value instanceof Promise) return pathsIn(await value, field);
  if (pulumi.Resource.isInstance(value)) return [];
  if (Array.isArray(value)) {
    const of = field?.type === "list" ? field.of : undefined;
    const items = await Promise.all(value.map((item) => pathsIn(item, of)));
    return items.some((paths) => paths.length > 0) ? [""] : [];
  }
  if (!isObject(value)) return [];
  const members = Object.entries(value).map(async ([name, member]) =>
    secretPathsBelow(name, await pathsIn(member, fieldOfMember(field, name))),
  );
  return (await Promise.all(members)).flat();
};

/**
 * Which parts of a value a program marks as secret, as paths from its top: `apiKey`, `proxy.password`; a list that
 * holds a secret is one as a whole, and the empty path says that everything is. The provider gets
 * values without their secrecy and needs this list. Sorted; undefined if nothing is secret.
 */
export const secretPaths = (value: unknown): Promise<readonly string[] | undefined> =>
  sortedPaths(pathsIn(value));

/** The same for the arguments of a resource, without what is secret by its definition. */
export const markedSecrets = (
  fields: Fields,
  args: pulumi.Inputs,
): Promise<readonly string[] | undefined> => {
  const paths = Object.entries(fields).map(async ([name, field]) =>
    secretPathsBelow(name, await pathsIn(args[name], field)),
  );
  return sortedPaths(Promise.all(paths).then((each) => each.flat()));
};

const sortedPaths = async (found: Promise<readonly string[]>) => {
  try {
    const paths = new Set(await found);
    if (paths.has("")) return [""];
    return paths.size > 0 ? [...paths].sort() : undefined;
  } catch {
    // A failure here recurs when the value itself is sent, and is reported there.
    return undefined;
  }
};

const kind = "Ownership";

/**
 * Whose the objects of a stack are. Registered by itself, once for each stack, by the first
 * resource of a program. It stands for no object of the service and makes no calls; its random id
 * is saved in the state before anything else is made, so that every object can be marked with it.
 * Not for direct use; it cannot fail by itself.
 */
export class Ownership extends pulumi.CustomResource {
  /** Type token, part of every state file. */
  static readonly __pulumiType: string = typeToken(kind);

  /** Whether a value is an ownership, also one that another copy of this package registered. Never fails. */
  static override isInstance(value: unknown): value is Ownership {
    return isOfType(value, Ownership.__pulumiType);
  }

  constructor(name: string, opts?: pulumi.CustomResourceOptions) {
    const props = {
      project: pulumi.getProject(),
      stack: pulumi.getStack(),
      __provider: pointerTo(kind),
    };
    super(Ownership.__pulumiType, name, props, opts);
  }
}

/** One for each stack, as several may run in one process; the same for all copies of the package. */
const ownerships = sharedRegistry("ownerships");

/** The ownership of the stack that the running program belongs to. */
export const stackOwnership = (): Ownership => {
  const stack: object = pulumi.runtime.getStackResource() ?? pulumi.runtime.getMonitor() ?? pulumi;
  const known = ownerships.get(stack);
  if (Ownership.isInstance(known)) return known;
  const made = new Ownership("ownership");
  ownerships.set(stack, made);
  return made;
};

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
 * The name if a program gives none. It is sent a second time, for the provider to know that it
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
 * The object to adopt, from the argument `adopt` and the option `import`: the latter cannot work
 * for a resource of this sort, and `adopt` does what it is meant for.
 *
 * @throws pulumi.RunError if the two contradict each other
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
  // Outputs exist on the object only if the constructor names them.
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

/** By resource, from any copy of this package. */
const declared = sharedRegistry("declared");

/** What the program declares of a resource, unchanged; empty for one of another package. */
export const declaredArgs = (resource: pulumi.Resource): pulumi.Inputs => {
  const args = declared.get(resource);
  return isObject(args) ? args : {};
};

/**
 * What the resource classes have in common. Not for direct use.
 *
 * @throws pulumi.RunError if a reference is of another kind, or `import` contradicts `adopt`
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
  // Loaded here, so that a program without look-ups does not load the service client.
  const id = import("./find-object.js").then(({ findObject }) =>
    findObject(definition, where, lookup.profile),
  );
  return lookUp(type, texts.join(" "), id, lookup, opts);
};
