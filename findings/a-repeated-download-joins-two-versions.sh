#!/usr/bin/env bash
# Guess: when a download breaks off, undici's RetryAgent asks for the rest only if it can tell that it is the rest of
# the same content, and starts again, or fails, otherwise.
# Seen on 2026-11-29 (undici 8.12.4): it sends If-Match if there was an ETag. Without one, it takes the rest of whatever
# is there now: the caller gets 200 and half of the old content with half of the new.
. "$(dirname "$0")/common.bash"
use_node 24.21.0
use_package undici 8.12.4
cat >program.mjs <<'JS'
import { Agent, request, RetryAgent } from "undici";
import { serve } from "./server.js";

let content = "old-old-old-";
const { server, url } = await serve((call, answer) => {
  const start = Number(/^bytes=(\d+)-/.exec(call.headers.range ?? "")?.[1] ?? 0);
  if (call.headers.range === undefined) {
    answer.writeHead(200, { "content-length": content.length });
    answer.write(content.slice(0, 6), () => setTimeout(() => answer.destroy(), 100));
    content = "new-new-new-";
  } else {
    const range = `bytes ${start}-${content.length - 1}/${content.length}`;
    answer.writeHead(206, { "content-range": range }).end(content.slice(start));
  }
});
const dispatcher = new RetryAgent(new Agent(), { minTimeout: 1 });
const { statusCode, body } = await request(url, { dispatcher });
console.log(statusCode, await body.text());
await dispatcher.close();
server.close();
JS

expect "the answer" "$(node program.mjs)" "200 old-olw-new-"
