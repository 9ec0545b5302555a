#!/bin/sh
# Deletes the objects of a stack where a rehearsal says that the service will let it: users outside the stack
# would make it refuse, which is said before anything is deleted.
#
#   ci/destroy.sh STACK
set -eu

stack=${1:?ci/destroy.sh STACK}

code=0
npx pulumi-conversation rehearse --stack "$stack" --destroy || code=$?
case $code in
  0) ;;
  4) echo "It goes through, unless the service behaves otherwise than is assumed, as said above: going on." >&2 ;;
  *) exit "$code" ;;
esac
pulumi destroy --stack "$stack" --yes --non-interactive
