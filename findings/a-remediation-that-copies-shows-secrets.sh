#!/usr/bin/env bash
# Guess: a remediating policy that returns a copy of the properties, with another one changed, leaves the
# secrets among them secret.
# Seen on 2026-11-29 (Pulumi 3.259.0 and 3.276.0, @pulumi/policy 1.21.0): the copy has them in plain text, which
# is then in the state. Properties that are changed in place and returned keep their secrets.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_plugin
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const Thing = require("./thing.js");
new Thing("one", { value: pulumi.secret("hush"), size: 1 });
JS
mkdir pack
quietly npm install --no-audit --no-fund --prefix . @pulumi/policy@1.21.0
printf 'runtime: nodejs\nmain: index.js\n' >pack/PulumiPolicy.yaml
echo '{ "name": "pack", "version": "1.0.0", "main": "index.js" }' >pack/package.json
# An executable, so that no language host for packs is needed.
runner=$PWD/node_modules/@pulumi/pulumi/cmd/run-policy-pack
printf '#!/bin/sh\ncd "%s" && exec node "%s" "$@" .\n' "$PWD/pack" "$runner" >pack/run
chmod 755 pack/run
cat >pack/index.js <<'JS'
const { PolicyPack } = require("@pulumi/policy");
const ways = {
  copied: (props) => ({ ...props, size: 2 }),
  "in place": (props) => Object.assign(props, { size: 2 }),
};
const remediateResource = ({ type, props }) =>
  type === "tap:index:Thing" ? ways[process.env.WAY](props) : undefined;
const rest = { description: "sets the size", enforcementLevel: "remediate" };
new PolicyPack("pack", { policies: [{ name: "size", ...rest, remediateResource }] });
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  for way in copied "in place"; do
    quietly pulumi stack init "${way// /-}-$engine"
    WAY=$way quietly pulumi up --yes --skip-preview --policy-pack pack/run
    expect "sizes set, $way" "$(pulumi stack export | grep -c '"size": 2')" 2
    expect "secrets in plain text, $way" "$(pulumi stack export | grep -c '"hush"')" \
      "$([ "$way" = copied ] && echo 2 || echo 0)"
  done
done
