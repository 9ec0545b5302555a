#!/usr/bin/env bash
# Guess: with --expect-no-changes a run fails if it shows any difference, so that a pipeline finds out when a stack is
# not what the program says.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): only resources count. Outputs of the stack
# that change, appear or go, are shown as differences, and the exit code is 0, of `up` as well, which writes them.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const { ComponentResource } = require("@pulumi/pulumi");
if (process.env.PART) new ComponentResource("finding:index:Part", "part");
exports.address = process.env.ADDRESS;
JS
shown() { # COMMAND…
  if "$@" --expect-no-changes >printed.txt 2>&1; then echo succeeds; else echo fails; fi
}

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  ADDRESS=old quietly pulumi up --yes --skip-preview
  expect "a preview with another output" "$(ADDRESS=new shown pulumi preview)" succeeds
  expect "its difference" "$(grep -c '~ address: "old" => "new"' printed.txt)" 1
  expect "an update with another output" "$(ADDRESS=new shown pulumi up --yes --skip-preview)" succeeds
  expect "the output" "$(pulumi stack output address)" new
  expect "a preview with another resource" "$(PART=1 ADDRESS=new shown pulumi preview)" fails
done
