#!/usr/bin/env bash
# Guess: a server that counts its open responses by their event `close` sees each of them end with its connection.
# Seen on 2026-11-29 (Node.js 20.20.2, 22.19.0 and 24.21.0): of calls that a connection sends without waiting for the
# answers, only the first one's response says so before Node.js 24: a server that waits for the others to end never
# stops.
. "$(dirname "$0")/common.bash"
cat >server.js <<'JS'
const { createServer } = require("node:http");
const { connect } = require("node:net");
let [begun, closed] = [0, 0];
const server = createServer((request, response) => {
  begun += 1;
  response.on("close", () => (closed += 1));
  if (begun === 3) request.socket.destroy();
});
server.listen(0, "127.0.0.1", () => {
  const socket = connect(server.address().port, "127.0.0.1");
  socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n".repeat(3));
  socket.on("error", () => {}).on("close", () => {
    server.close(() => console.log(`${begun} begun, ${closed} closed`));
  });
});
JS

for seen in "20.20.2 1" "22.19.0 1" "24.21.0 3"; do
  read -r version closed <<<"$seen"
  use_node "$version"
  expect "responses" "$(node server.js)" "3 begun, $closed closed"
done
