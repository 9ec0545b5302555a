/**
 * Returns the type token of a kind's dynamic resources. The token must never change, because state
 * files contain it.
 */
export const typeToken = (kind: string): string => `pulumi-nodejs:dynamic/conversation:${kind}`;

/**
 * Returns the type token of a kind's resources in the plugin. The token must never change,
 * because state files contain it.
 */
export const pluginToken = (kind: string): string => `conversation:index:${kind}`;

/**
 * Returns the kind in a type token, and whether the resource is dynamic or belongs to the plugin;
 * undefined for other packages. A token of a component in this package looks like a plugin token.
 */
export const tokenParts = (type: string) => {
  const doors = { dynamic: typeToken(""), plugin: pluginToken("") } as const;
  for (const door of ["dynamic", "plugin"] as const)
    if (type.startsWith(doors[door])) return { door, kind: type.slice(doors[door].length) };
  return undefined;
};

/** Returns the kind for a type token of either form; undefined for other packages. */
export const kindOfToken = (type: string): string | undefined => tokenParts(type)?.kind;

/** Type token of the plugin's providers. */
export const providerToken = "pulumi:providers:conversation";

/**
 * Whether a name belongs to a provider that Pulumi creates itself if a program specifies none:
 * `default`, or `default_` and a version (`default_0_1_0`), possibly followed by a download
 * address. A provider with a name such as `default_us` can only come from the program.
 */
export const isDefaultProvider = (name: string): boolean => /^default(_\d+_\d+_\d+|$)/.test(name);
