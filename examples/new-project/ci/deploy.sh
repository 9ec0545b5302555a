#!/bin/sh
# Applies a stack if the forecast says that the run ends in time: an interrupted run needs a repair.
# The smoke test of the program (smokeTest in the stack's configuration) then sends one message.
#
#   ci/deploy.sh STACK [MINUTES]
set -eu

stack=${1:?ci/deploy.sh STACK [MINUTES]}
minutes=${2:-30}

"$(dirname "$0")/open-stack.sh" "$stack" >&2
npx pulumi-conversation forecast --stack "$stack" --max-minutes "$minutes"
pulumi up --stack "$stack" --yes --non-interactive
