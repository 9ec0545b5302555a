#!/usr/bin/env bash
# Guess: `pulumi config set --path` keeps a value that is no plain number as text, as it keeps 0049 and 1.50.
# Seen on 2026-11-29 (Pulumi 3.259.0 and 3.276.0): +49123 becomes the number 49123, and an ID of 20 digits a rounded
# floating-point number. Without --path, both stay text.
. "$(dirname "$0")/common.bash"
printf 'name: finding\nruntime: nodejs\n' >Pulumi.yaml

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  set_to() {
    pulumi config set --path data.member "$1"
    pulumi config get --path data.member
  }
  expect "0049123" "$(set_to 0049123)" 0049123
  expect "1.50" "$(set_to 1.50)" 1.50
  expect "+49123" "$(set_to +49123)" 49123
  expect "12345678901234567891" "$(set_to 12345678901234567891)" 1.2345678901234567e+19
  pulumi config set whole +49123
  expect "without --path" "$(pulumi config get whole)" +49123
done
