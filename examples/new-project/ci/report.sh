#!/bin/sh
# Writes, as Markdown, what a change will do to a stack: the preview, its calls and time, the drift and
# the rehearsal. Exits with 1 if the change cannot be applied, so that the pipeline can show the report
# first and then fail.
#
#   ci/report.sh STACK [MINUTES]      MINUTES: the longest time for a run
set -u

stack=${1:?ci/report.sh STACK [MINUTES]}
minutes=${2:-30}
here=$(dirname "$0")
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

block() { node "$here/part.mjs" block "$1" <"$work/out"; }
markdown() { node "$here/part.mjs" markdown <"$work/out"; }

# What Pulumi counts at the end of a preview. Only these words are taken; the rest is foreign text.
counts() {
  awk '/^Resources:$/ { found = "" }
    /^    [-+~=<>]* ?[0-9]+ (to (create|update|delete|replace|import|read|discard)|unchanged)$/ {
      sub(/^ +/, ""); found = found (found == "" ? "" : ", ") $0
    }
    END { print found == "" ? "done" : found }' "$work/out"
}

# Standard output holds what a command found before it failed; standard error holds the reason.
failure() {
  failed=1
  cat "$work/errors" >>"$work/out"
  block "$1"
}

printf '<!-- conversation %s -->\n## Stack `%s`\n\n' "$stack" "$stack"

if ! "$here/open-stack.sh" "$stack" >"$work/out" 2>&1; then
  block 'The stack <strong>cannot be opened</strong>'
  exit 1
fi

if pulumi preview --stack "$stack" --diff --non-interactive --color never >"$work/out" 2>&1; then
  block "Preview: $(counts)"
else
  failed=1
  block 'Preview: <strong>failed</strong>'
fi

npx pulumi-conversation forecast --stack "$stack" --max-minutes "$minutes" >"$work/out" 2>"$work/errors"
case $? in
  0) block "Forecast: within $minutes minutes" ;;
  3) failed=1; block "Forecast: <strong>longer than $minutes minutes</strong>" ;;
  *) failure 'Forecast: <strong>failed</strong>' ;;
esac

# 2: drift. 6: something could not be read, for example if the client may only read.
# The nightly run fails for both.
npx pulumi-conversation drift --stack "$stack" --markdown >"$work/out" 2>"$work/errors"
case $? in
  0 | 2 | 6) markdown ;;
  *) failure 'Drift: <strong>failed</strong>' ;;
esac

# 3: the service refuses the run.
npx pulumi-conversation rehearse --stack "$stack" >"$work/out" 2>"$work/errors"
case $? in
  0) block 'Rehearsal: the service will accept every step' ;;
  3) failed=1; block 'Rehearsal: <strong>the service will refuse a step</strong>' ;;
  *) failure 'Rehearsal: <strong>failed</strong>' ;;
esac

exit $failed
