#!/usr/bin/env bash
# Guess: the option `import` takes over an object with a dynamic provider that has `read`, as with any other.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, Pulumi 3.276.0): the import fails. The provider's code is itself a
# property of the resource, and the engine asks for the object before there are properties.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_engine 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  read: async (id, props) => {
    require("fs").writeFileSync(process.env.SERVICE, "read");
    return { id, props };
  },
};
class Thing extends pulumi.dynamic.Resource {}
new Thing(provider, "thing", { name: "live" }, { import: "known-id" });
JS

export SERVICE=$folder/service
quietly pulumi stack init dev
pulumi up --yes --skip-preview >first.txt 2>&1 && exit 1
expect "the run" "$(grep -o 'code must be a string, not undefined' first.txt | head -1)" \
  "code must be a string, not undefined"
expect "calls of read" "$([ -e "$SERVICE" ] && echo some || echo none)" none
expect "resources in the state with the ID" "$(pulumi stack export | grep -c known-id || true)" 0
