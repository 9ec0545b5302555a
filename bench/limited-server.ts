import { serveParent } from "./child-server.js";
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
  serveParent((request, response) => {
    request.resume();
    const accepted = bucketOf(request.url ?? "").take(performance.now());
    response.writeHead(accepted ? 200 : 429, { "content-type": "application/json" }).end("{}");
  });
}
