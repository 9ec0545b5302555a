#!/bin/sh
# Deletes the objects of a stack if a rehearsal shows that the service allows it. If an object outside the
# stack still uses one of them, the script reports this before it deletes anything.
#
#   ci/destroy.sh STACK
set -eu

stack=${1:?ci/destroy.sh STACK}

code=0
npx pulumi-conversation rehearse --stack "$stack" --destroy || code=$?
case $code in
  0) ;;
  4) echo "The run succeeds unless the service behaves differently than assumed, as shown above. Continuing." >&2 ;;
  *) exit "$code" ;;
esac
pulumi destroy --stack "$stack" --yes --non-interactive
