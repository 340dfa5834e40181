// Command kubectl-capz is the plugin of kubectl for people who run clusters on Azure: kubectl capz VERB.
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
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
	err := cli.NewCommand(&environment.Environment{
		Version: version, Transport: http.DefaultClient,
		Identity: identity.Options{
			AuthorityHost:           os.Getenv("AZURE_AUTHORITY_HOST"),
			ResourceManagerEndpoint: os.Getenv("AZURE_RESOURCE_MANAGER_ENDPOINT"),
			ResourceManagerAudience: os.Getenv("AZURE_RESOURCE_MANAGER_AUDIENCE"),
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
