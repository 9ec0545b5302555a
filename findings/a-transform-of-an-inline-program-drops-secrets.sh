#!/usr/bin/env bash
# Guess: a secret input stays one behind a transform that passes everything on, however the program runs.
# Seen on 2026-11-29 (Pulumi 3.259.0 and 3.276.0, @pulumi/pulumi 3.276.0): not in an inline program of the
# Automation API. There the SDK hands the inputs on without their secrets, and the state has them in plain text.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_plugin
cat >declare.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const Thing = require("./thing.js");
module.exports = async () => {
  new Thing("alone", { value: pulumi.secret("hush-alone") });
  const transforms = [({ props, opts }) => ({ props, opts })];
  new Thing("passed", { value: pulumi.secret("hush-passed") }, { transforms });
};
JS
echo 'require("./declare.js")();' >program.js
cat >inline.js <<'JS'
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const [, , stackName] = process.argv;
const program = require("./declare.js");
LocalWorkspace.selectStack({ stackName, projectName: "finding", program }, { workDir: "." })
  .then((stack) => stack.up());
JS
shown() { pulumi stack export | grep -o 'hush-[a-z]*' | sort -u | tr '\n' ' '; }

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "file-$engine"
  quietly pulumi up --yes --skip-preview
  expect "in plain text after a program in a file" "$(shown)" ""
  quietly pulumi stack init "inline-$engine"
  quietly node inline.js "inline-$engine"
  expect "in plain text after an inline program" "$(shown)" "hush-passed "
done
