#!/usr/bin/env bash
# Guess: `deletedWith` only leaves out a deletion; it never replaces anything.
# Seen on 2026-11-28 (@pulumi/pulumi 3.276.0): when the other resource is replaced, Pulumi 3.276.0 replaces
# this one, too, and does not call its delete; Pulumi 3.259.0 leaves it as it is.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_plugin
cat >program.js <<'JS'
const Thing = require("./thing.js");
const whole = new Thing("whole", { value: process.env.VALUE }, { replaceOnChanges: ["value"] });
new Thing("part", { value: "same" }, { deletedWith: whole });
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  VALUE=1 quietly pulumi up --yes --skip-preview
  whole=$(pulumi stack export | grep -o '"urn:pulumi:[^"]*::whole"' | head -1 | tr -d '"')
  : >"$CALLS"
  VALUE=1 quietly pulumi up --yes --skip-preview --replace "$whole"
  expect "creations" "$(grep -c '^create' "$CALLS")" "$([ $engine = 3.259.0 ] && echo 1 || echo 2)"
  expect "deletions" "$(grep '^delete' "$CALLS")" "delete whole made"
done
