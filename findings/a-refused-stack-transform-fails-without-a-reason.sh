#!/usr/bin/env bash
# Guess: with a language host that does not know stack transforms, a program that registers one fails with a
# message about that, as one that registers a resource hook does.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0 with the host of 3.68.0, Pulumi 3.259.0 and 3.276.0): the SDK fails
# with `undefined`, and its handler of failures at that.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
if (process.env.WAY === "hook") new pulumi.ResourceHook("hook", () => {});
else pulumi.runtime.registerResourceTransform(() => undefined);
JS

says() { grep -q "$1" <<<"$said" && echo yes || echo no; }

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  said=$(WAY=hook pulumi preview 2>&1 || true)
  expect "a hook's failure names the method" "$(says 'unknown method RegisterResourceHook')" yes
  said=$(WAY=transform pulumi preview 2>&1 || true)
  expect "a transform's failure names the method" "$(says 'unknown method')" no
  expect "the handler of failures fails" "$(says "undefined (reading 'stack')")" yes
done
