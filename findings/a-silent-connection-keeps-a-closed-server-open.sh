#!/usr/bin/env bash
# Guess: `server.close()` of node:http ends at once when no call is in progress, as it closes idle connections (since
# Node.js 19); what sends nothing is idle, and the time for headers ends it at the latest.
# Seen on 2026-11-30 (Node.js 20.20.2, 22.19.0 and 24.21.0): a connection that has not sent a byte yet, as a load
# balancer or a browser opens in advance, does not count as idle, and `close` stops the check of these times: the
# server stays open until the client goes. Only `closeAllConnections` ends it.
. "$(dirname "$0")/common.bash"
cat >server.js <<'JS'
const { createServer } = require("node:http");
const { connect } = require("node:net");
const { setTimeout: pause } = require("node:timers/promises");
const times = { headersTimeout: 300, requestTimeout: 300, connectionsCheckingInterval: 50, keepAliveTimeout: 60_000 };

const seen = async (prepare) => {
  const server = createServer(times, (_, response) => response.end());
  await new Promise((resolve) => server.listen(0, "localhost", resolve));
  const socket = connect(server.address().port, "localhost").on("error", () => {});
  await new Promise((resolve) => socket.once("connect", resolve));
  await prepare(socket);
  const closed = new Promise((resolve) => server.close(() => resolve("closed")));
  const result = await Promise.race([closed, pause(2_000, "open")]);
  if (result === "open") server.closeAllConnections();
  await closed;
  return result;
};
(async () => {
  const answered = async (socket) => {
    socket.write("GET / HTTP/1.1\r\nhost: localhost\r\n\r\n");
    await new Promise((resolve) => socket.once("data", resolve));
    await pause(100);
  };
  console.log("after an answer:", await seen(answered));
  console.log("silent:", await seen(() => pause(100)));
  console.log("silent for longer than the time for headers, before it is closed:", await seen(() => pause(1_000)));
})();
JS

for version in 20.20.2 22.19.0 24.21.0; do
  use_node $version
  node server.js >seen.txt
  expect "after an answer" "$(sed -n 's/^after an answer: //p' seen.txt)" closed
  expect "silent" "$(sed -n 's/^silent: //p' seen.txt)" open
  expect "silent for long, then closed" "$(sed -n 's/^silent for.*: //p' seen.txt)" closed
done
