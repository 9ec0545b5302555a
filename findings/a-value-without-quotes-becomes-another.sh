#!/usr/bin/env bash
# Guess: the configuration of a stack holds texts. A value that is written into its file by hand, without quotes, is
# the text that one sees there, as with `pulumi config set`; that command leaves the other lines as they are.
# Seen on 2026-11-29 (@pulumi/pulumi 3.276.0; Pulumi 3.259.0 and 3.276.0): it is read as YAML, numbers as octal ones
# too, and then written as text: a version loses its zero, a date gets a time. The first `config set` of any other
# key makes that permanent.
. "$(dirname "$0")/common.bash"
use_sdk 3.276.0
cat >program.js <<'JS'
const config = new (require("@pulumi/pulumi").Config)();
exports.seen = ["area", "version", "day", "hour", "build"].map((key) => config.get(key)).join(", ");
JS
read_as="8, 1.1, 2026-11-29 00:00:00 +0000 UTC, 9:30, 10000"

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  cat >>"Pulumi.dev-$engine.yaml" <<'YAML'
config:
  finding:area: 010
  finding:version: 1.10
  finding:day: 2026-11-29
  finding:hour: 9:30
  finding:build: 1e4
YAML
  quietly pulumi up --yes --skip-preview
  expect "what the program gets" "$(pulumi stack output seen)" "$read_as"
  pulumi config set other x
  expect "the lines after another key is set" \
    "$(grep -E ':(area|version|day):' "Pulumi.dev-$engine.yaml" | xargs)" \
    "finding:area: 8 finding:version: 1.1 finding:day: 2026-11-29 00:00:00 +0000 UTC"
  for value in 010 1.10 2026-11-29; do pulumi config set typed -- $value; pulumi config get typed; done >typed.txt
  expect "what a command sets" "$(xargs <typed.txt)" "010 1.10 2026-11-29"
done
