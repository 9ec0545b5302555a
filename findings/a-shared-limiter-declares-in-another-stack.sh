#!/usr/bin/env bash
# Guess: inline programs of the Automation API that run at once, in one process, declare in their own stacks, also in
# functions that they pass to something they share, such as a queue that paces their calls: the SDK follows the
# asynchronous context.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0, bottleneck 2.19.5; Pulumi 3.259.0 and 3.276.0): a function that waits
# for its turn is called in the context of the program whose turn ends, and its resource belongs to that stack, while
# both runs succeed: the next `up` of either deletes or creates it. The same with an event emitter. p-limit keeps the
# context.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
use_package bottleneck 2.19.5
use_package p-limit 7.3.3
cat >inline.mjs <<'JS'
import { EventEmitter } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import pulumi from "@pulumi/pulumi";
import { LocalWorkspace } from "@pulumi/pulumi/automation/index.js";
import Bottleneck from "bottleneck";
import pLimit from "p-limit";

class Part extends pulumi.ComponentResource {
  constructor(name) {
    super("finding:index:Part", name);
  }
}

const limiter = new Bottleneck({ maxConcurrent: 1 });
const limit = pLimit(1);
const events = new EventEmitter();
let arrived = 0;
/** Both programs are here before either goes on. */
const meet = async () => {
  arrived += 1;
  const all = Math.ceil(arrived / 2) * 2;
  while (arrived < all) await pause(10);
};

const programOf = (name, other) => async () => {
  const declare = (part) => async () => {
    new Part(`${name}-${part}`);
    await pause(200);
  };
  await meet();
  await limiter.schedule(declare("bottleneck"));
  await meet();
  await limit(declare("p-limit"));
  const heard = new Promise((resolve) => {
    events.once(name, () => resolve(new Part(`${name}-event`)));
  });
  await meet();
  events.emit(other);
  await heard;
};

const [, , suffix] = process.argv;
const runs = [
  ["a", "b"],
  ["b", "a"],
].map(async ([name, other]) => {
  const program = programOf(name, other);
  const settings = { stackName: `${name}-${suffix}`, projectName: "finding", program };
  const stack = await LocalWorkspace.createStack(settings);
  return { name, stack, result: (await stack.up()).summary.result };
});
const foreign = [];
for (const { name, stack, result } of await Promise.all(runs)) {
  if (result !== "succeeded") throw new Error(result);
  for (const { urn } of (await stack.exportStack()).deployment.resources) {
    const [part, way] = urn.split("::").at(-1).split(/-(.*)/);
    if (urn.includes("Part") && part !== name) foreign.push(way);
  }
}
console.log([...new Set(foreign)].sort().join(" "));
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  expect "what declared in the other's stack" "$(node inline.mjs "${engine//./-}")" "bottleneck event"
done
