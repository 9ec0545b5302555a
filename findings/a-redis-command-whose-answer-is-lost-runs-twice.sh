#!/usr/bin/env bash
# Guess: a command of ioredis whose connection ends before the answer fails, because nobody knows whether it ran.
# Seen on 2026-11-29 (ioredis 5.11.1; also with a real Redis): it is sent again on the next connection, up to 20
# times, and the caller sees one answer: INCR counts twice, and SET NX finds its own key. Only without
# maxRetriesPerRequest does it fail.
. "$(dirname "$0")/common.bash"
use_package ioredis 5.11.1
cat >program.mjs <<'JS'
import { createServer } from "node:net";
import { Redis } from "ioredis";

/** Counts, and breaks the connection instead of the first answer. */
let count = 0;
const server = createServer((socket) =>
  socket.on("data", () => {
    count += 1;
    if (count === 1) socket.destroy();
    else socket.write(`:${count}\r\n`);
  }),
);
await new Promise((listens) => server.listen(0, "127.0.0.1", listens));
const { port } = server.address();
const incrWith = async (options) => {
  count = 0;
  const redis = new Redis({ port, host: "127.0.0.1", enableReadyCheck: false, disableClientInfo: true, ...options });
  redis.on("error", () => {});
  const seen = await redis.incr("key").catch(({ name }) => name);
  redis.disconnect();
  return `${seen}`;
};
console.log(await incrWith({}));
console.log(await incrWith({ maxRetriesPerRequest: 0 }));
server.close();
JS

node program.mjs >seen.txt
expect "INCR, with the defaults" "$(sed -n 1p seen.txt)" 2
expect "with maxRetriesPerRequest: 0" "$(sed -n 2p seen.txt)" MaxRetriesPerRequestError
