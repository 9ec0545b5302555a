#!/usr/bin/env bash
# Guess: `pulumi up --skip-preview` never asks a provider to create as a preview.
# Seen on 2026-11-28 (@pulumi/pulumi 3.276.0): with --continue-on-error, Pulumi 3.276.0 asks it for every
# resource that it skips because one that it depends on has failed; Pulumi 3.259.0 does not. A provider that
# takes a preview for the whole run's, such as one that forgets what it has decided, errs.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_plugin
cat >program.js <<'JS'
const Thing = require("./thing.js");
const failing = new Thing("failing", { value: "a" });
new Thing("skipped", { value: "b" }, { dependsOn: failing });
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  : >"$CALLS"
  FAILING=failing pulumi up --yes --skip-preview --continue-on-error >up.txt && exit 1
  expect "creations of the skipped one" "$(grep 'create skipped' "$CALLS" || true)" \
    "$([ $engine = 3.259.0 ] || echo 'create skipped as a preview')"
  expect "in the state" "$(pulumi stack export | grep -c '"id": "made"' || true)" 0
done
