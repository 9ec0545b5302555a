#!/usr/bin/env bash
# Guess: a Group of Bottleneck, with one job at a time for each key, keeps the limiter of a key while a job of it runs.
# Seen on 2026-11-29 (bottleneck 2.19.5): the time to live counts from the start of its last job. When that takes longer,
# by default five minutes, the key gets a new limiter, and its next job runs beside the first.
. "$(dirname "$0")/common.bash"
use_package bottleneck 2.19.5
cat >program.mjs <<'JS'
import Bottleneck from "bottleneck";

const events = [];
const group = new Bottleneck.Group({ maxConcurrent: 1, timeout: 100 });
const first = group.key("conversation").schedule(async () => {
  await new Promise((over) => setTimeout(over, 500));
  events.push("first ends");
});
await new Promise((over) => setTimeout(over, 300));
await group.key("conversation").schedule(async () => events.push("second runs"));
await first;
console.log(events.join(", "));
process.exit();
JS

expect "the order" "$(node program.mjs)" "second runs, first ends"
