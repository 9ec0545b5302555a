#!/usr/bin/env bash
# Guess: an import that the provider's check refuses leaves nothing behind.
# Seen on 2026-11-28 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): with the option `import` and
# without a preview, the engine has written the resource into the state before the check. When it leaves the
# program, the engine deletes the object that the provider had refused to import. `pulumi import` takes
# failures of the check for warnings and imports all the same; only an error stops it.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_plugin
cat >program.js <<'JS'
const Thing = require("./thing.js");
if (process.env.IMPORT) new Thing("imported", { value: "live" }, { import: "elsewhere" });
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  IMPORT=1 CHECK=throws pulumi up --yes --skip-preview >first.txt && exit 1
  expect "the run" "$(grep -o 'refused by the check' first.txt | head -1)" "refused by the check"
  held=$(pulumi stack export | grep -c '"id": "elsewhere"')
  expect "resources in the state with the ID" "$held" 1
  : >"$CALLS"
  quietly pulumi up --yes --skip-preview
  expect "calls without it" "$(cat "$CALLS")" "delete imported elsewhere"
  for check in fails throws; do
    code=0
    CHECK=$check pulumi import tap:index:Thing "$check" "$check" --yes --skip-preview \
      --generate-code=false --protect=false >import.txt 2>&1 || code=$?
    seen=$([ $code = 0 ] && echo imported || echo refused)
    expect "pulumi import, when the check $check" "$seen" "$([ $check = fails ] && echo imported || echo refused)"
    expect "in the state" "$(pulumi stack export | grep -c "\"id\": \"$check\"" || true)" \
      "$([ $check = fails ] && echo 1 || echo 0)"
  done
done
