#!/usr/bin/env bash
# Guess: a resource with the option `protect` stays in the state until somebody unprotects it, and `destroy` of a stack
# that has one refuses as a whole.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, Pulumi 3.276.0): `destroy` deletes what the protected one does not
# need, and fails; and a refresh whose read finds no object takes a protected resource out of the state.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_engine 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async ({ name }) => ({ id: `id-${name}`, outs: {} }),
  read: async (id) => ({ id: process.env.GONE ? "" : id, props: {} }),
  delete: async (id) => require("fs").writeFileSync(process.env.SERVICE, id),
};
class Thing extends pulumi.dynamic.Resource {}
new Thing(provider, "kept", { name: "kept" }, { protect: true });
new Thing(provider, "free", { name: "free" });
JS

export SERVICE=$folder/service
quietly pulumi stack init dev
quietly pulumi up --yes --skip-preview
pulumi destroy --yes --skip-preview >destroy.txt 2>&1 && exit 1
expect "destroy" "$(grep -o 'because it is protected' destroy.txt | head -1)" "because it is protected"
expect "deleted by it" "$(cat "$SERVICE")" id-free
expect "in the state, of kept and free" "$(pulumi stack export | grep -c '"id": "id-')" 1
GONE=1 quietly pulumi refresh --yes --skip-preview
expect "after the refresh" "$(pulumi stack export | grep -c '"id": "id-' || true)" 0
