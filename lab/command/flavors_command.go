package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

func flavorsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "flavors",
		Short: "List the flavors of clusters for --flavor",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			names, err := listFlavors()
			for _, name := range names {
				fmt.Fprintln(c.OutOrStdout(), name)
			}
			return err
		},
	}
}

// listFlavors needs no lab.
func listFlavors() ([]string, error) {
	root, err := settings.FindRoot()
	if err != nil {
		return nil, err
	}
	return workload.ListFlavors(&settings.Settings{Root: root})
}
