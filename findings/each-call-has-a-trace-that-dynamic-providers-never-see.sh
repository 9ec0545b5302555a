#!/usr/bin/env bash
# Guess: the process of dynamic providers gets the run's trace by the environment, as programs do
# (TRACEPARENT), so that a provider's spans are below the engine's.
# Seen on 2026-11-28 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0, --otel-traces): the environment has the
# collector's address alone. Each call has its trace in the metadata, which no provider gets to see.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const pulumi = require("@pulumi/pulumi");
const provider = {
  create: async (...given) => ({
    id: "1",
    outs: {
      arguments: given.length,
      collector: Boolean(process.env.PULUMI_OTEL_EXPORTER_OTLP_ENDPOINT),
      trace: process.env.TRACEPARENT ?? "none",
    },
  }),
};
class Thing extends pulumi.dynamic.Resource {
  constructor(name) {
    super(provider, name, { arguments: undefined, collector: undefined, trace: undefined });
  }
}
const { arguments: given, collector, trace } = new Thing("thing");
exports.seen = pulumi.interpolate`${given} argument, collector ${collector}, trace ${trace}`;
JS
# Loaded by every process of Node.js: writes the metadata of the calls that it answers.
cat >calls.js <<'JS'
const { appendFileSync } = require("node:fs");
const http2 = require("node:http2");
const { createServer } = http2;
http2.createServer = (...given) =>
  createServer(...given).on("stream", (_, headers) => {
    const line = `${headers[":path"].split("/").at(-1)} ${headers.traceparent}\n`;
    appendFileSync(`${__dirname}/calls.txt`, line);
  });
JS

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  rm -f calls.txt
  NODE_OPTIONS="--require $PWD/calls.js" quietly \
    pulumi up --yes --skip-preview --otel-traces "file://$PWD/trace-$engine.json"
  expect "the provider sees" "$(pulumi stack output seen)" "1 argument, collector true, trace none"
  trace=$(sed -nE 's/^Create 00-([0-9a-f]{32})-.*/\1/p' calls.txt)
  expect "Create has a trace" "${#trace}" 32
  expect "that the engine's spans are in" "$(grep -c "$trace" "trace-$engine.json" | sed 's/[1-9][0-9]*/yes/')" yes
done
