// Command manager runs the controllers and webhooks of Cluster API Provider Azure.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/pflag"
	clientfeatures "k8s.io/client-go/features"
	cliflag "k8s.io/component-base/cli/flag"
	"k8s.io/component-base/logs"
	logsv1 "k8s.io/component-base/logs/api/v1"
	_ "k8s.io/component-base/logs/json/register"
	"k8s.io/klog/v2"
	ctrl "sigs.k8s.io/controller-runtime"

	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/setup"
	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/quiet"
	"sigs.k8s.io/cluster-api-provider-azure/internal/setup/redact"
	"sigs.k8s.io/cluster-api-provider-azure/internal/tracing"
)

// version is set by the linker.
var version = "dev"

// migrateCRDs is the command of an init container of the established provider, which uses the manager's image.
const migrateCRDs = "migrate-aso-crds"

func main() {
	switch err := run(os.Args[1:]); {
	case errors.Is(err, pflag.ErrHelp):
	case err != nil:
		fmt.Fprintln(os.Stderr, "manager:", err)
		os.Exit(1)
	}
}

func run(arguments []string) error {
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
	fs, err := setup.NewFlags(options, logOptions)
	if err != nil {
		return err
	}
	fs.Usage = func() { printHelp(os.Stderr, fs) }
	if err := fs.Parse(arguments); err != nil {
		return fmt.Errorf("%w (--help lists the flags)", err)
	}
	if tell, err := fs.GetBool("version"); err != nil || tell {
		fmt.Println(version)
		return err
	}
	// client-go logs each of its feature gates, at a level that is on by default, when it reads them for the first time. It does so here,
	// before the level is set.
	clientfeatures.FeatureGates().Enabled(clientfeatures.WatchListClient)
	if err := logsv1.ValidateAndApply(logOptions, nil); err != nil {
		return err
	}
	ctrl.SetLogger(quiet.Logger(redact.Install()))
	if fs.Arg(0) == migrateCRDs {
		klog.Background().Info("Nothing to migrate: the CRDs of the Azure Service Operator are not changed")
		return nil
	}
	if fs.NArg() > 0 {
		// "--leader-elect true" leaves "true" as an argument. The established provider ignores it, so a Deployment with it must
		// start.
		klog.Background().Info("Ignored arguments that are not flags. Write the value of a flag after an equals sign", "arguments", fs.Args())
	}

	if options.Traces, err = tracing.ReadOptions(os.Getenv, options.EnableTracing, version); err != nil {
		return fmt.Errorf("traces: %w", err)
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	return setup.Run(ctrl.SetupSignalHandler(), config, options)
}

// printHelp prints the flags by their purpose.
func printHelp(out io.Writer, fs *pflag.FlagSet) {
	const columns = 140
	fmt.Fprint(out, "Runs the controllers and webhooks of Cluster API Provider Azure.\n\nUsage:\n  manager [flags]\n")
	cliflag.PrintSections(out, *setup.GroupFlags(fs), columns)
}
