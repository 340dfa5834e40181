// Command adopt is the command adopt of kubectl-capz as a program of its own. The next release does not have it.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"syscall"

	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/command"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// version is set by the linker.
var version = "dev"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(text.NewWriter(os.Stderr), "adopt:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	// A second signal ends the program at once.
	context.AfterFunc(ctx, stop)
	fmt.Fprintln(os.Stderr, "Use kubectl capz adopt instead. The next release does not have the program adopt.")
	adopt := command.NewCommand(command.Options{
		Version: version, Transport: http.DefaultClient, Kubernetes: ctrl.GetConfig,
		Identity: identity.Options{
			AuthorityHost:           os.Getenv("AZURE_AUTHORITY_HOST"),
			ResourceManagerEndpoint: os.Getenv("AZURE_RESOURCE_MANAGER_ENDPOINT"),
			ResourceManagerAudience: os.Getenv("AZURE_RESOURCE_MANAGER_AUDIENCE"),
		},
	})
	return adopt.ExecuteContext(ctx)
}
