/** Type token of a kind in the engine. Part of every state file: never changed. */
export const typeToken = (kind: string): string => `pulumi-nodejs:dynamic/conversation:${kind}`;

/**
 * What the state keeps as a resource's provider: not code but a pointer to the installed package,
 * the same on every machine. `configure` only remembers the configuration, at once, because the
 * engine's calls do not wait for it. Where the package is installed only as a dependency of a
 * dependency (pnpm), it is found from the Pulumi SDK's place instead.
 *
 * Short, and without characters that JSON writes longer: the engine keeps it twice for each resource,
 * and writes the whole state with every step. Part of every state file: those of earlier releases
 * must go on working, and this one with their `lifecycleOf` of `provider/v1`.
 */
export const pointerTo = (kind: string): string =>
  `exports.handler=()=>{let c,f=require('module').createRequire,s='pulumi-conversation/provider/v1',r=f(process.cwd()+'/');` +
  `try{r.resolve(s)}catch{r=f(process.argv[1])}` +
  `return{...r(s).lifecycleOf('${kind}',{get:k=>c?.get(k)}),configure:async r=>{c=r.config}}}`;
