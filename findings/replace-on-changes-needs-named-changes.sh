#!/usr/bin/env bash
# Guess: the engine, which knows old and new inputs, keeps the option `replaceOnChanges`, whatever a provider's diff
# answers.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, Pulumi 3.276.0): only if diff names the changed properties, or says
# nothing. A dynamic provider can only say that there are changes: then the resource is updated.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_engine 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const note = { update: async () => ({ outs: {} }) };
const make = (id) => async () => ({ id, outs: {} });
const says = { ...note, create: make("says"), diff: async () => ({ changes: true }) };
const silent = { ...note, create: make("silent"), diff: async () => ({}) };
class Thing extends pulumi.dynamic.Resource {}
const options = { replaceOnChanges: ["name"] };
new Thing(says, "says", { name: process.env.NAME }, options);
new Thing(silent, "silent", { name: process.env.NAME }, options);
JS

quietly pulumi stack init dev
NAME=one quietly pulumi up --yes --skip-preview
NAME=two pulumi preview --json >preview.json
op() { node -p "require('./preview.json').steps.filter(({urn}) => urn.endsWith('::$1')).map(({op}) => op).sort().join()"; }
expect "diff that says changes" "$(op says)" update
expect "diff that says nothing" "$(op silent)" replace
