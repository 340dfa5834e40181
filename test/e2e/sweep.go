package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/policy"
	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/azure"
)

// sweepOptions are the flags of sweep.
type sweepOptions struct {
	root, subscription, kubeconfig, run string
	allRuns                             bool
}

func sweepCommand() *cobra.Command {
	var o sweepOptions
	c := &cobra.Command{
		Use:   "sweep",
		Short: "Delete the clusters and resource groups that aborted runs left",
		Long: `Delete the clusters and resource groups that aborted runs left: those of --run, or with --all-runs those of every run, also of one that is
still at work. Without these flags, the runs that have resource groups are listed, and nothing is deleted.

With --kubeconfig, the Clusters in the namespaces of these runs are deleted first, so that the provider of that management cluster does not create
them again. Then their resource groups, which have the tag capz-e2e with the name of the run, are deleted.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return o.sweep(c.Context(), c.OutOrStdout(), nil) },
	}
	c.Flags().StringVar(&o.root, "root", "../..", "source tree")
	c.Flags().StringVar(&o.subscription, "subscription", "", "the ID of the subscription")
	c.Flags().StringVar(&o.kubeconfig, "kubeconfig", "",
		"the management cluster of the runs, if it still exists. A relative path begins at the source tree")
	c.Flags().StringVar(&o.run, "run", "", "the name of one run")
	c.Flags().BoolVar(&o.allRuns, "all-runs", false, "delete the resource groups of all runs, also of those that are still at work")
	c.MarkFlagsMutuallyExclusive("run", "all-runs")
	return c
}

// sweep deletes the clusters and resource groups of the selected runs. transport is nil outside of tests.
func (o sweepOptions) sweep(ctx context.Context, out io.Writer, transport policy.Transporter) error {
	account, err := azure.ReadSettings(o.subscription, os.Getenv)
	if err != nil {
		return err
	}
	root, err := filepath.Abs(o.root)
	if err != nil {
		return err
	}
	kubeconfig, err := resolveKubeconfig(root, o.kubeconfig)
	if err != nil {
		return err
	}
	if o.run == "" && !o.allRuns {
		return listRuns(ctx, out, account, transport)
	}
	if kubeconfig != "" {
		if err := azure.DeleteClusters(ctx, out, kubeconfig, o.run); err != nil {
			return err
		}
	}
	return azure.Sweep(ctx, out, account, o.run, transport)
}

// listRuns lists the runs with resource groups, and returns an error that names the flags that select them: one of the runs may still be at work.
func listRuns(ctx context.Context, out io.Writer, account azure.Settings, transport policy.Transporter) error {
	runs, err := azure.ListRuns(ctx, account, transport)
	if err != nil {
		return err
	}
	for _, run := range runs {
		fmt.Fprintf(out, "run %s: %d resource groups\n", run.Name, run.Groups)
	}
	if len(runs) == 0 {
		fmt.Fprintf(out, "no resource group of subscription %s has the tag %s\n", account.Subscription, azure.Tag)
	}
	return errors.New("no run is selected, so nothing is deleted. Name one with --run NAME, or select all with --all-runs, " +
		"also those that are still at work")
}
