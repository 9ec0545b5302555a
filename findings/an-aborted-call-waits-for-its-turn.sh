#!/usr/bin/env bash
# Guess: the signal of undici's `request` ends a call at any time, as the signal of its `fetch` does.
# Seen on 2026-11-29 (undici 8.12.4, Node.js 24): a call that waits for a connection, because others have all of them,
# ends by its signal only when its turn comes. A limit of 100 ms then lasts as long as the others' calls, and
# headersTimeout does not run either.
. "$(dirname "$0")/common.bash"
use_node 24.21.0
use_package undici 8.12.4
cat >program.mjs <<'JS'
import { Agent, fetch, request } from "undici";
import { serve } from "./server.js";

let finish;
const { server, url } = await serve((call, answer) => {
  if (call.url === "/first") finish = () => answer.end();
  else answer.end();
});
for (const [name, call] of Object.entries({ fetch, request })) {
  const dispatcher = new Agent({ connections: 1 });
  const first = request(`${url}/first`, { dispatcher }).then(({ body }) => body.dump());
  const events = [];
  const ended = (what) => () => void events.push(what);
  const options = { dispatcher, signal: AbortSignal.timeout(100), headersTimeout: 100 };
  const second = call(`${url}/second`, options).then(ended("answered"), ended("aborted"));
  await new Promise((over) => setTimeout(over, 1500));
  events.push("first ends");
  finish();
  await Promise.all([first, second]);
  console.log(name, events.join(", "));
  await dispatcher.close();
}
server.close();
JS

node program.mjs >seen.txt
expect "fetch" "$(grep fetch seen.txt)" "fetch aborted, first ends"
expect "request" "$(grep request seen.txt)" "request first ends, aborted"
