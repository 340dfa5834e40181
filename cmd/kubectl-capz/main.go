// Command kubectl-capz is the plugin of kubectl for people who run clusters on Azure: kubectl capz VERB.
package main

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"syscall"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// version is set by the linker.
var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	err := cli.NewCommand(&environment.Environment{
		Version: version, Transport: http.DefaultClient, RunProgram: runProgram, OpenFolder: openFolder,
		ClusterctlFolders: clusterctlFolders(), RunInteractive: runInteractive, Dial: dial, DialAgent: dialAgent, OpenTerminal: openTerminal, CreateFile: createFile, RemoveFile: os.Remove,
		OpenFile: func(name string) (io.ReadCloser, error) { return os.Open(name) },
		Identity: identity.Options{
			AuthorityHost:           os.Getenv("AZURE_AUTHORITY_HOST"),
			ResourceManagerEndpoint: os.Getenv("AZURE_RESOURCE_MANAGER_ENDPOINT"),
			ResourceManagerAudience: os.Getenv("AZURE_RESOURCE_MANAGER_AUDIENCE"),
			TokenFile:               os.Getenv("AZURE_FEDERATED_TOKEN_FILE"),
		},
	}).ExecuteContext(ctx)
	stop()
	if err != nil {
		if message := err.Error(); message != "" {
			fmt.Fprintln(text.NewWriter(os.Stderr), "kubectl capz:", message)
		}
		os.Exit(environment.ExitCode(err))
	}
}

// runProgram runs a program of the search path. An interrupt ends it. Variables of this program's environment replace those of the
// arguments, because the last value of a variable counts.
func runProgram(ctx context.Context, out io.Writer, variables []string, name string, arguments ...string) error {
	command := exec.CommandContext(ctx, name, arguments...)
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	command.Env = append(slices.Clone(variables), os.Environ()...)
	command.Stdout, command.Stderr = out, out
	return command.Run()
}

// openFolder returns the file system of a folder.
func openFolder(name string) (fs.FS, bool) {
	info, err := os.Stat(name)
	return os.DirFS(name), err == nil && info.IsDir()
}
