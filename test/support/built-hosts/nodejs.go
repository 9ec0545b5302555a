package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	"github.com/pulumi/pulumi/sdk/v3/nodejs/npm"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

// Runs plugins that are written for Node.js, after it has installed their packages.
type nodeHost struct {
	anyHost
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

// The script of Pulumi's SDK that starts plugins, as a plugin in a folder finds it.
func pluginScript(ctx context.Context, folder string) (string, error) {
	const look = `console.log(require.resolve("@pulumi/pulumi/cmd/run-plugin", { paths: [process.argv[1]] }))`
	found, err := exec.CommandContext(ctx, "node", "-e", look, folder).Output()
	if err != nil {
		return "", fmt.Errorf("looking for @pulumi/pulumi from %s: %w", folder, err)
	}
	return strings.TrimSpace(string(found)), nil
}

func (nodeHost) RunPlugin(
	request *pulumirpc.RunPluginRequest, stream grpc.ServerStreamingServer[pulumirpc.RunPluginResponse],
) error {
	folder := request.Info.ProgramDirectory
	script, err := pluginScript(stream.Context(), folder)
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
