#!/usr/bin/env bash
# Guess: with the SDK's mocks in preview mode, the ID and the outputs of what would be created are unknown, as in a
# preview, so that what is derived from them does not run.
# Seen on 2026-11-30 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): they are known. A unit test in preview mode
# says nothing about what a preview skips.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_plugin
cat >declare.js <<'JS'
const Thing = require("./thing.js");
module.exports = async () => {
  const { id, value } = new Thing("thing", {});
  id.apply(() => console.log("seen: the ID"));
  value.apply(() => console.log("seen: an output"));
};
JS
echo 'require("./declare.js")();' >program.js
cat >unit.js <<'JS'
const { runtime } = require("@pulumi/pulumi");
const newResource = ({ name }) => ({ id: name, state: { value: "made" } });
runtime.setMocks({ newResource, call: () => ({}) }, "p", "s", true).then(require("./declare.js"));
JS
seen() { grep -o 'seen: .*' "$1" | cut -c7- | sort -u | paste -sd, - || true; }
node unit.js >printed.txt
expect "with mocks" "$(seen printed.txt)" "an output,the ID"

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  quietly pulumi preview
  expect "with the engine" "$(seen "$folder/printed")" ""
done
