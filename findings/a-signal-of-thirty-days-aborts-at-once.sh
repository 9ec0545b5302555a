#!/usr/bin/env bash
# Guess: AbortSignal.timeout takes any time up to 2^32 - 1 ms, some 49 days, since it refuses longer ones with an error.
# Seen on 2026-11-30 (Node.js 20.20.2, 22.19.0 and 24.21.0): the timer below it holds 2^31 - 1 ms, some 24 days; the
# signal of a longer time aborts after 1 ms, with nothing but a warning on standard error.
. "$(dirname "$0")/common.bash"
cat >signal.js <<'JS'
const days = Number(process.argv[2]);
try {
  const signal = AbortSignal.timeout(days * 86_400_000);
  setTimeout(() => console.log(signal.aborted ? "aborted" : "waits"), 300);
} catch (error) {
  console.log(error.code);
}
JS

for version in 20.20.2 22.19.0 24.21.0; do
  use_node $version
  expect "of 24 days" "$(node signal.js 24 2>&1)" waits
  expect "of 30 days" "$(node signal.js 30 2>warning.txt)" aborted
  expect "its warning" "$(grep -o TimeoutOverflowWarning warning.txt)" TimeoutOverflowWarning
  expect "of 50 days" "$(node signal.js 50 2>&1)" ERR_OUT_OF_RANGE
done
