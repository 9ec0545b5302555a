import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";

/** In the process of a server: serves until the process that started it goes or lets it go. */
export const serveParent = (answer: RequestListener): void => {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.send?.(port);
  });
  process.on("disconnect", () => process.exit(0));
};

/** A server in a process of its own. */
export interface ChildServer {
  readonly origin: string;
  stop(): void;
}

/** @param script file of this folder that calls {@link serveParent} */
export const startChildServer = async (script: string): Promise<ChildServer> => {
  const child = fork(join(__dirname, script));
  const [port]: unknown[] = await once(child, "message");
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.disconnect() };
};
