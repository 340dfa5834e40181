// Command manager runs the controllers and webhooks of Cluster API Provider Azure.
package main

import (
	"flag"
	"fmt"
	"os"

	"github.com/spf13/pflag"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsv1 "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/setup"
)

// version is set by the linker.
var version = "dev"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run() error {
	options := &setup.Options{
		Version: version,
		Identity: identity.Options{
			AuthorityHost:           os.Getenv("AZURE_AUTHORITY_HOST"),
			ResourceManagerEndpoint: os.Getenv("AZURE_RESOURCE_MANAGER_ENDPOINT"),
			ResourceManagerAudience: os.Getenv("AZURE_RESOURCE_MANAGER_AUDIENCE"),
			TokenFile:               os.Getenv("AZURE_FEDERATED_TOKEN_FILE"),
			SubscriptionID:          os.Getenv("AZURE_SUBSCRIPTION_ID"),
		},
	}
	logOptions := logs.NewOptions()
	logsv1.AddFlags(logOptions, pflag.CommandLine)
	options.AddFlags(pflag.CommandLine)
	pflag.CommandLine.SetNormalizeFunc(cliflag.WordSepNormalizeFunc)
	pflag.CommandLine.AddGoFlagSet(flag.CommandLine)
	if err := pflag.CommandLine.Set("v", "2"); err != nil {
		return err
	}
	pflag.Parse()
	if err := logsv1.ValidateAndApply(logOptions, nil); err != nil {
		return err
	}
	ctrl.SetLogger(klog.Background())

	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	return setup.Run(ctrl.SetupSignalHandler(), config, options)
}
