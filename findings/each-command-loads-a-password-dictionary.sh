#!/usr/bin/env bash
# Guess: `pulumi version`, which prints a constant, costs what starting a Go program costs.
# Seen on 2026-11-28: with Pulumi 3.259.0 and 3.276.0, every command first parses the dictionaries of zxcvbn-go,
# with which `config set` judges whether a value looks like a secret: more than a third of what all
# initializers allocate, and of the time they take. 3.259.0 has two copies of it.
. "$(dirname "$0")/common.bash"

for engine in 3.259.0 3.276.0; do
  use_engine $engine
  GODEBUG=inittrace=1 pulumi version 2>trace >printed
  # init PACKAGE @AT ms, TAKES ms clock, SIZE bytes, COUNT allocs
  expect "most is allocated by" "$(grep '^init ' trace | sort -k8,8nr | awk 'NR == 1 { sub(".*/zxcvbn", "zxcvbn", $2); print $2 }')" \
    zxcvbn-go/frequency
  expect "zxcvbn-go's part of all allocations" "$(awk '/^init / { all += $8; if ($2 ~ /zxcvbn-go/) part += $8 }
    END { print (part > all / 3 ? "more" : "less") " than a third" }' trace)" "more than a third"
done
