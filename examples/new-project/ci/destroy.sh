#!/bin/sh
# Deletes the objects of a stack if a rehearsal shows that the service allows it. If an object outside the
# stack still uses one of them, the script reports this before it deletes anything.
#
#   ci/destroy.sh STACK
set -eu

stack=${1:?ci/destroy.sh STACK}

npx pulumi-conversation rehearse --stack "$stack" --destroy
pulumi destroy --stack "$stack" --yes --non-interactive
