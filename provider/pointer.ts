/** Type token of a kind in the engine. Part of every state file: never changed. */
export const typeToken = (kind: string): string => `pulumi-nodejs:dynamic/conversation:${kind}`;

/**
 * What the state keeps as a resource's provider: not code but a pointer to the installed package,
 * the same on every machine and in every release. `configure` only remembers the configuration, at
 * once, because the engine's calls do not wait for it. Where the package is installed only as a
 * dependency of a dependency (pnpm), it is found from the Pulumi SDK's place instead.
 *
 * Part of every state file: never changed without a new entry point beside `provider/v1`.
 */
export const pointerTo = (kind: string): string =>
  `exports.handler=()=>{let c;const s="pulumi-conversation/provider/v1",h={configure:async r=>{c=r.config}};` +
  `for(const m of"check diff create read update delete".split(" "))h[m]=async(...a)=>(await import(s).catch(e=>` +
  `{if(e.code!="ERR_MODULE_NOT_FOUND")throw e;return require("module").createRequire(process.argv[1])(s)}))` +
  `.lifecycleOf("${kind}",c)[m](...a);return h}`;
