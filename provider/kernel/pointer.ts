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
