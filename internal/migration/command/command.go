// Package command is the command line of `kubectl capz migrate`: its flags, its output and its exit codes.
package command

import (
	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/check"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// NewCommand returns the command migrate.
func NewCommand(e *environment.Environment) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "migrate",
		Short: "Move a management cluster from the established provider, and back",
		Long: "Moves a management cluster from the established provider (CAPZ) and the Azure Service Operator to this provider, and back.\n" +
			"Begin with kubectl capz migrate check. It changes nothing, and lists the obstacles and their remedies.",
	}
	cmd.AddCommand(newCheckCommand(e), newRunCommand(e), newBackCommand(e))
	return cmd
}

func newCheckCommand(e *environment.Environment) *cobra.Command {
	to, isBack, plans, programs := "", false, &planFlags{}, &clusterctlFlags{}
	cmd := &cobra.Command{
		Use:   "check",
		Short: "List the obstacles and effects of a migration, and change nothing",
		Long: "Reads the management cluster and lists the obstacles of a migration, its effects, and notes.\n" +
			"It has clusterctl read the release that the migration installs, because no manager runs while that fails.\n" +
			"For each Cluster it computes the writes to Azure that this provider would send. It needs the right to read in Azure.\n" +
			"With --back it lists the objects that a return to the established provider does not restore.\n" +
			"Exit codes: 0 without an obstacle, 2 with an obstacle, 1 after an error.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := newClient(e)
			if err != nil {
				return err
			}
			if isBack {
				report, err := check.FindBack(cmd.Context(), c, programs.findRelease(e))
				if err != nil {
					return err
				}
				return writeReport(cmd, e, report)
			}
			report, err := plans.findAll(cmd, e, c, to, programs.findRelease(e))
			if err != nil {
				return err
			}
			return writeReport(cmd, e, report)
		},
	}
	e.AddOutputFlag(cmd)
	cmd.Flags().StringVar(&to, "to", e.Version, "version of this provider")
	cmd.Flags().BoolVar(&isBack, "back", false, "check the return to the established provider")
	plans.add(cmd)
	programs.add(cmd)
	for _, name := range []string{"to", "plan", "feature-gates", "default-subscription", "unchecked-aso-kinds"} {
		cmd.MarkFlagsMutuallyExclusive(name, "back")
	}
	return cmd
}

// writeReport writes a report in the format of --output. Findings that block end in a FoundError.
func writeReport(cmd *cobra.Command, e *environment.Environment, report *migration.Report) error {
	var err error
	if e.Output == environment.OutputJSON {
		err = environment.WriteJSON(cmd.OutOrStdout(), report)
	} else {
		err = report.WriteText(text.NewWriter(cmd.OutOrStdout()))
	}
	if err == nil && report.Count(migration.Blocks) > 0 {
		return environment.FoundError{}
	}
	return err
}

// newClient returns a client that also knows definitions of kinds.
func newClient(e *environment.Environment) (client.Client, error) {
	return e.KubernetesClient(apiextensionsv1.AddToScheme)
}
