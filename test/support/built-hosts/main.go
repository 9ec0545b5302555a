// Command pulumi-language-nodejs is a language host for tests, for machines that have Pulumi from its published
// Go modules alone. Pulumi's own hosts have no tagged modules after release 3.68, and those of 3.68 generate no code
// and run no plugins.
//
// It only joins what Pulumi publishes with the engine's release: npm, the scripts that run programs and plugins, and
// the generators of code.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
)

func main() {
	flag.String("tracing", "", "ignored")
	flag.Parse()
	if err := serve(flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// Serves the engine until it is gone.
func serve(engine string) error {
	ended := make(chan bool)
	if engine != "" {
		end := func() { close(ended) }
		if err := rpcutil.Healthcheck(context.Background(), engine, 5*time.Minute, end); err != nil {
			return err
		}
	}
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{
		Cancel: ended,
		Init: func(server *grpc.Server) error {
			pulumirpc.RegisterLanguageRuntimeServer(server, &nodeHost{engine: engine})
			return nil
		},
	})
	if err != nil {
		return err
	}
	fmt.Println(handle.Port)
	return <-handle.Done
}

// The exit code of a program that ended; an error if it did not even start.
func exitCode(err error) (int, error) {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode(), nil
	}
	return 0, err
}

// The exit code of a program that has explained itself already.
const explained = 32

// Runs a program with the configuration of a request.
func runProgram(command *exec.Cmd, request *pulumirpc.RunRequest) (*pulumirpc.RunResponse, error) {
	config, err := json.Marshal(request.Config)
	if err != nil {
		return nil, err
	}
	secretKeys, err := json.Marshal(append([]string{}, request.ConfigSecretKeys...))
	if err != nil {
		return nil, err
	}
	command.Env = append(command.Environ(),
		"PULUMI_CONFIG="+string(config), "PULUMI_CONFIG_SECRET_KEYS="+string(secretKeys))
	command.Stdout, command.Stderr = os.Stdout, os.Stderr
	code, err := exitCode(command.Run())
	switch {
	case err != nil:
		return nil, err
	case code == explained:
		return &pulumirpc.RunResponse{Bail: true}, nil
	case code != 0:
		return &pulumirpc.RunResponse{Error: fmt.Sprintf("the program ended with exit code %d", code)}, nil
	default:
		return &pulumirpc.RunResponse{}, nil
	}
}
