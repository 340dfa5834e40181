// Command adopt is the verb adopt of kubectl-capz under its name of before. It is kept for one release.
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
	fmt.Fprintln(os.Stderr, "adopt is a verb of kubectl-capz now: kubectl capz adopt. The next release has only the verb.")
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
