package main

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/catalog"
	"sigs.k8s.io/cluster-api-provider-azure/test/e2e/results"
)

func recordCommand() *cobra.Command {
	var o options
	var commit string
	c := &cobra.Command{
		Use:   "record REPORT...",
		Short: "Record the results of reports, such as those in out/e2e/artifacts/reports",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, reports []string) error {
			root, err := filepath.Abs(o.root)
			if err != nil {
				return err
			}
			o.root = root
			if err := catalog.CheckCloud(o.cloud); err != nil {
				return err
			}
			if commit == "" {
				commit = o.commit(c.Context())
			}
			for _, report := range reports {
				runs, err := results.Read(report, o.cloud, commit)
				if err != nil {
					return err
				}
				if err := o.recordResults(runs); err != nil {
					return err
				}
			}
			return nil
		},
	}
	c.Flags().StringVar(&o.root, "root", "../..", "source tree")
	c.Flags().StringVar(&o.cloud, "cloud", catalog.Lab, "lab or azure")
	c.Flags().StringVar(&commit, "commit", "", "commit that ran (default the one that is checked out)")
	return c
}
