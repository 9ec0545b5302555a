#!/usr/bin/env bash
# Guess: an interim answer before the answer does no harm, asked for or not: a client must be able to read them
# (RFC 9110 §15.2), and may discard a 100 that it did not ask for (§15.2.1).
# Seen on 2026-11-29 (undici 7.16.0 and 8.12.4, Node.js 22.19.0 and 24.21.0): undici, and so Node's `fetch`, reads
# past 102 and 103, but ends the connection at a 100, though the server has done what it was asked. `http.request` of
# Node.js gets the answer.
. "$(dirname "$0")/common.bash"
cat >call.js <<'JS'
const { request } = require("node:http");
const { serveSockets } = require("./server.js");
const [, , way, interim] = process.argv;
const answer = "HTTP/1.1 201 Created\r\ncontent-length: 0\r\n\r\n";
const served = serveSockets((socket) => {
  socket.on("error", () => {});
  socket.once("data", () => socket.write(`HTTP/1.1 ${interim} Interim\r\n\r\n${answer}`));
});
const ways = {
  fetch: async (url) => (await fetch(url, { method: "POST", body: "x" })).status,
  undici: async (url) => (await require("undici").request(url, { method: "POST", body: "x" })).statusCode,
  http: (url) =>
    new Promise((resolve, reject) => {
      const sent = request(url, { method: "POST" }, ({ statusCode }) => resolve(statusCode));
      sent.on("error", reject).end("x");
    }),
};
served.then(async ({ url }) => {
  console.log(await ways[way](url).catch((error) => (error.cause ?? error).message));
  process.exit();
});
JS

for seen in "22.19.0 7.16.0" "24.21.0 8.12.4"; do
  read -r node undici <<<"$seen"
  use_node "$node"
  use_package undici "$undici"
  for interim in 102 103; do
    for way in undici fetch http; do expect "$way after a $interim" "$(node call.js $way $interim)" 201; done
  done
  for way in undici fetch; do expect "$way after a 100" "$(node call.js $way 100)" "bad response"; done
  expect "http after a 100" "$(node call.js http 100)" 201
done
