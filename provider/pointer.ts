/** Type token of a kind in the engine. Part of every state file: never changed. */
export const typeToken = (kind: string): string => `pulumi-nodejs:dynamic/conversation:${kind}`;

/** Type token of a kind that the plugin serves. Part of every state file, too. */
export const pluginToken = (kind: string): string => `conversation:index:${kind}`;

/**
 * The kind of a type token, and how its resource was created: as a dynamic resource, or through the
 * plugin. Undefined for other packages. A component of this package looks like one of the plugin's
 * resources.
 */
export const tokenParts = (type: string) => {
  const doors = { dynamic: typeToken(""), plugin: pluginToken("") } as const;
  for (const door of ["dynamic", "plugin"] as const)
    if (type.startsWith(doors[door])) return { door, kind: type.slice(doors[door].length) };
  return undefined;
};

/** The kind that either type token names; undefined for other packages. */
export const kindOfToken = (type: string): string | undefined => tokenParts(type)?.kind;

/** Type token of the plugin's providers. */
export const providerToken = "pulumi:providers:conversation";

/**
 * Whether Pulumi itself creates a provider with this name if a program names none: `default` or
 * `default_0_1_0`, possibly followed by a download address. A provider that a program calls
 * `default_us` is the program's own.
 */
export const isDefaultProvider = (name: string): boolean => /^default(_\d+_\d+_\d+|$)/.test(name);

/**
 * The provider that the state stores for a resource: not code but a pointer to the installed
 * package, the same on every machine. `configure` only stores the configuration, synchronously,
 * because the engine's calls do not wait for it. If the package is installed only as a transitive
 * dependency (pnpm), the pointer resolves it from the Pulumi SDK's location.
 *
 * It is short and has no characters that JSON escapes, because the engine stores it twice for each
 * resource and writes the whole state at every step. It is part of every state file: pointers from
 * earlier releases must continue to work, and this pointer must work with their `lifecycleOf` from
 * `provider/v1`.
 */
export const pointerTo = (kind: string): string =>
  `exports.handler=()=>{let c,f=require('module').createRequire,s='pulumi-conversation/provider/v1',r=f(process.cwd()+'/');` +
  `try{r.resolve(s)}catch{r=f(process.argv[1])}` +
  `return{...r(s).lifecycleOf('${kind}',{get:k=>c?.get(k)}),configure:async r=>{c=r.config}}}`;
