#!/usr/bin/env bash
# Guess: `outs` of a dynamic provider's update is optional, as its type says: without it, the outputs stay, or
# become the new inputs.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, Pulumi 3.276.0): the state then has no outputs but the provider's
# code, and the next diff, update and delete get nothing of what create had returned; the program sees its inputs
# all the same.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_engine 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async (inputs) => ({ id: "made", outs: { ...inputs, serial: "first" } }),
  update: async () => ({}),
  delete: async (_, { __provider, ...props }) =>
    require("fs").writeFileSync(process.env.SERVICE, JSON.stringify(props)),
};
class Thing extends pulumi.dynamic.Resource {}
exports.name = new Thing(provider, "thing", { name: process.env.NAME }).name;
JS

export SERVICE=$folder/service
quietly pulumi stack init dev
NAME=one quietly pulumi up --yes --skip-preview
NAME=two quietly pulumi up --yes --skip-preview
expect "the output of the program" "$(pulumi stack output name)" two
quietly pulumi destroy --yes --skip-preview
expect "what delete gets" "$(cat "$SERVICE")" "{}"
