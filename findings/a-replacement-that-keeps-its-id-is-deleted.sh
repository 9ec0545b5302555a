#!/usr/bin/env bash
# Guess: a replacement whose create answers with the same id is an update, so nothing is deleted.
# Seen on 2026-11-28 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): after create the engine deletes that id, the
# object is gone, the run succeeds, and the next preview says that all is unchanged.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
# The service is a file: an upsert by name, as many services have it.
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const service = process.env.SERVICE;
const provider = {
  create: async ({ name }) => {
    require("fs").writeFileSync(service, name);
    return { id: name, outs: { name } };
  },
  delete: async () => require("fs").rmSync(service),
};
class Thing extends pulumi.dynamic.Resource {}
new Thing(provider, "thing", { name: "one" });
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  export SERVICE=$folder/service-$engine
  quietly pulumi stack init "dev-$engine"
  quietly pulumi up --yes --skip-preview
  thing=$(pulumi stack --show-urns | grep -Eo 'urn:.*::thing')
  pulumi up --yes --skip-preview --replace "$thing" >second.txt
  expect "the run that replaces it" "$(grep -Eo '1 replaced' second.txt)" "1 replaced"
  expect "the object" "$([ -e "$SERVICE" ] && echo there || echo gone)" "gone"
  pulumi preview --expect-no-changes >third.txt
  expect "the next preview" "$(grep -Eo '[0-9]+ unchanged' third.txt)" "2 unchanged"
done
