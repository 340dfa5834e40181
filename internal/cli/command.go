// Package cli is the command line of kubectl-capz. Each command is a package of its own below this one or of the feature that it starts;
// this package only puts them together.
package cli

import (
	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/internal/adoption/command"
	aksengine "sigs.k8s.io/cluster-api-provider-azure/internal/aksengine/command"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	doctor "sigs.k8s.io/cluster-api-provider-azure/internal/doctor/command"
	importing "sigs.k8s.io/cluster-api-provider-azure/internal/importing/command"
	inspect "sigs.k8s.io/cluster-api-provider-azure/internal/inspect/command"
	migrate "sigs.k8s.io/cluster-api-provider-azure/internal/migration/command"
	preview "sigs.k8s.io/cluster-api-provider-azure/internal/preview/command"
)

// NewCommand returns the command kubectl-capz with its commands.
func NewCommand(e *environment.Environment) *cobra.Command {
	root := &cobra.Command{
		Use:   "kubectl-capz",
		Short: "Preview, migrate, adopt and inspect clusters on Azure",
		Long: "Previews the changes that manifests cause in Azure, migrates management clusters from the established provider and back, writes manifests for existing clusters, and collects logs.\n" +
			"Exit codes: 0 after success without findings, 1 after an error, 2 if a command that only reads has findings, such as changes or failed checks.",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl capz"},
		Version:     e.Version, SilenceUsage: true, SilenceErrors: true,
	}
	e.AddFlags(root.PersistentFlags())
	root.AddCommand(command.NewCommand(command.Options{
		Version: e.Version, Identity: e.Identity, Transport: e.Transport, Credential: e.Credential, Kubernetes: e.RESTConfig,
	}))
	root.AddCommand(preview.NewCommand(e), doctor.NewCommand(e), importing.NewCommand(e), migrate.NewCommand(e), newConvertCommand(e))
	root.AddCommand(inspect.NewLogsCommand(e), inspect.NewSSHCommand(e), inspect.NewBundleCommand(e))
	root.InitDefaultCompletionCmd() // It is a group as well, which cobra adds later otherwise.
	refuseUnknownVerbs(root)
	return root
}

// newConvertCommand returns the command convert.
func newConvertCommand(e *environment.Environment) *cobra.Command {
	convert := &cobra.Command{
		Use:   "convert",
		Short: "Convert the description of a cluster to manifests of other kinds",
		Long: "Converts API models of aks-engine to manifests of a self-managed cluster, and moves AKS clusters between the AzureManaged and the\n" +
			"AzureASOManaged kinds.",
	}
	former := command.NewTransferCommand(e)
	former.Use, former.Hidden = command.FormerTransferCommand+" CLUSTER", true
	convert.AddCommand(aksengine.NewCommand(e), command.NewTransferCommand(e), former)
	return convert
}
