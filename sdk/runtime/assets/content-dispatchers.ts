import type { Dispatcher } from "undici";
import { isLoopback } from "../../../provider/service/settings/setting-rules.js";
import { publicLookup } from "./signed-address.js";

/** The lookup of the system, or of a test. */
export type Lookup = Parameters<typeof publicLookup>[0];

/** Connections to signed addresses, eight at most to each host. */
export interface ContentDispatchers {
  of(url: URL): Promise<Dispatcher>;
  close(): Promise<void>;
}

/** One dispatcher for this machine, one for everywhere else; the latter goes through a proxy where one is set. */
export const contentDispatchers = (lookup: Lookup): ContentDispatchers => {
  const open = new Map<string, Promise<Dispatcher>>();
  const made = async (local: boolean): Promise<Dispatcher> => {
    const { Agent, EnvHttpProxyAgent } = await import("undici");
    const limits = { connections: 8, pipelining: 1, allowH2: false } as const;
    const connect = { timeout: 10_000 };
    return local
      ? new Agent({ ...limits, connect })
      : new EnvHttpProxyAgent({ ...limits, connect: { ...connect, lookup: publicLookup(lookup) } });
  };
  return {
    of: (url) => {
      const local = isLoopback(url.hostname);
      const known = open.get(`${local}`) ?? made(local);
      open.set(`${local}`, known);
      return known;
    },
    close: async () => {
      const closing = [...open.values()];
      open.clear();
      for (const dispatcher of await Promise.all(closing)) await dispatcher.destroy();
    },
  };
};
