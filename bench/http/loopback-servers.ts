import { fork } from "node:child_process";
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { TrueBucket } from "../true-bucket.js";

/** What every call is answered with: an object, and a token, in one. */
const answer = JSON.stringify({
  id: "5f2c1d9e-bench",
  name: "bench",
  access_token: "bench",
  expires_in: 3600,
});

/** Does as little as it can. */
const instant: RequestListener = (request, response) => {
  request.resume();
  response.writeHead(200, { "content-type": "application/json" }).end(answer);
};

/** Each address `/rate/burst/…` is an endpoint with a bucket that is full at first. */
const limited = (): RequestListener => {
  const buckets = new Map<string, TrueBucket>();
  return (request, response) => {
    request.resume();
    const path = request.url ?? "";
    const [, rate = 0, burst = 0] = path.split("/").map(Number);
    const bucket = buckets.get(path) ?? new TrueBucket(rate, burst);
    buckets.set(path, bucket);
    const accepted = bucket.take(performance.now());
    response.writeHead(accepted ? 200 : 429, { "content-type": "application/json" }).end("{}");
  };
};

const listeners = { instant: () => instant, limited } as const;

type ServerName = keyof typeof listeners;

/** A server in a process of its own. */
export interface ChildServer {
  readonly origin: string;
  stop(): void;
}

/** Starts the other side of a measurement: `instant` answers at once, `limited` keeps to buckets. */
export const startChildServer = async (name: ServerName): Promise<ChildServer> => {
  const child = fork(__filename, [name]);
  const [port]: unknown[] = await once(child, "message");
  return { origin: `http://127.0.0.1:${port}`, stop: () => child.disconnect() };
};

const isServerName = (name: string | undefined): name is ServerName =>
  name !== undefined && Object.hasOwn(listeners, name);

/** In the process of a server: serves until the process that started it goes or lets it go. */
const serveParent = (name: string | undefined): void => {
  if (!isServerName(name)) throw new Error(`There is no server ${name}.`);
  const server = createServer(listeners[name]());
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.send?.(port);
  });
  process.on("disconnect", () => process.exit(0));
};

if (require.main === module) serveParent(process.argv[2]);
