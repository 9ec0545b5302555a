#!/usr/bin/env bash
# Guess: an answer without a length, which lasts until the connection is closed, is incomplete if the connection is
# reset instead (RFC 9112 §8), as when the server's process dies: the client gets an error.
# Seen on 2026-11-30 (Node.js 22.19.0 and 24.21.0, undici 7.16.0 and 8.12.4): undici, and so Node's `fetch`, takes what
# has arrived for all of it. `http.get` of Node.js fails with ECONNRESET, and so does undici where there is a length.
. "$(dirname "$0")/common.bash"
cat >call.js <<'JS'
const { get } = require("node:http");
const { request } = require("undici");
const { serveSockets } = require("./server.js");
const [, , way, header = ""] = process.argv;
const served = serveSockets((socket) => {
  socket.on("error", () => {});
  socket.once("data", () => {
    socket.write(`HTTP/1.1 200 OK\r\n${header && `${header}\r\n`}\r\nhalf`);
    setTimeout(() => socket.resetAndDestroy(), 100);
  });
});
const ways = {
  fetch: async (url) => (await fetch(url)).text(),
  undici: async (url) => (await request(url)).body.text(),
  http: (url) =>
    new Promise((resolve, reject) => {
      get(url, (answer) => {
        let text = "";
        answer.on("data", (part) => (text += part));
        answer.on("end", () => resolve(text)).on("error", reject);
      }).on("error", reject);
    }),
};
served.then(async ({ url }) => {
  console.log(await ways[way](url).catch((error) => (error.cause ?? error).code));
  process.exit();
});
JS

for seen in "22.19.0 7.16.0" "24.21.0 8.12.4"; do
  read -r node undici <<<"$seen"
  use_node "$node"
  use_package undici "$undici"
  for way in fetch undici; do
    expect "$way, without a length" "$(node call.js $way)" half
    expect "$way, with one" "$(node call.js $way "content-length: 8")" ECONNRESET
  done
  expect "http.get, without a length" "$(node call.js http)" ECONNRESET
done
