import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { TrueBucket } from "./true-bucket.js";

// A process of its own: each address `/rate/burst/…` is an endpoint with a bucket that is full at first.
if (require.main === module) {
  const buckets = new Map<string, TrueBucket>();
  const bucketOf = (path: string): TrueBucket => {
    const [, rate, burst] = path.split("/").map(Number);
    const bucket = buckets.get(path) ?? new TrueBucket(rate ?? 0, burst ?? 0);
    buckets.set(path, bucket);
    return bucket;
  };
  const server = createServer((request, response) => {
    request.resume();
    const accepted = bucketOf(request.url ?? "").take(performance.now());
    response.writeHead(accepted ? 200 : 429, { "content-type": "application/json" }).end("{}");
  });
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.send?.(port);
  });
  process.on("disconnect", () => process.exit(0));
}
