#!/usr/bin/env bash
# Guess: runs of inline programs (Automation API) in one process do not concern each other.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0 with @grpc/grpc-js 1.14.7; Pulumi 3.259.0 and 3.276.0): a run that failed
# leaves its connection to the ended engine open and trying. If a later engine gets the same port, the SDK's first call
# fails at once for it. Some such runs fail; in others, the error is passed over as the end of an engine would be, and
# the program, which never ran, counts as an empty one: everything is deleted, and the run succeeds.
# Closing both clients of a program after its run (`pulumi.runtime.getEngine`, `getMonitor`) prevents it.
# Ports repeat after thousands of runs; a network of its own (`unshare`, `ip`) with 120 of them makes it some seconds.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_plugin
echo >program.js
cat >inline.js <<'JS'
const { LocalWorkspace } = require("@pulumi/pulumi/automation");
const Thing = require("./thing.js");
const kept = async () => {
  for (const name of ["first", "second", "third"]) new Thing(name, { value: "a" });
};
const failing = async () => {
  for (const name of ["same", "same"]) new Thing(name, { value: "a" });
};
const up = async (name, program) => {
  const settings = { stackName: `${name}-${process.argv[2]}`, projectName: "finding", program };
  const stack = await LocalWorkspace.createOrSelectStack(settings, { workDir: "." });
  const { result, resourceChanges } = (await stack.up()).summary;
  return `${result}, ${JSON.stringify(resourceChanges)}`;
};
process.on("unhandledRejection", () => undefined);
(async () => {
  let seen = await up("kept", kept);
  for (let turn = 0; turn < 200 && !seen.includes("delete"); turn++) {
    await up("failing", failing).catch(() => undefined);
    seen = await up("kept", kept).catch(() => "failed");
  }
  console.log(seen);
})();
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  seen=$(unshare -rn sh -c "
    ip link set lo up && echo '40000 40240' >/proc/sys/net/ipv4/ip_local_port_range && node inline.js $engine")
  expect "one of the runs of a program with three resources" "$seen" 'succeeded, {"delete":3,"same":1}'
done
