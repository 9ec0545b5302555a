import type { Dispatcher, EnvHttpProxyAgent } from "undici";
import { ConversationError } from "../../kernel/errors.js";

/** Where HTTP_PROXY, HTTPS_PROXY and NO_PROXY are looked up. */
export type ProxyEnvironment = Readonly<Record<string, string | undefined>>;

/** Proxy settings as other tools read them, the lower-case name first; undefined where there is none. */
export const proxyOf = (environment: ProxyEnvironment) => {
  const variable = (name: string) => environment[name.toLowerCase()] || environment[name];
  const httpProxy = variable("HTTP_PROXY");
  const httpsProxy = variable("HTTPS_PROXY");
  if (!httpProxy && !httpsProxy) return undefined;
  // Empty texts on purpose: left out, the agent would look into the process's own environment.
  return {
    httpProxy: httpProxy ?? "",
    httpsProxy: httpsProxy ?? "",
    noProxy: variable("NO_PROXY") ?? "",
  };
};

/** The address may hold a password: it is not shown, and neither is what was said of it. */
const unusable = (): ConversationError =>
  new ConversationError(
    "SETTINGS_INVALID",
    "Could not use the proxy: HTTP_PROXY or HTTPS_PROXY is no address of a proxy, such as http://proxy.example.com:3128. Nothing was sent. Correct the variable, or remove it.",
    { permanent: true },
  );

/**
 * Connections through a proxy, as the options say or, where they say nothing, the process's environment.
 *
 * @throws ConversationError `SETTINGS_INVALID` for an address that cannot be used
 */
export const proxyAgent = async (options: EnvHttpProxyAgent.Options): Promise<Dispatcher> => {
  const { EnvHttpProxyAgent: ProxyAgent } = await import("undici");
  try {
    return new ProxyAgent(options);
  } catch {
    throw unusable();
  }
};
