import * as pulumi from "@pulumi/pulumi";
import { assetContent, takesFile } from "../provider/definition/asset-content.js";
import { autoName } from "../provider/definition/automatic-name.js";
import { type Definition, type Fields, outputFields } from "../provider/definition/define.js";
import { markedSecrets, memberPath } from "../provider/definition/fields.js";
import type { FoundBy } from "../provider/definition/found-object.js";
import { namingOf } from "../provider/definition/kinds.js";
import { isObject, type JsonObject, objectOf } from "../provider/kernel/json.js";
import {
  ownerOf,
  parentsIn,
  pluginToken,
  pointerTo,
  secretSignature,
  typeToken,
} from "../provider/kernel/pulumi.js";
import {
  assertArguments,
  assertDeletion,
  assertFoundBy,
  assertGetId,
  assertNoId,
  checkReferences,
  isOfType,
  rememberId,
  sharedRegistry,
  withIds,
} from "./given-arguments.js";

/**
 * A URN without a dependency on the parent: a component stands for all of its children, so those
 * that refer to each other would wait for one another forever.
 */
const findUrn = (token: string, name: string, parent: pulumi.Resource): Promise<string> =>
  new Promise((resolve) => {
    pulumi.createUrn(name, token, parent).apply(resolve);
  });

/**
 * Returns the types of a resource's parents, outermost first, each followed by `$`; empty if the
 * resource is directly in the stack. The result is known even in previews, because URNs are.
 */
export const parentTypes = (
  token: string,
  name: string,
  parent: pulumi.Resource | undefined,
): string | pulumi.Output<string> => {
  if (!parent) return "";
  return pulumi.output(findUrn(token, name, parent)).apply(parentsIn);
};

/** Every asset counts as a file for Pulumi's own question. */
const isFile = (value: unknown): value is pulumi.asset.FileAsset =>
  pulumi.asset.Asset.isInstance(value);

/** @throws pulumi.RunError naming the property and the file, if it cannot be read */
const readContent = async (asset: pulumi.asset.FileAsset, property: string): Promise<string> => {
  const file = "path" in asset ? await asset.path : undefined;
  const content = await assetContent(file, property);
  if ("base64" in content) return content.base64;
  throw new pulumi.RunError(content.fault);
};

/**
 * Returns a resource's arguments with each file for a base64 field replaced by its base64 content.
 */
export const withFileContent = (
  { kind, fields }: Definition,
  name: string,
  args: pulumi.Inputs,
): pulumi.Inputs => {
  const files = Object.entries(fields).flatMap(([key, field]) => {
    const value: unknown = args[key];
    const property = `${kind} ${JSON.stringify(name)}: ${key}`;
    return takesFile(field) && isFile(value) ? [[key, readContent(value, property)] as const] : [];
  });
  return files.length === 0 ? args : { ...args, ...Object.fromEntries(files) };
};

/** A value with what it marks as secret in the engine's own form, and with nothing that needs no mark. */
const markTree = async (value: unknown): Promise<unknown> => {
  if (pulumi.Output.isInstance(value)) {
    // `output` also sees what an output of outputs holds. An unknown one knows whether it is secret.
    return (await pulumi.isSecret(pulumi.output(value))) ? secretSignature : undefined;
  }
  if (value instanceof Promise) return markTree(await value);
  if (pulumi.Resource.isInstance(value)) return undefined;
  if (Array.isArray(value)) return Promise.all(value.map(markTree));
  if (!isObject(value)) return undefined;
  const members = Object.entries(value).map(
    async ([name, member]): Promise<[string, unknown]> => [name, await markTree(member)],
  );
  return objectOf(await Promise.all(members));
};

/** Whether a value, or one inside it, is known only later: only such a one can be secret. */
const isKnownLater = (value: unknown): boolean => {
  if (typeof value !== "object" || value === null) return false;
  if (pulumi.Output.isInstance(value) || value instanceof Promise) return true;
  return !pulumi.Resource.isInstance(value) && Object.values(value).some(isKnownLater);
};

/** The paths in values once they are known; a failure to know them recurs when they are sent, and is reported there. */
const findMarked = async (
  fields: Fields,
  values: JsonObject,
): Promise<readonly string[] | undefined> => {
  try {
    const tree = await markTree(values);
    return markedSecrets(fields, isObject(tree) ? tree : {});
  } catch {
    return undefined;
  }
};

/**
 * The paths of values that are unknown although this is no preview, because `up --target` skipped
 * what they come from, perhaps in another stack: the engine would leave them out. Undefined if there
 * are none.
 */
const findUnknown = async (values: unknown): Promise<readonly string[] | undefined> => {
  const paths = await findUnknownBelow(values, "").catch(() => []);
  return paths.length > 0 ? paths : undefined;
};

const findUnknownBelow = async (value: unknown, path: string): Promise<readonly string[]> => {
  if (pulumi.Output.isInstance(value)) {
    const isKnown: unknown = await Reflect.get(pulumi.output(value), "isKnown");
    return isKnown === false ? [path] : [];
  }
  if (value instanceof Promise) return findUnknownBelow(await value, path);
  if (typeof value !== "object" || value === null || pulumi.Resource.isInstance(value)) return [];
  const below = Object.entries(value).map(([name, member]) =>
    findUnknownBelow(member, Array.isArray(value) ? `${path}[${name}]` : memberPath(path, name)),
  );
  return (await Promise.all(below)).flat();
};

const kind = "Ownership";

/**
 * A resource that identifies the owner of a stack's objects. The first resource in a program
 * registers it automatically, once per stack. It does not represent an object in the service, and
 * makes no calls. Its random ID is saved in the state before Pulumi creates anything else, so that
 * every object's mark can contain the ID. Not for direct use. Never fails.
 */
export class Ownership extends pulumi.CustomResource {
  /** Type token, as stored in state files. */
  static readonly __pulumiType: string = typeToken(kind);

  /**
   * Whether a value is an Ownership, including one from another copy of this package. Never fails.
   */
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

/** One for each run, as several may be in one process; the same for all copies of the package. */
const ownerships = sharedRegistry("ownerships");

/** What stands for each run that has no stack resource, by the engine's address. */
const remoteRuns = new Map<unknown, object>();

/**
 * What stands for the running program. Components that a program in another process or language
 * constructs have no stack resource, and each has a connection of its own to the same engine.
 */
const currentRun = (): object => {
  const stack = pulumi.runtime.getStackResource();
  if (stack) return stack;
  const monitor: object = pulumi.runtime.getMonitor() ?? pulumi;
  if (!("getChannel" in monitor && typeof monitor.getChannel === "function")) return monitor;
  const address: unknown = monitor.getChannel().getTarget();
  const run = remoteRuns.get(address) ?? monitor;
  remoteRuns.set(address, run);
  return run;
};

/** Returns the ownership of the running program's stack. */
const stackOwnership = (): Ownership => {
  const run = currentRun();
  const known = ownerships.get(run);
  if (Ownership.isInstance(known)) return known;
  const made = new Ownership("ownership");
  ownerships.set(run, made);
  return made;
};

/** Options for looking up an existing object. */
export interface Lookup {
  /** Name of the settings profile, for programs that use several accounts. Default: no profile. */
  readonly profile?: string | undefined;
}

/** Marks the arguments of a look-up, which registers nothing with the stack's ownership. */
const looksUp = Symbol("looks up");

/** `<project>/<stack>/<random>/<logical name>`, the name preceded by the types of its parents. */
const stackOwner = (
  name: string,
  parents: ReturnType<typeof parentTypes>,
): pulumi.Output<string> => {
  const { id } = stackOwnership();
  // Most have no parent that counts: every output costs promises and a look at the stack trace.
  if (typeof parents === "string") return id.apply((of) => ownerOf(of, parents, name));
  return pulumi.all([id, parents]).apply(([of, types]) => ownerOf(of, types, name));
};

/**
 * The name if a program gives none; unknown, like the owner, in the stack's first preview. It is
 * sent a second time, for the provider to know that it is an automatic one: a resource that already
 * has a name keeps that.
 */
const automaticName = (
  key: string,
  kind: string,
  name: string,
  owner: pulumi.Output<string>,
): pulumi.Inputs => {
  const automatic = owner.apply((known) => autoName({ kind, owner: known, name }));
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
    `${kind} ${JSON.stringify(name)}: the import option is ${JSON.stringify(imported)}, but the adopt argument is ${said}. Both specify the object to adopt, so set only one of them`,
  );
};

const collectProps = (
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
  assertNoId(kind, name, args);
  assertDeletion(kind, name, opts?.deletedWith);
  checkReferences(definition, name, args);
  const adopted = adoption(kind, name, args.adopt, opts?.import);
  const parents = parentTypes(typeToken(kind), name, opts?.parent);
  const owner = stackOwner(name, parents);
  const { key, isAutomatic } = namingOf(definition);
  const values = objectOf(Object.keys(fields).map((key) => [key, args[key]]));
  const isNamed = !isAutomatic || (args[key] !== undefined && args[key] !== null);
  const isLater = isKnownLater(values);
  return {
    ...empty,
    ...objectOf(Object.entries(args).map(([key, value]) => [key, withIds(value)])),
    ...adopted,
    ...(isNamed ? {} : automaticName(key, kind, name, owner)),
    // Every property costs an output with four stack traces.
    ...(isLater ? { markedSecrets: findMarked(fields, values) } : {}),
    ...(isLater && !pulumi.runtime.isDryRun() ? { unknownPaths: findUnknown(values) } : {}),
    owner,
    // The owner is unknown in the stack's first preview.
    logicalName: typeof parents === "string" ? parents + name : parents.apply((of) => of + name),
    ...pointer,
  };
};

/**
 * The options for Pulumi: `adopt` stands for `import`, and `*` for what a program declares. The owner
 * must follow the resource to another name or parent.
 */
const engineOptions = (
  { fields }: Definition,
  { import: _, ignoreChanges, ...rest }: pulumi.CustomResourceOptions,
): pulumi.CustomResourceOptions => {
  const declared = [...Object.keys(fields), "profile", "markedSecrets"];
  const ignored = ignoreChanges?.flatMap((path) => (path === "*" ? declared : [path]));
  return ignored ? { ...rest, ignoreChanges: ignored } : rest;
};

/**
 * Frames of a stack trace from the SDK's registration up to the program's line. The SDK takes some
 * 50 of them for each resource, and each frame costs a program of 200 resources 50 ms (3.276).
 */
const framesToProgram = 6;

/** Resources of the six kinds, from any copy of this package. */
const declared = sharedRegistry("declared");

/** The given ID of an object, when the object has been read. */
const idAfter = (read: pulumi.Output<pulumi.URN>, id: pulumi.Input<pulumi.ID> = "") =>
  pulumi.all([read, id]).apply(([, given]) => given);

/**
 * The base class for the resources of all six kinds. Not for direct use.
 *
 * @throws pulumi.RunError if a reference is of the wrong kind, or `import` contradicts `adopt`
 */
export class ConversationResource extends pulumi.CustomResource {
  /** Whether a value is a resource of the six kinds, from any copy of this package. Never fails. */
  static override isInstance(value: unknown): value is ConversationResource {
    return pulumi.CustomResource.isInstance(value) && declared.has(value);
  }

  protected constructor(
    definition: Definition,
    name: string,
    args: object,
    opts?: pulumi.CustomResourceOptions,
  ) {
    assertArguments(definition.kind, name, args);
    const given = withFileContent(definition, name, { ...args });
    const props = collectProps(definition, name, given, opts);
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = Math.min(stackTraceLimit, framesToProgram);
    try {
      super(typeToken(definition.kind), name, props, engineOptions(definition, opts ?? {}));
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
    }
    // In a preview, an engine that is older than the SDK does not say which ID was read.
    if (looksUp in args) Object.assign(this, { id: idAfter(this.urn, opts?.id) });
    declared.set(this, true);
    rememberId(this);
  }
}

/** Implements each kind's `get` method: reads an existing object. */
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

/** The ID from Pulumi's mocks, as they answer for the service; undefined in a run of the engine. */
const findMocked = ({ kind }: Definition, where: FoundBy): Promise<string> | undefined =>
  "mocks" in (pulumi.runtime.getMonitor() ?? {})
    ? pulumi.runtime.invoke(pluginToken(`find${kind}`), where).then(({ id }) => id)
    : undefined;

/** Implements each kind's `find` method: finds an object by its properties, and reads it. */
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
  const find = () =>
    import("./find-object.js").then(({ findObject }) =>
      findObject(definition, where, lookup.profile),
    );
  const id = findMocked(definition, where) ?? find();
  return lookUp(type, texts.join(" "), id, lookup, opts);
};
