#!/usr/bin/env bash
# Guess: in a program in YAML, an output that is an object with a secret in it is passed on as a whole with the secret,
# and is secret where it becomes a text.
# Seen on 2026-11-30 (Pulumi 3.259.0 and 3.276.0, pulumi-yaml 1.38.0): in the object the secret becomes {}, without a
# word, and fn::toJSON writes it in plain text, into the state and onto the terminal. The path of the secret itself
# passes it on as a secret, and so does an object that the program has put together.
. "$(dirname "$0")/common.bash"
host=$engines/yaml-1.38.0/bin
[ -x "$host/pulumi-language-yaml" ] || build_program "$host" pulumi-language-yaml \
  github.com/pulumi/pulumi-yaml 1.38.0 github.com/pulumi/pulumi-yaml/cmd/pulumi-language-yaml
path=$host:$path
use_sdk 3.276.0 # For the plugin.
use_plugin
cat >Pulumi.yaml <<'YAML'
name: finding
runtime: yaml
plugins:
  providers: [{ name: tap, path: ./plugin }]
variables:
  together: { name: hub, password: { fn::secret: hush } }
resources:
  thing: { type: tap:Thing, properties: { value: { name: hub, password: { fn::secret: hush } } } }
outputs:
  whole: ${thing.value}
  text: { fn::toJSON: "${thing.value}" }
  itself: ${thing.value.password}
  together: ${together}
YAML
shown() { pulumi stack output "$@" --json; }

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  quietly pulumi stack init "dev-$engine"
  quietly pulumi up --yes --skip-preview
  expect "the object" "$(shown whole --show-secrets | xargs)" "{ name: hub, password: {} }"
  expect "its text, not secret, and with the secret" "$(shown text | grep -c hush)" 1
  expect "the secret itself" "$(shown itself) $(shown itself --show-secrets)" '"[secret]" "hush"'
  expect "an object of the program" "$(shown together)" '"[secret]"'
done
