package main

import (
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/go/common/version"
	"github.com/pulumi/pulumi/sdk/v3/nodejs/npm"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

// Runs programs and plugins that are written for Node.js. Unlike the host of release 3.68, which stands between a
// program and the engine, it leaves a program every call that its SDK knows.
type nodeHost struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	engine string
}

func (nodeHost) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{Version: version.Version}, nil
}

func (nodeHost) GetRequiredPackages(
	context.Context, *pulumirpc.GetRequiredPackagesRequest,
) (*pulumirpc.GetRequiredPackagesResponse, error) {
	return &pulumirpc.GetRequiredPackagesResponse{}, nil
}

func (nodeHost) InstallDependencies(
	request *pulumirpc.InstallDependenciesRequest,
	stream grpc.ServerStreamingServer[pulumirpc.InstallDependenciesResponse],
) error {
	closer, out, errs, err := rpcutil.MakeInstallDependenciesStreams(stream, request.IsTerminal)
	if err != nil {
		return err
	}
	defer closer.Close()
	_, err = npm.Install(
		stream.Context(), npm.NpmPackageManager, request.Info.ProgramDirectory, request.IsPlugin, out, errs)
	return err
}

// A script of Pulumi's SDK, as a program or plugin in a folder finds it.
func sdkScript(ctx context.Context, name, folder string) (string, error) {
	const look = `console.log(require.resolve("@pulumi/pulumi/cmd/" + process.argv[1], { paths: [process.argv[2]] }))`
	found, err := exec.CommandContext(ctx, "node", "-e", look, name, folder).Output()
	if err != nil {
		return "", fmt.Errorf("looking for @pulumi/pulumi from %s: %w", folder, err)
	}
	return strings.TrimSpace(string(found)), nil
}

func (nodeHost) RunPlugin(
	request *pulumirpc.RunPluginRequest, stream grpc.ServerStreamingServer[pulumirpc.RunPluginResponse],
) error {
	folder := request.Info.ProgramDirectory
	script, err := sdkScript(stream.Context(), "run-plugin", folder)
	if err != nil {
		return err
	}
	closer, out, errs, err := rpcutil.MakeRunPluginStreams(stream, false)
	if err != nil {
		return err
	}
	// As in Pulumi's own host, the engine's word ends the process without a signal that it could handle.
	command := exec.CommandContext(stream.Context(), "node", append([]string{script, folder}, request.Args...)...)
	command.Dir, command.Env = request.Pwd, request.Env
	command.Stdout, command.Stderr = out, errs
	code, err := exitCode(command.Run())
	if closed := closer.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	return stream.Send(&pulumirpc.RunPluginResponse{
		Output: &pulumirpc.RunPluginResponse_Exitcode{Exitcode: int32(code)},
	})
}

func (h *nodeHost) Run(ctx context.Context, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	folder := request.Info.ProgramDirectory
	script, err := sdkScript(ctx, "run", folder)
	if err != nil {
		return nil, err
	}
	arguments := []string{
		script, "--monitor", request.MonitorAddress, "--engine", h.engine, "--project", request.Project,
		"--stack", request.Stack, "--organization", request.Organization, "--pwd", folder,
		"--root-directory", request.Info.RootDirectory, "--parallel", strconv.Itoa(int(request.Parallel)),
	}
	if request.DryRun {
		arguments = append(arguments, "--dry-run")
	}
	command := exec.CommandContext(ctx, "node", append(append(arguments, request.Info.EntryPoint), request.Args...)...)
	command.Dir = folder
	return runProgram(command, request)
}
