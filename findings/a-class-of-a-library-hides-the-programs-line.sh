#!/usr/bin/env bash
# Guess: the source position that the state keeps for a resource is the line of the program that declares it.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, Pulumi 3.276.0): only if its class derives from CustomResource
# itself. With one class more between them, as with every dynamic resource, it is a line of that class.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >library.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const handler = "exports.handler = () => ({ create: async (outs) => ({ id: '1', outs }) });";
class Own extends pulumi.CustomResource {
  constructor(name) {
    super("pulumi-nodejs:dynamic:Resource", name, { __provider: handler });
  }
}
class Dynamic extends pulumi.dynamic.Resource {
  constructor(name) {
    super({ create: async (outs) => ({ id: "1", outs }) }, name, {});
  }
}
module.exports = { Own, Dynamic };
JS
cat >program.js <<'JS'
const { Own, Dynamic } = require("./library.js");
new Own("own");
new Dynamic("dynamic");
JS

use_engine 3.276.0
quietly pulumi stack init dev
quietly pulumi up --yes --skip-preview
position() {
  pulumi stack export | node -e '
    const { deployment } = JSON.parse(require("node:fs").readFileSync(0, "utf8"));
    const { sourcePosition = "none" } = deployment.resources.find(({ urn }) => urn.endsWith("::" + process.argv[1]));
    console.log(sourcePosition.replace(/^.*\//, "").replace(/,.*/, ""));' "$1"
}
expect "position, class below CustomResource" "$(position own)" "program.js#2"
expect "position, class below dynamic.Resource" "$(position dynamic)" "library.js#10"
