#!/usr/bin/env bash
# Guess: `pulumi cancel` ends the run in progress, or refuses to.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, Pulumi 3.276.0, file backend): it says "has been canceled", but only
# removes the lock. The run goes on beside the next one; both create the resource and end with exit code 0. The
# state of the first, which ends last, replaces that of the second: one object is nobody's.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_engine 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async () => {
    const { existsSync, writeFileSync } = require("fs");
    const id = `made-by-${process.env.RUN}`;
    writeFileSync(`${process.env.SERVICE}/${id}`, "");
    while (process.env.RUN === "first" && !existsSync(process.env.ENDED))
      await new Promise((look) => setTimeout(look, 50));
    return { id };
  },
};
class Thing extends pulumi.dynamic.Resource {}
new Thing(provider, "thing", {});
JS

export SERVICE=$folder/service ENDED=$folder/second-run-has-ended
mkdir "$SERVICE"
quietly pulumi stack init dev
RUN=first pulumi up --yes --skip-preview >first.txt 2>&1 &
first=$!
until [ -e "$SERVICE/made-by-first" ]; do sleep 0.1; done
pulumi cancel --yes >cancel.txt 2>&1
expect "cancel" "$(grep -o 'has been canceled' cancel.txt)" "has been canceled"
RUN=second quietly pulumi up --yes --skip-preview
touch "$ENDED"
code=0
wait $first || code=$?
expect "exit code of the canceled run" $code 0
expect "objects" "$(ls "$SERVICE" | xargs)" "made-by-first made-by-second"
expect "in the state" "$(pulumi stack export | grep -o '"made-by-.*"')" '"made-by-first"'
