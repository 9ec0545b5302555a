#!/bin/sh
# Exits with 1 if a stack cannot be opened, such as on the first run, and says what to do.
#
#   ci/open-stack.sh STACK
set -u

stack=${1:?ci/open-stack.sh STACK}

said=$(pulumi stack export --stack "$stack" --non-interactive 2>&1 >/dev/null) && exit 0
printf '%s\n' "$said"
case $said in
  *"no stack named"*)
    echo "The backend in PULUMI_BACKEND_URL has no stack $stack. Create it once, with the same backend:"
    echo "pulumi stack init $stack. Then set its configuration and commit Pulumi.$stack.yaml."
    ;;
esac
exit 1
