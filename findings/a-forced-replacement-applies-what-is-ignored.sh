#!/usr/bin/env bash
# Guess: with `ignoreChanges`, a property keeps its value in every run, also where the resource is replaced by
# `--replace` or `pulumi state taint`.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, Pulumi 3.259.0 and 3.276.0): a forced replacement gets the program's
# value, and the preview says so.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_plugin
cat >program.js <<'JS'
const Thing = require("./thing.js");
new Thing("one", { value: process.env.VALUE }, { ignoreChanges: ["value"] });
JS
state() { pulumi stack export | grep -o '"value": "[^"]*"' | sort -u | tr '\n' ' '; }

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  VALUE=first quietly pulumi up --yes --skip-preview
  VALUE=second quietly pulumi up --yes --skip-preview
  expect "after an update" "$(state)" '"value": "first" '
  one=$(pulumi stack export | grep -o '"urn:pulumi:[^"]*::one"' | head -1 | tr -d '"')
  VALUE=second quietly pulumi up --yes --skip-preview --replace "$one"
  expect "after --replace" "$(state)" '"value": "second" '
  quietly pulumi state taint --yes "$one"
  VALUE=third quietly pulumi up --yes --skip-preview
  expect "after a taint" "$(state)" '"value": "third" '
done
