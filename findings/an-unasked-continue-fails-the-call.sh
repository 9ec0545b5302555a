#!/usr/bin/env bash
# Guess: an HTTP client skips `100 Continue` that it has not asked for, as RFC 9110 wants it to, and as it skips 103.
# Seen on 2026-11-29 (undici 8.12.4, and the fetch of Node.js 24): 103 is skipped; with 100 the call fails as a broken
# connection, after the server has acted. Node's own node:http skips both.
. "$(dirname "$0")/common.bash"
use_package undici 8.12.4
cat >program.mjs <<'JS'
import http from "node:http";
import { createServer } from "node:net";
import { request } from "undici";

let first;
const server = createServer((socket) =>
  socket.once("data", () =>
    socket.end(`HTTP/1.1 ${first}\r\n\r\nHTTP/1.1 200 OK\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`),
  ),
);
await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
const url = `http://127.0.0.1:${server.address().port}`;
const calls = {
  undici: async () => (await request(url, { method: "POST", body: "a" })).statusCode,
  fetch: async () => (await fetch(url, { method: "POST", body: "a" })).status,
  http: () =>
    new Promise((resolve, reject) =>
      http.request(url, { method: "POST" }, (answer) => resolve(answer.resume().statusCode)).on("error", reject).end("a"),
    ),
};
for (first of ["103 Early Hints", "100 Continue"])
  for (const [name, call] of Object.entries(calls))
    console.log(first.slice(0, 3), name, await call().catch(({ code, cause }) => code ?? cause.code));
process.exit();
JS

node program.mjs >seen.txt
for client in undici fetch http; do expect "103, $client" "$(grep "103 $client" seen.txt)" "103 $client 200"; done
expect "100, undici" "$(grep "100 undici" seen.txt)" "100 undici UND_ERR_SOCKET"
expect "100, fetch" "$(grep "100 fetch" seen.txt)" "100 fetch UND_ERR_SOCKET"
expect "100, http" "$(grep "100 http" seen.txt)" "100 http 200"
