#!/usr/bin/env bash
# Guess: if the provider's process is killed while it creates an object, the state notes the creation as
# pending, as it does when the engine itself is killed.
# Seen on 2026-11-28 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): the engine reports the lost connection, and
# the state holds neither the resource nor a pending operation; the object is nobody's.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async () => {
    // The object exists now; then the process ends, as by the kernel when memory is short.
    require("fs").writeFileSync(process.env.SERVICE, "made");
    process.kill(process.pid, "SIGKILL");
    return new Promise(() => {});
  },
};
class Thing extends pulumi.dynamic.Resource {}
new Thing(provider, "thing", {});
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  export SERVICE=$folder/service-$engine
  quietly pulumi stack init "dev-$engine"
  pulumi up --yes --skip-preview >first.txt && exit 1
  expect "the object" "$(cat "$SERVICE")" "made"
  expect "the run" "$(grep -o 'error reading from server: EOF' first.txt | head -1)" "error reading from server: EOF"
  pulumi stack export >state.json
  seen=$(node -p 'const { resources, pending_operations } = require("./state.json").deployment;
    `${resources.filter(({ type }) => type.includes("dynamic:")).length} and ${(pending_operations ?? []).length}`')
  expect "resources and pending operations" "$seen" "0 and 0"
done
