#!/usr/bin/env bash
# Guess: after an `up` with corrected code of a dynamic provider, the corrected code deletes.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): the code is an output of the resource, too, and
# outputs stay when diff finds no change: diff is the new code's, and delete is still that of the code that created or
# last updated it.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const { CODE, GONE } = process.env;
const note = (call) => `${call} by ${CODE}\n`;
const provider = {
  create: async () => ({ id: "made", outs: {} }),
  diff: async () => {
    require("fs").appendFileSync(process.env.SERVICE, note("diff"));
    return { changes: false };
  },
  delete: async () => require("fs").appendFileSync(process.env.SERVICE, note("delete")),
};
class Thing extends pulumi.dynamic.Resource {}
if (!GONE) new Thing(provider, "thing", {});
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  export SERVICE=$folder/service-$engine
  quietly pulumi stack init "dev-$engine"
  CODE=first quietly pulumi up --yes --skip-preview
  CODE=second quietly pulumi up --yes --skip-preview
  CODE=second GONE=1 quietly pulumi up --yes --skip-preview
  expect "calls" "$(paste -sd, "$SERVICE")" "diff by second,delete by first"
done
