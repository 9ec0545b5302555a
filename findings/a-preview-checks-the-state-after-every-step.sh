#!/usr/bin/env bash
# Guess: a preview takes time in proportion to the resources, as it writes no state.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, Pulumi 3.276.0): it puts the whole state together and checks it after each
# step, as an update does: with 800 changes that is most of its processor time. With PULUMI_SKIP_CHECKPOINTS, which
# is meant for what a run writes, a preview is several times as fast.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_engine 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = { create: async () => ({ id: "made", outs: {} }) };
class Thing extends pulumi.dynamic.Resource {}
for (let n = 0; n < 800; n++) new Thing(provider, `thing-${n}`, { name: process.env.NAME });
JS

# Without it, the SDK takes most of the program's time for stack traces.
export NODE_OPTIONS=--stack-trace-limit=0
TIMEFORMAT=%U
seconds() { { time NAME=two quietly pulumi preview --json; } 2>&1; }
quietly pulumi stack init dev
NAME=one PULUMI_SKIP_CHECKPOINTS=true quietly pulumi up --yes --skip-preview
with=$(seconds)
without=$(PULUMI_SKIP_CHECKPOINTS=true seconds)
echo "  processor time: $with s, without checkpoints $without s"
expect "more than twice as much" "$(node -p "$with > 2 * $without")" true
