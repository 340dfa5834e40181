package main

import (
	"os"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/azure"
)

func sweepCommand() *cobra.Command {
	var subscription, kubeconfig, run string
	c := &cobra.Command{
		Use:   "sweep",
		Short: "Delete the clusters and resource groups that aborted runs left",
		Long: `Delete the clusters and resource groups that aborted runs left. With --kubeconfig, the Clusters in the namespaces of these runs are deleted
first, so that the provider of that management cluster does not create them again. Then every resource group with the tag capz-e2e is deleted.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			account, err := azure.ReadSettings(subscription, os.Getenv)
			if err != nil {
				return err
			}
			if kubeconfig != "" {
				if err := azure.DeleteClusters(c.Context(), c.OutOrStdout(), kubeconfig, run); err != nil {
					return err
				}
			}
			return azure.Sweep(c.Context(), c.OutOrStdout(), account, run, nil)
		},
	}
	c.Flags().StringVar(&subscription, "subscription", "", "the ID of the subscription")
	c.Flags().StringVar(&kubeconfig, "kubeconfig", "", "the management cluster of the runs, if it still exists")
	c.Flags().StringVar(&run, "run", "", "the name of one run (default all runs)")
	return c
}
