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

/**
 * Returns the provider that the state stores for a resource: not code, but a pointer to the
 * installed package that is the same on every machine. `configure` only stores the configuration,
 * synchronously, because the engine's calls do not wait for it. If the package is installed only as
 * a transitive dependency (pnpm), the pointer resolves it from the Pulumi SDK's location.
 *
 * The pointer is short and contains no characters that JSON must escape, because the engine stores
 * it twice for each resource and writes the whole state at every step. It is stored in state files,
 * so pointers from earlier releases must continue to work, and this pointer must work with their
 * `lifecycleOf` from `provider/v1`.
 */
export const pointerTo = (kind: string): string =>
  `exports.handler=()=>{let c,f=require('module').createRequire,s='pulumi-conversation/provider/v1',r=f(process.cwd()+'/');` +
  `try{r.resolve(s)}catch{r=f(process.argv[1])}` +
  `return{...r(s).lifecycleOf('${kind}',{get:k=>c?.get(k)}),configure:async r=>{c=r.config}}}`;
