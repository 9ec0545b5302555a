#!/usr/bin/env bash
# Guess: with `--json` (and in an event log, as of the Automation API) a secret is `[secret]`, as everywhere else, and
# debug messages are only there with --debug.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): the SDK reports each answer of the engine as a
# debug message, with the outputs in plain text. The terminal leaves these messages out, `preview --json` too;
# `up --json` prints them. Only secrets of the stack's configuration are blotted out.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = { create: async (inputs) => ({ id: "made", outs: inputs }) };
class Thing extends pulumi.dynamic.Resource {}
new Thing(provider, "thing", { token: pulumi.secret("of-the-program"), nested: { key: pulumi.secret("of-the-program") } });
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  quietly pulumi preview --json
  expect "preview --json, lines with the secret" "$(grep -c of-the-program "$folder/printed" || true)" 0
  pulumi up --yes --skip-preview --json >events.txt
  expect "up --json, events with the secret" \
    "$(grep of-the-program events.txt | grep -o '"severity":"[a-z]*"' | xargs)" "severity:debug"
  pulumi stack export >state.json
  expect "the state, lines with the secret" "$(grep -c of-the-program state.json || true)" 0
done
