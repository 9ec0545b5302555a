#!/usr/bin/env bash
# Guess: a refresh only calls `read`; `diff` is for a program's values, which are its last argument.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, Pulumi 3.276.0): after each `read`, a refresh calls `diff` with what was
# read and, in place of the program's values, the inputs that the state had before. So `diff` describes the way back:
# a message in it about what an update will do is shown in a refresh, too, and each resource costs two calls.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_engine 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async ({ name }) => ({ id: "made", outs: { name } }),
  read: async (id) => ({ id, props: { name: "read" }, inputs: { name: "read" } }),
  diff: async (id, { name: before }, { name: after }) => {
    require("fs").appendFileSync(process.env.CALLS, `${before} to ${after}\n`);
    return {};
  },
};
class Thing extends pulumi.dynamic.Resource {}
new Thing(provider, "thing", { name: "declared" });
JS

export CALLS=$folder/calls
quietly pulumi stack init dev
quietly pulumi up --yes --skip-preview
expect "calls of diff in the creation" "$(cat "$CALLS" 2>/dev/null)" ""
quietly pulumi refresh --yes --skip-preview
expect "in the refresh" "$(cat "$CALLS")" "read to declared"
quietly pulumi refresh --yes --skip-preview
expect "in the next one" "$(tail -n 1 "$CALLS")" "read to read"
