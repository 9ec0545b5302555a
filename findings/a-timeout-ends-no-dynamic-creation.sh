#!/usr/bin/env bash
# Guess: the option `customTimeouts` ends the creation of a resource that takes longer, whatever its provider.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, Pulumi 3.276.0): the engine only tells the provider, and the SDK drops
# it for dynamic ones: a creation of two seconds with a timeout of one succeeds, without a warning.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_engine 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async (inputs) => {
    await new Promise((done) => setTimeout(done, 2000));
    return { id: "made", outs: { given: Object.keys(inputs).sort().join() } };
  },
};
class Thing extends pulumi.dynamic.Resource {}
const options = { customTimeouts: { create: "1s" } };
exports.given = new Thing(provider, "thing", { name: "slow", given: undefined }, options).given;
JS

quietly pulumi stack init dev
quietly pulumi up --yes --skip-preview
expect "warnings" "$(grep -ci 'timeout\|timed out' "$folder/printed" || true)" 0
expect "in the state" "$(pulumi stack export | grep -c '"id": "made"')" 1
expect "what the provider was given" "$(pulumi stack output given)" "__provider,name"
