package command

import (
	"log/slog"
	"os"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/lab/kubelet"
	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
)

// kubeletCommand returns the process that runs the managers' Deployments; `lab up` starts it.
func kubeletCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "kubelet",
		Short:  "Run the managers' Deployments as processes",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			kube, err := management.NewCachedClient(c.Context(), s)
			if err != nil {
				return err
			}
			kubelet.RunManagers(c.Context(), s.Dir, kube, slog.New(slog.NewTextHandler(os.Stderr, nil)))
			return nil
		},
	}
}
