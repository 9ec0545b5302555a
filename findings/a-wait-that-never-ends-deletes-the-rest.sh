#!/usr/bin/env bash
# Guess: a program that waits for what never comes hangs, or fails.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0; language host 3.68.0): when nothing else keeps
# Node.js busy, it ends, with exit code 0; the engine takes what was declared until then for the whole program, deletes
# all other resources, and succeeds.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async () => ({ id: "made", outs: {} }),
  delete: async () => require("fs").writeFileSync(process.env.SERVICE, "deleted"),
};
class Thing extends pulumi.dynamic.Resource {}
module.exports = async () => {
  // As of an event that nobody sends.
  if (process.env.WAIT) await new Promise(() => {});
  new Thing(provider, "thing", {});
};
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  export SERVICE=$folder/service-$engine
  quietly pulumi stack init "dev-$engine"
  quietly pulumi up --yes --skip-preview
  code=0
  WAIT=1 pulumi up --yes --skip-preview >second.txt || code=$?
  expect "exit code" $code 0
  expect "errors" "$(grep -c error: second.txt || true)" 0
  expect "the resource" "$(cat "$SERVICE")" deleted
done
