#!/usr/bin/env bash
# Guess: `pulumi config set --path` keeps a value that it takes for a number as it was typed, or as text if it is no
# number that it can hold, as it does with 1.10 and 007.
# Seen on 2026-11-29 (Pulumi 3.259.0 and 3.276.0): a whole number of 2^63 or more becomes the nearest
# floating-point number, without a word: an ID of an account or of a message is another one. As a secret, or without
# --path, it stays as it is.
. "$(dirname "$0")/common.bash"
printf 'name: finding\nruntime: nodejs\n' >Pulumi.yaml
id=12345678901234567890

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  for value in 1.10 007 1234567890123456789 $id; do
    pulumi config set --path accounts.id -- $value
    grep '  id:' "Pulumi.dev-$engine.yaml" | cut -d: -f2
  done >seen.txt
  expect "in a path" "$(xargs <seen.txt)" "1.10 007 1234567890123456789 1.2345678901234567e+19"
  pulumi config set --secret --path accounts.id $id
  expect "in a path, as a secret" "$(pulumi config get --path accounts.id)" $id
  pulumi config set id $id
  expect "at the top" "$(pulumi config get id)" $id
done
