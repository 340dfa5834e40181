package command

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/lab/bench"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// benchDir is the bench's directory unless --dir names another: it is never the lab that a user works with.
const benchDir = ".lab-bench"

// outputs are what figures are written to.
type outputs struct{ json, html string }

func (o *outputs) addFlags(c *cobra.Command) {
	c.Flags().StringVar(&o.json, "json", "", "file that gets all figures")
	c.Flags().StringVar(&o.html, "html", "", "file that gets a page with plots")
}

// writeAll prints the table and writes the files.
func (o *outputs) writeAll(out io.Writer, runs []bench.Run) error {
	if err := bench.PrintTable(out, runs); err != nil {
		return err
	}
	if o.json != "" {
		if err := bench.WriteRuns(o.json, runs); err != nil {
			return err
		}
	}
	if o.html != "" {
		return bench.WriteHTML(o.html, runs)
	}
	return nil
}

func benchCommand() *cobra.Command {
	var o bench.Options
	var to outputs
	c := &cobra.Command{
		Use:   "bench SCENARIO...",
		Short: "Measure requests, time and memory of a provider, in a separate lab for each scenario",
		Long: `Measure a provider: requests to Azure, calls of Kubernetes, time, processor time and memory. Without a scenario it lists
all scenarios. The scenarios of an hour or a day run the controllers of this provider in virtual time with ` + "`go test`" + `.

Another provider is one or more programs. A shell runs each with exec. It connects to the management cluster with KUBECONFIG and
to the simulated Azure with HTTPS_PROXY and SSL_CERT_FILE or by AZURE_RESOURCE_MANAGER_ENDPOINT and AZURE_AUTHORITY_HOST, and may use
$WEBHOOK_PORT, $WEBHOOK_CERT_DIR, $HEALTH_ADDRESS and $DIAGNOSTICS_ADDRESS on its command line.`,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return listScenarios(c.OutOrStdout())
			}
			return measureScenarios(c, args, o, to)
		},
	}
	c.Flags().IntVar(&o.BasePort, "base-port", 26000, fmt.Sprintf("first of the %d ports that the lab uses", settings.PortBlock))
	c.Flags().Float64Var(&o.TimeScale, "time-scale", 1, "factor for the durations of Azure and of booting machines: 1 as measured, 0 for none")
	c.Flags().IntVar(&o.Clusters, "clusters", 0, "number of clusters (default that of the scenario)")
	c.Flags().IntVar(&o.Machines, "machines", 0, "number of machines of each cluster (default that of the scenario)")
	c.Flags().IntVar(&o.Pools, "pools", 0, "number of pools of each AKS cluster (default that of the scenario)")
	c.Flags().DurationVar(&o.Timeout, "timeout", 30*time.Minute, "time limit of each phase")
	c.Flags().DurationVar(&o.Rest, "rest", 20*time.Second, "time without actions after a phase before the resting memory is read")
	c.Flags().DurationVar(&o.Steady, "steady", 0, "time to measure without changes after the creation (default none)")
	c.Flags().StringVar(&o.Name, "name", "", "name of the provider in the figures (default ours, or the program of --provider)")
	c.Flags().StringArrayVar(&o.Commands, "provider", nil, "command of another provider; may be repeated if the provider has several programs")
	c.Flags().StringArrayVar(&o.Components, "components", nil, "file with the manifests of the --provider at the same position")
	to.addFlags(c)
	c.AddCommand(reportCommand())
	return c
}

func listScenarios(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "SCENARIO\tSIZE\tMEASURED")
	for _, s := range bench.Scenarios {
		fmt.Fprintf(w, "%s\t%s\t%s\n", s.Name, s.Size(), s.About)
	}
	return w.Flush()
}

// measureScenarios runs scenarios one after the other. What was measured before one fails is written nevertheless.
func measureScenarios(c *cobra.Command, names []string, o bench.Options, to outputs) error {
	var scenarios []bench.Scenario
	for _, name := range names {
		s, err := bench.FindScenario(name)
		if err != nil {
			return err
		}
		scenarios = append(scenarios, s)
	}
	dir, err := c.Flags().GetString("dir")
	if err != nil {
		return err
	}
	if !c.Flags().Changed("dir") {
		dir = benchDir
	}
	if o.Dir, err = filepath.Abs(dir); err != nil {
		return err
	}
	if o.Root, err = settings.FindRoot(); err != nil {
		return err
	}
	if o.Name == "" {
		o.Name = "ours"
		if len(o.Commands) > 0 {
			program, _, _ := strings.Cut(o.Commands[0], " ")
			o.Name = filepath.Base(program)
		}
	}
	out := c.OutOrStdout()
	o.Report = func(format string, args ...any) { fmt.Fprintf(out, "  "+format+"\n", args...) }
	var runs []bench.Run
	var failure error
	for _, s := range scenarios {
		fmt.Fprintf(out, "%s: %s\n", s.Name, s.About)
		run, err := bench.StartRun(c.Context(), s, o)
		if err != nil {
			failure = err
			break
		}
		runs = append(runs, run)
	}
	if len(runs) == 0 {
		return failure
	}
	fmt.Fprintln(out)
	return errors.Join(failure, to.writeAll(out, runs))
}

func reportCommand() *cobra.Command {
	var to outputs
	c := &cobra.Command{
		Use:   "report FILE...",
		Short: "Compare the figures of several files of --json",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			runs, err := bench.ReadRuns(args...)
			if err != nil {
				return err
			}
			return to.writeAll(c.OutOrStdout(), runs)
		},
	}
	to.addFlags(c)
	return c
}
