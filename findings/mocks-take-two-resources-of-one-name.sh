#!/usr/bin/env bash
# Guess: a program that declares two resources of one type and name, whose URNs are the same, fails in a unit test with
# the SDK's mocks as it does in a preview.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): the mocks give both the same URN, and keep
# the last of them; only the engine refuses them.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >declare.js <<'JS'
const { ComponentResource } = require("@pulumi/pulumi");
module.exports = () => [1, 2].map(() => new ComponentResource("finding:index:Part", "part"));
JS
echo 'require("./declare.js")();' >program.js
cat >unit.js <<'JS'
const { runtime } = require("@pulumi/pulumi");
const newResource = ({ name, inputs }) => ({ id: name, state: inputs });
runtime.setMocks({ newResource, call: () => ({}) }).then(async () => {
  const urns = await Promise.all(require("./declare.js")().map(({ urn }) => urn.promise()));
  console.log(`${urns.length} resources, ${new Set(urns).size} URN`);
});
JS
expect "with mocks" "$(node unit.js)" "2 resources, 1 URN"

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  if pulumi preview >printed.txt 2>&1; then seen=accepted; else seen=$(grep -o -m 1 'Duplicate resource URN' printed.txt); fi
  expect "with the engine" "$seen" "Duplicate resource URN"
done
