import * as pulumi from "@pulumi/pulumi";
import { type Definition, outputFields } from "../provider/definition/define.js";
import { pointerTo, typeToken } from "../provider/pointer.js";
import { autoName } from "./auto-name.js";
import { stackOwnership } from "./ownership.js";

/** What every resource takes besides the fields of its kind. */
export interface CommonArgs {
  /**
   * Take over an existing object instead of making one: `true` for the one with the same unique
   * name, or its id. It is put into shape with a PUT. Refused where the object carries the owner
   * mark of another stack. Has no effect once the resource is in the state.
   */
  adopt?: boolean | string | undefined;
  /**
   * Further members of the service's JSON that this package does not know, merged in. They are
   * written, compared and repaired like every other property.
   */
  extra?: pulumi.Input<pulumi.Inputs> | undefined;
  /**
   * Name of the settings to use, for programs that speak to several accounts: `staging` reads
   * `CONVERSATION_STAGING_BASE_URL`, `conversation:staging.baseUrl` and so on. Cannot change.
   */
  profile?: string | undefined;
}

/** How an existing object is looked up. */
export type Lookup = Pick<CommonArgs, "profile">;

/** Marks the arguments of a look-up, which registers nothing with the stack's ownership. */
const looksUp = Symbol("looks up");

const hasAutoName = (definition: Definition): boolean => definition.fields.name?.required === true;

/**
 * The URN of a resource without a dependency on its parent: a component stands for all of its
 * children, so those that refer to each other would wait for one another for ever.
 */
const urnOf = (name: string, token: string, parent: pulumi.Resource | undefined) =>
  new Promise<string>((resolve) => {
    pulumi.createUrn(name, token, parent).apply(resolve);
  });

/** `<project>/<stack>/<random>/<logical name>`, the name preceded by the types of its parents. */
const ownerOf = (
  definition: Definition,
  name: string,
  opts: pulumi.CustomResourceOptions | undefined,
) => {
  const token = typeToken(definition.kind);
  const urn = urnOf(name, token, opts?.parent);
  return pulumi.all([stackOwnership().id, urn]).apply(([ownership, text]) => {
    const qualified = text.split("::")[2] ?? token;
    const parents = qualified.slice(0, -token.length).replace("pulumi:pulumi:Stack$", "");
    return `${ownership}/${parents}${name}`;
  });
};

/** `import` cannot work for a resource of this sort; `adopt` does what it is meant for. */
const adoption = (
  args: pulumi.Inputs,
  opts: pulumi.CustomResourceOptions | undefined,
): pulumi.Inputs => (opts?.import === undefined ? args : { ...args, adopt: opts.import });

const propsOf = (
  definition: Definition,
  name: string,
  args: pulumi.Inputs,
  opts: pulumi.CustomResourceOptions | undefined,
): pulumi.Inputs => {
  const names = [...Object.keys(definition.fields), ...Object.keys(outputFields)];
  // Outputs exist on the object only where the constructor names them.
  const empty = Object.fromEntries(names.map((key) => [key, undefined]));
  const pointer = { __provider: pointerTo(definition.kind) };
  if (looksUp in args) return { ...empty, profile: args.profile, ...pointer };
  const named = hasAutoName(definition)
    ? { name: args.name ?? autoName(pulumi.getProject(), pulumi.getStack(), definition.kind, name) }
    : {};
  return {
    ...empty,
    ...adoption(args, opts),
    ...named,
    owner: ownerOf(definition, name, opts),
    ...pointer,
  };
};

const declared = new WeakMap<ConversationResource, pulumi.Inputs>();

/** What the program says of a resource, as it says it; nothing of one that is only looked up. */
export const declaredArgs = (resource: ConversationResource): pulumi.Inputs =>
  declared.get(resource) ?? {};

/** What the resource classes have in common. Not for direct use. */
export class ConversationResource extends pulumi.CustomResource {
  protected constructor(
    definition: Definition,
    name: string,
    args: pulumi.Inputs,
    opts?: pulumi.CustomResourceOptions,
  ) {
    const { import: _, ...rest } = opts ?? {};
    super(typeToken(definition.kind), name, propsOf(definition, name, args, opts), rest);
    declared.set(this, args);
  }
}

/** Reads an existing object: the `get` of every class. */
export const lookUp = <A, R>(
  type: new (name: string, args: A, opts?: pulumi.CustomResourceOptions) => R,
  name: string,
  id: pulumi.Input<pulumi.ID>,
  { profile }: Lookup,
  opts?: pulumi.CustomResourceOptions,
): R => new type(name, { profile, [looksUp]: true } as A, { ...opts, id });
