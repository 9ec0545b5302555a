import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Whether a server can listen at a port of this machine now: a connection that has just ended keeps its own for a minute. */
export const isFreePort = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer().once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });

/**
 * A port to listen at, and to listen at again later: below those that systems give to connections, so
 * that none takes it meanwhile.
 */
export const lowPort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(10_000, 32_000);
    if (await isFreePort(port)) return port;
  }
};
