/** The parts of an owner: `<project>/<stack>/<random>/<logical name>`. */
interface OwnerParts {
  readonly project: string;
  readonly stack: string;
  /** `<project>/<stack>/<random>`: the ID of the stack's `Ownership`, or made by the plugin. */
  readonly ownership: string;
  /** The resource's logical name, after the types of its parents. */
  readonly name: string;
}

/** Returns the parts of an owner. */
export const ownerParts = (owner: string): OwnerParts => {
  const [project = "", stack = "", random = "", ...name] = owner.split("/");
  return { project, stack, ownership: `${project}/${stack}/${random}`, name: name.join("/") };
};

/**
 * Returns the owner of a resource.
 *
 * @param parents types of its parents, as {@link parentsIn} returns them
 */
export const ownerOf = (ownership: string, parents: string, name: string): string =>
  `${ownership}/${parents}${name}`;

/** Returns the URN of the resource of this type that has an owner. */
export const urnOf = (owner: string, type: string): string => {
  const { project, stack, name } = ownerParts(owner);
  const [parents = ""] = /^(?:[^$:]+:[^$:]*:[^$:]+\$)*/.exec(name) ?? [];
  return `urn:pulumi:${stack}::${project}::${parents}${type}::${name.slice(parents.length)}`;
};

/**
 * Returns a logical name in readable form, such as `"shop" (inside ConversationAccount)`.
 *
 * @param name the name of an owner, after the types of its parents
 */
export const readableName = (name: string): string => {
  const [, parent, own] =
    /^(?:[^$:]+:[^$:]*:[^$:]+\$)*[^$:]+:[^$:]*:([^$:]+)\$(.*)$/s.exec(name) ?? [];
  return parent === undefined ? JSON.stringify(name) : `${JSON.stringify(own)} (inside ${parent})`;
};

/** The parts of a URN: `urn:pulumi:<stack>::<project>::<types>::<logical name>`. */
interface UrnParts {
  readonly project: string;
  readonly stack: string;
  /** Types of the parents, outermost first, then the resource's own, separated by `$`. */
  readonly types: string;
  readonly type: string;
  readonly name: string;
}

/** Returns the parts of a URN. A logical name may contain `::`. */
export const urnParts = (urn: string): UrnParts => {
  const start = "urn:pulumi:";
  const parts = urn.startsWith(start) ? urn.slice(start.length).split("::") : [];
  const [stack = "", project = "", types = "", ...name] = parts;
  return { project, stack, types, type: types.split("$").at(-1) ?? "", name: name.join("::") };
};

/**
 * Returns the types of a resource's parents, from its URN, outermost first, each followed by `$`;
 * empty if the resource is directly in the stack.
 */
export const parentsIn = (urn: string): string => {
  const { types, type } = urnParts(urn);
  return types.slice(0, types.length - type.length).replace("pulumi:pulumi:Stack$", "");
};

/**
 * Returns every ownership in a stack: the `Ownership` of its dynamic resources, and the ownership
 * of each of the plugin's providers.
 */
export const ownershipsOf = ({
  ownership,
  pluginOwnerships = [],
}: {
  readonly ownership?: string;
  readonly pluginOwnerships?: readonly string[];
}): readonly string[] => [...new Set([...(ownership ? [ownership] : []), ...pluginOwnerships])];
