#!/usr/bin/env bash
# Guess: a resource whose creation failed half-way is updated by every next run until an update succeeds.
# Seen on 2026-11-28 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): the next run calls update, although diff says
# that nothing differs; a refresh in between removes the note, and then no run calls update any more.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async (inputs) => {
    throw Object.assign(new Error("half-made"), { id: "1", properties: inputs, reasons: ["half-made"] });
  },
  diff: async () => ({ changes: false }),
  read: async (id, props) => ({ id, props }),
  update: async (_id, _olds, news) => ({ outs: { ...news, updated: true } }),
};
class Thing extends pulumi.dynamic.Resource {
  constructor(name, props) {
    super(provider, name, { updated: undefined, ...props });
  }
}
exports.updated = new Thing("thing", { name: "one" }).updated.apply((value) => value === true);
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  for refresh in without with; do
    quietly pulumi stack init "$refresh-$engine"
    pulumi up --yes --skip-preview >first.txt && exit 1
    expect "the first run" "$(grep -o 'half-made' first.txt | head -1)" "half-made"
    [ $refresh = without ] || quietly pulumi refresh --yes --skip-preview
    quietly pulumi up --yes --skip-preview
    updated=$([ $refresh = without ] && echo true || echo false)
    expect "updated by the next run, $refresh a refresh" "$(pulumi stack output updated)" "$updated"
  done
done
