#!/usr/bin/env bash
# Guess: resources that are made with the same dynamic provider object share what it has, such as a queue that paces
# its calls: it is one object in the program, and one process serves all of them.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0): the process makes a provider for each resource, with a copy of what the
# functions capture: three resources count to one each. Only what a module holds that they require is shared.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_engine 3.276.0
mkdir node_modules/counter
echo 'exports.count = 0;' >node_modules/counter/index.js
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
let own = 0;
const provider = {
  create: async () => {
    own += 1;
    const shared = ++require("counter").count;
    const counts = `${process.pid} ${own} ${shared}\n`;
    require("fs").appendFileSync(process.env.SERVICE, counts);
    return { id: "made" };
  },
};
class Thing extends pulumi.dynamic.Resource {}
for (const name of ["a", "b", "c"]) new Thing(provider, name, {});
JS

export SERVICE=$folder/service
quietly pulumi stack init dev
quietly pulumi up --yes --skip-preview
expect "processes" "$(cut -d' ' -f1 "$SERVICE" | sort -u | wc -l | xargs)" 1
expect "own counts" "$(cut -d' ' -f2 "$SERVICE" | xargs)" "1 1 1"
expect "counts of the module" "$(cut -d' ' -f3 "$SERVICE" | sort | xargs)" "1 2 3"
