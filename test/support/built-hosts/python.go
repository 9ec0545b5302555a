package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"github.com/pulumi/pulumi/sdk/v3/python/toolchain"
	"google.golang.org/grpc"
)

// Runs programs in Python, and generates packages and programs for them.
type pythonHost struct {
	anyHost
	engine string
	// Pulumi's script that runs a program.
	script string
}

func toolchainOf(info *pulumirpc.ProgramInfo) (toolchain.Toolchain, error) {
	virtualenv, _ := info.GetOptions().AsMap()["virtualenv"].(string)
	return toolchain.ResolveToolchain(toolchain.PythonOptions{
		Toolchain:  toolchain.Pip,
		Root:       info.GetRootDirectory(),
		ProgramDir: info.GetProgramDirectory(),
		Virtualenv: virtualenv,
	})
}

func (h *pythonHost) InstallDependencies(
	request *pulumirpc.InstallDependenciesRequest,
	stream grpc.ServerStreamingServer[pulumirpc.InstallDependenciesResponse],
) error {
	tools, err := toolchainOf(request.Info)
	if err != nil {
		return err
	}
	closer, out, errs, err := rpcutil.MakeInstallDependenciesStreams(stream, request.IsTerminal)
	if err != nil {
		return err
	}
	defer closer.Close()
	return tools.InstallDependencies(
		stream.Context(), request.Info.ProgramDirectory, request.UseLanguageVersionTools, true, out, errs)
}

// Every installed package that stands for a plugin holds this file.
const findPlugins = `
import importlib.metadata as installed, json
files = [f for d in installed.distributions() for f in d.files or [] if f.name == "pulumi-plugin.json"]
print(json.dumps([json.loads(f.locate().read_text()) for f in files]))`

func (h *pythonHost) GetRequiredPackages(
	ctx context.Context, request *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	tools, err := toolchainOf(request.Info)
	if err != nil {
		return nil, err
	}
	if err := tools.EnsureVenv(ctx, request.Info.ProgramDirectory, false, true, os.Stderr, os.Stderr); err != nil {
		return nil, err
	}
	command, err := tools.Command(ctx, "-c", findPlugins)
	if err != nil {
		return nil, err
	}
	listed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("listing the installed packages: %w", err)
	}
	var found []plugin.PulumiPluginJSON
	if err := json.Unmarshal(listed, &found); err != nil {
		return nil, fmt.Errorf("listing the installed packages: %w", err)
	}
	response := &pulumirpc.GetRequiredPackagesResponse{}
	for _, each := range found {
		if each.Resource {
			response.Packages = append(response.Packages, &pulumirpc.PackageDependency{
				Kind: "resource", Name: each.Name, Version: each.Version, Server: each.Server,
			})
		}
	}
	return response, nil
}

func (h *pythonHost) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	tools, err := toolchainOf(request.Info)
	if err != nil {
		return nil, err
	}
	if err := tools.ValidateVenv(ctx); err != nil {
		return nil, err
	}
	command, err := tools.Command(ctx, h.programArguments(request)...)
	if err != nil {
		return nil, err
	}
	return runProgram(command, request)
}

// What the script that runs a program is called with.
func (h *pythonHost) programArguments(request *pulumirpc.RunRequest) []string {
	arguments := []string{h.script}
	for _, option := range [][2]string{
		{"monitor", request.MonitorAddress},
		{"engine", h.engine},
		{"project", request.Project},
		{"stack", request.Stack},
		{"organization", request.Organization},
		{"root_directory", request.Info.RootDirectory},
		{"pwd", request.Pwd},
		{"dry_run", strconv.FormatBool(request.DryRun)},
		{"parallel", strconv.Itoa(int(request.Parallel))},
	} {
		if option[1] != "" {
			arguments = append(arguments, "--"+option[0], option[1])
		}
	}
	return append(append(arguments, request.Info.EntryPoint), request.Args...)
}

func (h *pythonHost) Link(ctx context.Context, request *pulumirpc.LinkRequest) (*pulumirpc.LinkResponse, error) {
	tools, err := toolchainOf(request.Info)
	if err != nil {
		return nil, err
	}
	paths := map[string]string{}
	said := []string{"Import it in your program:"}
	for _, each := range request.Packages {
		name := "pulumi_" + strings.ReplaceAll(each.Package.Name, "-", "_")
		paths[name] = each.Path
		said = append(said, "  import "+name)
	}
	if err := tools.LinkPackages(ctx, paths); err != nil {
		return nil, err
	}
	return &pulumirpc.LinkResponse{ImportInstructions: strings.Join(said, "\n")}, nil
}
