#!/usr/bin/env bash
# Guess: a member of a dynamic provider's outputs that is undefined counts as left out, as it does in the inputs.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): the SDK cannot write the answer of create and
# reports "Unexpected struct type". The object exists, and neither the state nor the provider knows of it: the next run
# creates another one. Only null, and a Date or Map (as {}), get through.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async ({ etag }) => {
    require("fs").appendFileSync(process.env.SERVICE, "created\n");
    // As of an optional member of a service's answer.
    return { id: "made", outs: { etag: etag ?? (process.env.MEMBER === "null" ? null : undefined) } };
  },
};
class Thing extends pulumi.dynamic.Resource {}
new Thing(provider, "thing", { etag: undefined });
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  export SERVICE=$folder/service-$engine
  quietly pulumi stack init "dev-$engine"
  pulumi up --yes --skip-preview >first.txt 2>&1 && exit 1
  expect "the run" "$(grep -o 'Unexpected struct type' first.txt | head -1)" "Unexpected struct type"
  expect "in the state" "$(pulumi stack export | grep -c '"id": "made"' || true)" 0
  MEMBER=null quietly pulumi up --yes --skip-preview
  expect "objects after a run with null" "$(grep -c created "$SERVICE")" 2
done
