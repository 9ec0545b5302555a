package main

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/hcl2/syntax"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// A loader of schemas that asks the engine, and what closes it.
func loaderAt(target string) (schema.ReferenceLoader, io.Closer, error) {
	client, err := schema.NewLoaderClient(target)
	if err != nil {
		return nil, nil, err
	}
	return schema.NewCachedLoader(client), client, nil
}

func (nodeHost) GeneratePackage(
	_ context.Context, request *pulumirpc.GeneratePackageRequest,
) (*pulumirpc.GeneratePackageResponse, error) {
	loader, closer, err := loaderAt(request.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	var spec schema.PackageSpec
	if err := json.Unmarshal([]byte(request.Schema), &spec); err != nil {
		return nil, err
	}
	bound, found, err := schema.BindSpec(spec, loader, schema.ValidationOptions{AllowDanglingReferences: true})
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GeneratePackageResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(found)}
	if found.HasErrors() {
		return response, nil
	}
	files, err := nodejs.GeneratePackage("pulumi-language-nodejs", bound, request.ExtraFiles, nil, request.Local, loader)
	if err != nil {
		return nil, err
	}
	for name, content := range files {
		path := filepath.Join(request.Directory, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(path, content, 0o644); err != nil {
			return nil, err
		}
	}
	return response, nil
}

func (nodeHost) GenerateProgram(
	_ context.Context, request *pulumirpc.GenerateProgramRequest,
) (*pulumirpc.GenerateProgramResponse, error) {
	loader, closer, err := loaderAt(request.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	parser := syntax.NewParser()
	for name, text := range request.Source {
		if err := parser.ParseFile(strings.NewReader(text), name); err != nil {
			return nil, err
		}
	}
	if parser.Diagnostics.HasErrors() {
		return nil, parser.Diagnostics
	}
	options := []pcl.BindOption{pcl.PreferOutputVersionedInvokes}
	if !request.Strict {
		options = append(options, pcl.NonStrictBindOptions()...)
	}
	program, found, err := pcl.BindProgram(parser.Files, loader, options...)
	if err != nil {
		return nil, err
	}
	response := &pulumirpc.GenerateProgramResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(found)}
	if found.HasErrors() {
		return response, nil
	}
	source, more, err := nodejs.GenerateProgram(program)
	if err != nil {
		return nil, err
	}
	response.Source = source
	response.Diagnostics = append(response.Diagnostics, plugin.HclDiagnosticsToRPCDiagnostics(more)...)
	return response, nil
}
