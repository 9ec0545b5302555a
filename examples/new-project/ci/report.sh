#!/bin/sh
# Writes, as Markdown, what a change will do to a stack: the preview, its calls and time, what was changed
# outside, and the rehearsal. Ends with 1 where the change cannot be applied as it is, so that the
# pipeline can show the report first and fail then.
#
#   ci/report.sh STACK [MINUTES]      MINUTES: how long a run may take
set -u

stack=${1:?ci/report.sh STACK [MINUTES]}
minutes=${2:-30}
failed=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# A comment holds 65,536 characters: each part gets its share, and its end is what counts.
shortened() { tail -c 14000 "$1"; }

block() {
  printf '<details><summary>%s</summary>\n\n```\n' "$1"
  shortened "$work/out"
  printf '\n```\n\n</details>\n\n'
}

printf '<!-- conversation %s -->\n## Stack `%s`\n\n' "$stack" "$stack"

if ! "$(dirname "$0")/open-stack.sh" "$stack" >"$work/out" 2>&1; then
  block 'The stack **cannot be opened**'
  exit 1
fi

if pulumi preview --stack "$stack" --diff --non-interactive --color never >"$work/out" 2>&1; then
  block "Preview: $(grep -E '^ +[-+~].* to |unchanged' "$work/out" | tr -s ' ' | tr '\n' ',' | sed 's/^ //;s/,$//')"
else
  failed=1
  block 'Preview: **failed**'
fi

npx pulumi-conversation forecast --stack "$stack" --max-minutes "$minutes" >"$work/out" 2>&1
case $? in
  0) block "Forecast: within $minutes minutes" ;;
  3) failed=1; block "Forecast: **longer than $minutes minutes**" ;;
  *) failed=1; block 'Forecast: **failed**' ;;
esac

npx pulumi-conversation drift --stack "$stack" --markdown >"$work/drift" 2>"$work/errors"
if [ $? -eq 1 ]; then
  cp "$work/errors" "$work/out"
  failed=1
  block 'Drift: **failed**'
else
  shortened "$work/drift"
  printf '\n\n'
fi

npx pulumi-conversation rehearse --stack "$stack" --markdown >"$work/rehearsal" 2>"$work/errors" || failed=1
if [ -s "$work/rehearsal" ]; then
  shortened "$work/rehearsal"
else
  cp "$work/errors" "$work/out"
  block 'Rehearsal: **failed**'
fi

exit $failed
