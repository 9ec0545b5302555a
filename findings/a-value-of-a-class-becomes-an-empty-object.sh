#!/usr/bin/env bash
# Guess: a Date, a Map or a URL in the properties of a dynamic resource is refused, or arrives as its JSON.
# Seen on 2026-11-28 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): the provider gets {} for each, the run
# succeeds, and another date in the next run is no change.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async (inputs) => ({ id: "1", outs: { ...inputs, got: JSON.stringify(inputs) } }),
};
class Thing extends pulumi.dynamic.Resource {
  constructor(name, props) {
    super(provider, name, { got: undefined, ...props });
  }
}
const thing = new Thing("thing", {
  date: new Date(process.env.DATE),
  map: new Map([["a", 1]]),
  url: new URL("urn:a"),
  plain: { a: 1 },
});
exports.got = thing.got;
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  DATE=2026-01-01 quietly pulumi up --yes --skip-preview
  got=$(pulumi stack output got)
  for member in '"date":{}' '"map":{}' '"url":{}' '"plain":{"a":1}'; do
    expect "the provider gets $member" "$(grep -cF "$member" <<<"$got")" 1
  done
  DATE=2027-01-01 pulumi up --yes --skip-preview >second.txt
  expect "with another date" "$(grep -Eo '[0-9]+ unchanged' second.txt)" "2 unchanged"
done
