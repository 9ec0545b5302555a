import type { Agent, Dispatcher, Pool } from "undici";
import { isLoopback } from "../settings/setting-rules.js";

/** Limits of a connection; the time for a whole call is bounded elsewhere. */
const limits = {
  connections: 8,
  pipelining: 1,
  allowH2: false,
  connect: { timeout: 10_000 },
  headersTimeout: 60_000,
  bodyTimeout: 30_000,
  // A longer answer is refused: no collection or message of the service is near this size.
  maxResponseSize: 8 * 1024 * 1024,
} as const satisfies Pool.Options & Agent.Options;

/** Connections by origin. */
export interface Dispatchers {
  of(url: URL): Promise<Dispatcher>;
  close(): Promise<void>;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Proxy settings as other tools read them: the lower-case name first. */
const proxyOf = (environment: Environment) => {
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

/**
 * One pool of connections per origin, or one agent for all where a proxy is set. This machine is
 * never reached through a proxy. Idle connections do not keep the process alive.
 */
export const dispatchers = (environment: Environment): Dispatchers => {
  const open = new Map<string, Promise<Dispatcher>>();
  const proxy = proxyOf(environment);

  const opened = async (url: URL): Promise<Dispatcher> => {
    const { EnvHttpProxyAgent, Pool: ConnectionPool } = await import("undici");
    if (proxy && !isLoopback(url.hostname)) return new EnvHttpProxyAgent({ ...limits, ...proxy });
    return new ConnectionPool(url.origin, limits);
  };

  return {
    of: (url) => {
      const known = open.get(url.origin) ?? opened(url);
      open.set(url.origin, known);
      return known;
    },
    close: async () => {
      const closing = [...open.values()];
      open.clear();
      for (const dispatcher of await Promise.all(closing)) await dispatcher.destroy();
    },
  };
};
