#!/bin/sh
# Writes, as Markdown, what a change will do to a stack: the preview, its calls and time, what was changed
# outside, and the rehearsal. Ends with 1 where the change cannot be applied as it is, so that the
# pipeline can show the report first and fail then.
#
#   ci/report.sh STACK [MINUTES]      MINUTES: how long a run may take
set -u

stack=${1:?ci/report.sh STACK [MINUTES]}
minutes=${2:-30}
here=$(dirname "$0")
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

block() { node "$here/part.mjs" block "$1" <"$work/out"; }
markdown() { node "$here/part.mjs" markdown <"$work/out"; }

# What Pulumi counts at the end of a preview. Only these words are taken: others wrote the rest.
counts() {
  awk '/^Resources:$/ { found = "" }
    /^    [-+~=<>]* ?[0-9]+ (to (create|update|delete|replace|import|read|discard)|unchanged)$/ {
      sub(/^ +/, ""); found = found (found == "" ? "" : ", ") $0
    }
    END { print found == "" ? "done" : found }' "$work/out"
}

# What a command found before it failed is on standard output; why it failed is on standard error.
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
  4) failed=1; block 'Forecast: <strong>a deletion will be refused</strong>' ;;
  *) failure 'Forecast: <strong>failed</strong>' ;;
esac

# 2: something was changed outside. 1 with a report: a kind could not be read, as with a client that may only read.
# The nightly run turns red for both.
npx pulumi-conversation drift --stack "$stack" --markdown >"$work/out" 2>"$work/errors"
case $? in
  0 | 2 | 4) markdown ;;
  1) if [ -s "$work/out" ]; then markdown; else failure 'Drift: <strong>failed</strong>'; fi ;;
  *) failure 'Drift: <strong>failed</strong>' ;;
esac

# 3: it will be refused. 4: it goes through, unless the service behaves otherwise than is assumed; the report says how.
npx pulumi-conversation rehearse --stack "$stack" --markdown >"$work/out" 2>"$work/errors"
case $? in
  0 | 4) markdown ;;
  3) failed=1; markdown ;;
  *) failure 'Rehearsal: <strong>failed</strong>' ;;
esac

exit $failed
