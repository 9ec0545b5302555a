#!/usr/bin/env bash
# Guess: modulePath in a schema's options for Go is where its generated packages are imported from.
# Seen on 2026-11-28 (pkg/v3 3.259.0 and 3.276.0): go.mod has that path, and the packages in it import each other
# by example.com, or by the schema's repository, so that they do not compile. Only importBasePath
# beside it, or the repository alone, moves both.
. "$(dirname "$0")/common.bash"

generate() { # LANGUAGE_OPTIONS REPOSITORY
  cat >main.go <<'GO'
package main

import (
	"fmt"
	"os"

	golang "github.com/pulumi/pulumi/pkg/v3/codegen/go"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
)

func main() {
	text := schema.PropertySpec{TypeSpec: schema.TypeSpec{Type: "string"}}
	spec := schema.PackageSpec{
		Name: "acme", Version: "1.0.0", Repository: os.Args[2],
		Meta:     &schema.MetadataSpec{SupportPack: true},
		Language: map[string]schema.RawMessage{"go": schema.RawMessage(os.Args[1])},
		Resources: map[string]schema.ResourceSpec{"acme:index:Thing": {
			InputProperties: map[string]schema.PropertySpec{"text": text},
		}},
	}
	noOthers := struct{ schema.Loader }{}
	bound, diagnostics, err := schema.BindSpec(spec, noOthers, schema.ValidationOptions{})
	if err != nil || diagnostics.HasErrors() {
		panic(fmt.Sprint(err, diagnostics))
	}
	files, err := golang.GeneratePackage("finding", bound, nil)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s\n%s", files["go.mod"], files["acme/thing.go"])
}
GO
  [ -x generator ] || quietly env CGO_ENABLED=0 go build -mod=mod -gcflags='all=-N -l' -o generator .
  ./generator "$@" >generated.txt
  module=$(sed -nE 's/^module (.*)/\1/p' generated.txt)
  imported=$(sed -nE 's|.*"(.*)/acme/internal"|\1|p' generated.txt)
}

for release in 3.259.0 3.276.0; do
  mkdir "../$release" && cd "../$release"
  printf 'module finding\n\ngo 1.26\n\nrequire github.com/pulumi/pulumi/pkg/v3 v%s\n' $release >go.mod
  echo "Generator $release"
  generate '{}' ''
  expect "with neither: module, imports" "$module, $imported" "example.com/pulumi-acme/sdk/go, example.com/pulumi-acme/sdk/go"
  generate '{"modulePath": "acme.dev/sdk"}' ''
  expect "with modulePath" "$module, $imported" "acme.dev/sdk, example.com/pulumi-acme/sdk/go"
  generate '{"modulePath": "acme.dev/sdk", "importBasePath": "acme.dev/sdk/acme"}' ''
  expect "with importBasePath beside it" "$module, $imported" "acme.dev/sdk, acme.dev/sdk"
  generate '{}' 'acme.dev/code'
  expect "with repository" "$module, $imported" "acme.dev/code/sdk/go, acme.dev/code/sdk/go"
done
