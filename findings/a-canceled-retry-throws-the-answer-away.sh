#!/usr/bin/env bash
# Guess: p-retry's signal ends the pauses between the attempts; an attempt in progress that succeeds still counts.
# And an attempt that its own signal aborted (fetch's AbortError) is not made again.
# Seen on 2026-11-29 (p-retry 9.0.0): the call fails with the signal's reason when the attempt is over, whatever it
# returned: who created something does not learn its ID. An AbortError is repeated as any other; the only one that
# ends it is the class AbortError of p-retry itself.
. "$(dirname "$0")/common.bash"
use_package p-retry 9.0.0
cat >program.mjs <<'JS'
import pRetry from "p-retry";

const cancel = new AbortController();
const create = async () => {
  cancel.abort(new Error("canceled"));
  return "the new ID";
};
console.log(await pRetry(create, { signal: cancel.signal }).catch(({ message }) => message));

let attempts = 0;
const isAborted = async () => {
  attempts += 1;
  AbortSignal.abort().throwIfAborted();
};
console.log(await pRetry(isAborted, { retries: 2, minTimeout: 1 }).catch(({ name }) => `${name} after ${attempts}`));
JS

node program.mjs >seen.txt
expect "the answer" "$(sed -n 1p seen.txt)" canceled
expect "an aborted attempt" "$(sed -n 2p seen.txt)" "AbortError after 3"
