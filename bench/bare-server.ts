import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** What every call is answered with: an object, and a token, in one. */
const answer = JSON.stringify({
  id: "5f2c1d9e-bench",
  name: "bench",
  access_token: "bench",
  expires_in: 3600,
});

// The other side of the measurement: a process of its own that does as little as it can.
if (require.main === module) {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
  server.listen(0, "127.0.0.1", () => {
    const { port } = server.address() as AddressInfo;
    process.send?.(port);
  });
  process.on("disconnect", () => process.exit(0));
}
