#!/bin/sh
# Applies a stack if the forecast says that the run ends in time: an interrupted run needs a repair.
# With smokeTest set in the stack's configuration, the smoke test then sends one message to the account.
#
#   ci/deploy.sh STACK [MINUTES]
set -eu

stack=${1:?ci/deploy.sh STACK [MINUTES]}
minutes=${2:-30}

"$(dirname "$0")/open-stack.sh" "$stack" >&2
npx pulumi-conversation forecast --stack "$stack" --max-minutes "$minutes"
pulumi up --stack "$stack" --yes --non-interactive
if [ "$(pulumi config get smokeTest --stack "$stack" 2>/dev/null)" = true ]; then
  account=$(pulumi stack output accountId --stack "$stack")
  node "$(dirname "$0")/smoke-test.mjs" "$account"
fi
