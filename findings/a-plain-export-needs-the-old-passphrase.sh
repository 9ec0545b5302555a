#!/usr/bin/env bash
# Guess: `stack export --show-secrets` writes a state that any stack can import, with a passphrase of its own: its
# secrets are in plain text, and are encrypted anew.
# Seen on 2026-11-30 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): they are encrypted for the stack that they
# came from, whose encryption the export names beside them: with another passphrase the import fails. It takes the state
# with the part `secrets_providers` of the stack's own export.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
echo 'exports.token = require("@pulumi/pulumi").secret("hush");' >program.js
seen() { # FILE
  if pulumi stack import --force --file "$1" >printed.txt 2>&1; then
    pulumi stack export --show-secrets | grep -o hush | sort -u
  else
    grep -o 'incorrect passphrase' printed.txt
  fi
}

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  export PULUMI_CONFIG_PASSPHRASE=old
  quietly pulumi stack init "from-$engine"
  quietly pulumi up --yes --skip-preview
  pulumi stack export --show-secrets --file whole.json
  expect "the secret in the export" "$(grep -o hush whole.json | sort -u)" hush
  export PULUMI_CONFIG_PASSPHRASE=new
  quietly pulumi stack init "to-$engine"
  pulumi stack export --file own.json
  node -e 'const [whole, own] = [require("./whole.json"), require("./own.json")];
    whole.deployment.secrets_providers = own.deployment.secrets_providers;
    fs.writeFileSync("changed.json", JSON.stringify(whole))'
  expect "the import" "$(seen whole.json)" "incorrect passphrase"
  expect "the import as changed" "$(seen changed.json)" hush
  rm whole.json own.json changed.json
done
