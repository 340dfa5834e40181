package command

import (
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/steps"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// moveFlags are the flags of run and back.
type moveFlags struct {
	clusterctlFlags
	to                string
	timeout           time.Duration
	upgrade, isolated []string
	despite, observe  bool
	plans             planFlags
}

// newMove returns a migration whose messages go to the standard error, because the standard output has the result.
func (f *moveFlags) newMove(cmd *cobra.Command, e *environment.Environment) (*steps.Move, error) {
	// clusterctl reads the kubeconfig itself, many minutes later. It has to change the cluster that the steps change.
	if err := e.FixContext(); err != nil {
		return nil, err
	}
	configuration, err := f.readConfiguration(e)
	if err != nil {
		return nil, err
	}
	c, err := newClient(e)
	if err != nil {
		return nil, err
	}
	out := text.NewWriter(cmd.ErrOrStderr())
	return &steps.Move{Client: c, Out: out, To: f.to, UpgradeArguments: f.upgrade, Isolated: f.isolated, Observe: f.observe, Timeout: f.timeout,
		UncheckedASOKinds: f.plans.unchecked, Poll: 5 * time.Second, Clusterctl: f.clusterctl(e, configuration, out),
		FindRelease: f.findRelease(e)}, nil
}

// upgradedProviders are the flags of clusterctl upgrade apply for providers that may be upgraded with this one.
var upgradedProviders = []string{"core", "bootstrap", "control-plane"}

func newRunCommand(e *environment.Environment) *cobra.Command {
	f := &moveFlags{}
	cmd := &cobra.Command{
		Use:   "run",
		Short: "Replace the established provider by this one, without a change in Azure",
		Long: "Stores a backup, stops the established provider, releases the objects of its operator, upgrades with clusterctl, deletes old roles, and waits until every object was reconciled.\n" +
			"It may be interrupted at any time. Run it again to continue. The result is a table of all objects with their readiness before and after.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			for _, provider := range upgradedProviders {
				if value, _ := cmd.Flags().GetString(provider); value != "" {
					f.upgrade = append(f.upgrade, "--"+provider, value)
				}
			}
			return f.run(cmd, e)
		},
	}
	f.add(cmd)
	e.AddOutputFlag(cmd)
	cmd.Flags().StringVar(&f.to, "to", e.Version, "version of this provider")
	cmd.Flags().DurationVar(&f.timeout, "timeout", 30*time.Minute, "time in which all objects have to be reconciled")
	cmd.Flags().StringSliceVar(&f.isolated, "isolate", nil,
		"namespaces that get the ServiceAccount capz-workload-identity; their applications have to trust it")
	cmd.Flags().BoolVar(&f.despite, "despite-findings", false, "begin even if the check has findings that block")
	cmd.Flags().BoolVar(&f.observe, "observe", false,
		"have the new manager observe all Clusters: it shows its writes to Azure and sends none until you release the Clusters")
	f.plans.add(cmd)
	for _, provider := range upgradedProviders {
		cmd.Flags().String(provider, "", "provider to upgrade with it, as for clusterctl upgrade apply")
	}
	return cmd
}

func (f *moveFlags) run(cmd *cobra.Command, e *environment.Environment) error {
	move, err := f.newMove(cmd, e)
	if err != nil {
		return err
	}
	// Nothing is written while the Clusters are observed. Once the move has begun, the plans of its first run count.
	begun, err := move.HasBegun(cmd.Context())
	if err != nil {
		return err
	}
	f.plans.enabled = f.plans.enabled && !f.observe && !begun
	report, err := f.plans.findAll(cmd, e, move.Client, f.to, move.FindRelease)
	if err != nil {
		return err
	}
	if count := report.Count(migration.Blocks); count > 0 && !f.despite {
		return fmt.Errorf("findings block the migration: %d. Nothing was changed. See them with: kubectl capz migrate check. To begin anyway, set --despite-findings",
			count)
	}
	results, err := move.Forward(cmd.Context())
	if err != nil {
		return err
	}
	if e.Output == environment.OutputJSON {
		return environment.WriteJSON(cmd.OutOrStdout(), results)
	}
	return writeResults(text.NewWriter(cmd.OutOrStdout()), results, move.Observe)
}

// writeResults writes the table of a migration.
func writeResults(out io.Writer, results []steps.Result, observed bool) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "OBJECT\tREADY BEFORE\tREADY AFTER\tWRITES")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%s\t%s\t%d\n", r.Object, r.Before, r.After, r.Writes)
	}
	if err := table.Flush(); err != nil || !observed {
		return err
	}
	for _, r := range results {
		if r.Planned != "" {
			fmt.Fprintf(out, "\n%s: %s\n", r.Object, r.Planned)
		}
	}
	_, err := fmt.Fprintf(out, "\nThe Clusters are observed: nothing is written to Azure. Release one with: kubectl annotate cluster NAME -n NAMESPACE %s-\n",
		infrav1.ObserveAnnotation)
	return err
}

func newBackCommand(e *environment.Environment) *cobra.Command {
	f := &moveFlags{}
	cmd := &cobra.Command{
		Use:   "back",
		Short: "Return to the established provider after a migration",
		Long: "Stops this provider, gives the stored objects the form of the established provider, restores the objects of its operator, and installs the former version with clusterctl.\n" +
			"It may be interrupted at any time. Run it again to continue. Before you begin, run kubectl capz migrate check --back.",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			move, err := f.newMove(cmd, e)
			if err != nil {
				return err
			}
			return move.Back(cmd.Context())
		},
	}
	f.add(cmd)
	return cmd
}
