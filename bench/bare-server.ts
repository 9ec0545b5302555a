import { serveParent } from "./child-server.js";

/** What every call is answered with: an object, and a token, in one. */
const answer = JSON.stringify({
  id: "5f2c1d9e-bench",
  name: "bench",
  access_token: "bench",
  expires_in: 3600,
});

// The other side of the measurement: a process of its own that does as little as it can.
if (require.main === module) {
  serveParent((request, response) => {
    request.resume();
    response.writeHead(200, { "content-type": "application/json" }).end(answer);
  });
}
