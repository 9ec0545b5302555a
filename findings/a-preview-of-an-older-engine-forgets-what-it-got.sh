#!/usr/bin/env bash
# Guess: the ID of a resource that a program reads by `get` is known in previews, as the program gives it, with any
# engine that the SDK works with.
# Seen on 2026-11-30 (@pulumi/pulumi 3.270.0 and 3.276.0; Pulumi 3.259.0 and 3.276.0): the newer SDK takes an answer
# without an ID, as the older engine gives it, for an unknown one, though only in previews: what refers to it shows an
# update that no run ever makes. Updating the SDK alone, as a bot for dependencies does, brings that about.
. "$(dirname "$0")/common.bash"
shown() { # SDK ENGINE
  use_engine "$2" >/dev/null
  quietly npm install --no-audit --no-fund --prefix . "@pulumi/pulumi@$1"
  quietly pulumi stack select --create "dev-${1//./-}-${2//./-}"
  quietly pulumi up --yes --skip-preview
  quietly pulumi preview
  grep -o '[0-9]* to update' "$folder/printed" || echo "nothing to update"
}
use_sdk 3.276.0
use_plugin
cat >program.js <<'JS'
const Thing = require("./thing.js");
new Thing("refers", { value: new Thing("got", {}, { id: "live" }).id });
JS

expect "the older SDK, the older engine" "$(shown 3.270.0 3.259.0)" "nothing to update"
expect "the newer SDK, the older engine" "$(shown 3.276.0 3.259.0)" "1 to update"
expect "the older SDK, the newer engine" "$(shown 3.270.0 3.276.0)" "nothing to update"
expect "the newer SDK, the newer engine" "$(shown 3.276.0 3.276.0)" "nothing to update"
