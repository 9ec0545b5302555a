#!/usr/bin/env bash
# Guess: a provider can tell from Read whether it is asked by `get` or by an import.
# Seen on 2026-11-28 (@pulumi/pulumi 3.276.0): with Pulumi 3.259.0, `get` sends empty inputs and an import
# none; with Pulumi 3.276.0, neither sends any. Only an import is followed by a check, in `pulumi import` and
# with the option `import`.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_plugin
cat >program.js <<'JS'
const Thing = require("./thing.js");
const { GET, IMPORT } = process.env;
if (GET) new Thing("got", {}, { id: "there" });
if (IMPORT) new Thing("option", { value: "live" }, { import: "there" });
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  got=$([ $engine = 3.259.0 ] && echo '{}' || echo none)
  : >"$CALLS"
  GET=1 quietly pulumi up --yes --skip-preview
  expect "calls of get" "$(paste -sd ' ' "$CALLS")" "read got $got"
  : >"$CALLS"
  IMPORT=1 quietly pulumi up --yes --skip-preview
  expect "calls of the option import" "$(paste -sd ' ' "$CALLS")" 'read option none check option {"value":"live"}'
  : >"$CALLS"
  quietly pulumi import tap:index:Thing command there --yes --skip-preview --generate-code=false
  expect "calls of pulumi import" "$(paste -sd ' ' "$CALLS")" 'read command none check command {"value":"live"}'
done
