#!/usr/bin/env bash
# Guess: an input named `id` or `urn`, as objects of many services have it, reaches the provider or is refused.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): the SDK for Node.js drops both without a
# word, so that a program that copies an object with its ID creates another one. Inside an object they arrive.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async ({ __provider, ...inputs }) => ({ id: "made", outs: { got: JSON.stringify(inputs) } }),
};
class Thing extends pulumi.dynamic.Resource {}
const live = { id: "live-id", urn: "live-urn", inner: { id: "inner-id" } };
exports.got = new Thing(provider, "thing", { ...live, got: undefined }).got;
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  quietly pulumi up --yes --skip-preview
  expect "warnings" "$(grep -c 'warning: .*\b\(id\|urn\)\b' "$folder/printed" || true)" 0
  expect "the provider gets" "$(pulumi stack output got)" '{"inner":{"id":"inner-id"}}'
done
