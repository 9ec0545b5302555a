# Sourced by the scripts beside it: a temporary folder, Pulumi of a pinned version, and expectations.
#
#   use_engine 3.259.0          puts that `pulumi` and the language host for Node.js first on PATH
#   use_sdk 3.276.0             makes a project for program.js with @pulumi/pulumi of that version
#   use_package undici 8.12.4   installs that package
#   use_node 24.21.0            puts that Node.js first on PATH
#   serve(answer)               in ./server.js: an HTTP server on a free port, and its URL
#   use_plugin                  gives it `plugin.js`, whose class is Thing in ./thing.js
#   quietly COMMAND…            shows what it printed only if it fails
#   expect "what it is" "$seen" "$wanted"
#
# Engines are built from their published Go modules (some minutes each), with Go 1.26. With ENGINES set
# to a folder, they are kept there, in VERSION/bin, and used again.
set -euo pipefail

scripts=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
engines=${ENGINES:-$folder/engines}
export PULUMI_BACKEND_URL=file://$folder/backend PULUMI_HOME=$folder/home
export PULUMI_CONFIG_PASSPHRASE=finding PULUMI_SKIP_UPDATE_CHECK=true NO_COLOR=1
mkdir -p "$folder/backend" "$folder/work"
path=$PATH
cd "$folder/work"
cp "$scripts/server.js" .

quietly() {
  "$@" >"$folder/printed" 2>&1 || { cat "$folder/printed" >&2; exit 1; }
}

build_program() { # FOLDER NAME MODULE VERSION PACKAGE
  mkdir -p "$folder/build/$2" && pushd "$folder/build/$2" >/dev/null
  printf 'module build\n\ngo 1.26\n\nrequire %s v%s\n' "$3" "$4" >go.mod
  local version=github.com/pulumi/pulumi/sdk/v3/go/common/version.Version
  CGO_ENABLED=0 go build -mod=mod -tags osusergo,grpcnotrace -gcflags='all=-N -l' \
    -ldflags "-s -w -X $version=v$4" -o "$1/$2" "$5"
  popd >/dev/null
}

use_engine() {
  local bin=$engines/$1/bin pulumi=github.com/pulumi/pulumi
  [ -x "$bin/pulumi" ] || build_program "$bin" pulumi $pulumi/pkg/v3 "$1" $pulumi/pkg/v3/cmd/pulumi
  # The last tagged module of this host; it works with newer engines.
  [ -x "$bin/pulumi-language-nodejs" ] || build_program "$bin" pulumi-language-nodejs \
    $pulumi/sdk/v3 3.68.0 $pulumi/sdk/v3/nodejs/cmd/pulumi-language-nodejs
  export PATH=$bin:$path
  echo "Engine $(pulumi version)"
}

use_package() {
  quietly npm install --no-audit --no-fund --prefix . "$1@$2"
  echo "$1 $2"
}

use_node() {
  local platform=node-$(node -p 'process.platform + "-" + process.arch')
  quietly npm install --no-audit --no-fund --prefix "$folder/node-$1" "$platform@$1"
  export PATH=$folder/node-$1/node_modules/$platform/bin:$path
  echo "Node.js $(node --version)"
}

use_sdk() {
  use_package @pulumi/pulumi "$1" >/dev/null
  install -m 755 node_modules/@pulumi/pulumi/pulumi-resource-pulumi-nodejs .
  path=$folder/work:$path
  printf 'name: finding\nruntime: nodejs\nmain: program.js\n' >Pulumi.yaml
  echo "SDK $1"
}

expect() {
  if [ "$2" = "$3" ]; then echo "  $1: $2"; else
    echo "  $1: seen \"$2\", stated \"$3\"" >&2
    exit 1
  fi
}

use_plugin() {
  export WORK=$folder/work CALLS=$folder/calls
  mkdir plugin
  printf '#!/bin/sh\nexec node "%s" "$@"\n' "$scripts/plugin.js" >plugin/pulumi-resource-tap
  chmod 755 plugin/pulumi-resource-tap
  cat >>Pulumi.yaml <<'YAML'
plugins:
  providers:
    - name: tap
      path: ./plugin
YAML
  cat >thing.js <<'JS'
const pulumi = require("@pulumi/pulumi");
module.exports = class Thing extends pulumi.CustomResource {
  constructor(name, args, options) {
    super("tap:index:Thing", name, { value: undefined, ...args }, options);
  }
};
JS
}
