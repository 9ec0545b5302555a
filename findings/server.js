// Servers for the scripts beside it, each on a free port of this machine.
const { once } = require("node:events");
const { createServer: createHttpServer } = require("node:http");
const { createServer } = require("node:net");
const { format } = require("node:url");

const listen = async (server) => {
  await once(server.listen(0, "localhost"), "listening");
  const { port } = server.address();
  return { server, url: format({ protocol: "http", hostname: "localhost", port }) };
};

/** Answers each request of HTTP. */
exports.serve = (answer) => listen(createHttpServer(answer));
/** Gets each connection as it is. */
exports.serveSockets = (connected) => listen(createServer(connected));
