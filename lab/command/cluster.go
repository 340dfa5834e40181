package command

import (
	"bytes"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/timeline"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// createCluster creates a cluster, or waits for the one that was created before, and prints the commands to try next.
func createCluster(c *cobra.Command, s *settings.Settings, name string, o workload.Options, made *workload.Options) error {
	out := c.OutOrStdout()
	what := ""
	if made != nil {
		made.Timeout = o.Timeout
		o, what = *made, " exists, made with"
	}
	fmt.Fprintf(out, "\nCluster %s%s: flavor %s, %s, Kubernetes %s\n", name, what, o.Flavor, describeMachines(o), o.ChosenVersion())
	times, err := workload.CreateCluster(c.Context(), s, name, o, newScreen(out))
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "\nCluster %s is ready after %.1f s, its infrastructure after %.1f s (time scale %v)\n",
		name, times.Ready.Sub(times.Applied).Seconds(), times.Provisioned.Sub(times.Applied).Seconds(), s.TimeScale)
	if line, err := timeline.LoadTimeline(c.Context(), s, name); err == nil {
		fmt.Fprintln(out, line.SummaryLine())
	} else {
		fmt.Fprintf(out, "figures: %v\n", err)
	}
	printNextCommands(out, s, name, o)
	return nil
}

// madeBefore returns the options of the cluster of this name, nil if there is none. Flags that ask for another one are refused,
// because nothing would come of them.
func madeBefore(c *cobra.Command, s *settings.Settings, name string) (*workload.Options, error) {
	made, err := workload.CreatedOptions(c.Context(), s, name)
	if err != nil || made == nil {
		return nil, err
	}
	was := map[string]string{
		"flavor": made.Flavor, "control-plane-machines": strconv.Itoa(made.ControlPlaneMachines),
		"worker-machines":    strconv.Itoa(made.WorkerMachines),
		"kubernetes-version": made.ChosenVersion(),
	}
	var differences []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if value, ok := was[f.Name]; ok && value != f.Value.String() {
			differences = append(differences, fmt.Sprintf("--%s %s, not %s", f.Name, value, f.Value))
		}
	})
	if len(differences) == 0 {
		return made, nil
	}
	return nil, fmt.Errorf("there is a Cluster %s already, made with %s: choose another name, change it with kubectl, or delete it with `%s`",
		name, strings.Join(differences, ", "), ownCommand(s, "delete", name))
}

func describeMachines(o workload.Options) string {
	if o.IsManaged() {
		return fmt.Sprintf("%d machines in each pool", o.WorkerMachines)
	}
	return fmt.Sprintf("%d control-plane and %d worker machines", o.ControlPlaneMachines, o.WorkerMachines)
}

// printNextCommands are the commands a newcomer may want to try.
func printNextCommands(out io.Writer, s *settings.Settings, name string, o workload.Options) {
	kubectl := relativePath(s.BinaryPath("kubectl"))
	kinds := "clusters,machines,azuremachines"
	// A cluster whose manifest cannot be read has nothing that is known to be there to scale, as one of a class.
	manifest, _ := os.ReadFile(workload.ManifestFile(s, name))
	change := "get clusterclasses"
	kind, workers := workload.FindWorkers(manifest)
	if workers != "" {
		change = fmt.Sprintf("scale %s %s --replicas 4", strings.ToLower(kind), workers)
	}
	switch {
	case strings.HasPrefix(o.Flavor, "aks-aso"):
		kinds = "clusters,machinepools,azureasomanagedmachinepools"
	case o.IsManaged():
		kinds = "clusters,machinepools,azuremanagedmachinepools"
	case kind == "MachinePool":
		kinds = "clusters,machines,azuremachines,machinepools,azuremachinepools,azuremachinepoolmachines"
	}
	stop := "make lab-down"
	if relativePath(s.Dir) != ".lab" {
		stop = ownCommand(s, "down")
	}
	for _, line := range []string{
		"", nextHeading,
		"  " + shellHint(s),
		"  " + kubectl + " get " + kinds,
		"  " + relativePath(s.BinaryPath("clusterctl")) + " describe cluster " + name + " --show-conditions all",
		"  " + ownCommand(s, "kubeconfig", name) + " >" + name + ".kubeconfig && " + kubectl + " --kubeconfig " + name + ".kubeconfig get nodes",
		"  " + kubectl + " " + change,
		"  " + ownCommand(s, "timeline", name),
		"  " + ownCommand(s, "delete", name),
		"  " + stop,
	} {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintf(out, "\nThe simulated Azure, in a browser that trusts %s:\n  %s\n", relativePath(s.SimulatorCA()), pageAddress(s))
}

// pageAddress returns the address of the simulator's pages, with what opens them.
func pageAddress(s *settings.Settings) string {
	return s.SimulatorURL() + "/_sim/page/?token=" + url.QueryEscape(s.ControlToken)
}

// plainWord matches words that a shell takes as they are.
var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:=,@%+-]+$`)

// ownCommand returns how to call this program for the same lab.
func ownCommand(s *settings.Settings, args ...string) string {
	words := append([]string{relativePath(s.BinaryPath("lab"))}, args...)
	if dir := relativePath(s.Dir); dir != ".lab" {
		words = append(words, "--dir", dir)
	}
	for i, word := range words {
		if !plainWord.MatchString(word) {
			words[i] = quoteForShell(word)
		}
	}
	return strings.Join(words, " ")
}

// nextHeading stands above the commands to try, of which shellHint is the first. The others have no kubeconfig in the user's own shell.
const nextHeading = "Start a shell of the lab, and try the other commands in it:"

// shellHint returns the command for a shell of the lab. In a shell that takes over the environment of the lab, other HTTPS requests fail.
func shellHint(s *settings.Settings) string {
	return ownCommand(s, "exec") + ` -- bash    # a shell with the kubeconfig, certificates and proxy of the lab; "exit" leaves it`
}

// relativePath returns a path as seen from the working directory, if that is shorter.
func relativePath(path string) string {
	wd, err := os.Getwd()
	if err != nil {
		return path
	}
	short, err := filepath.Rel(wd, path)
	if err != nil || len(short) > len(path) {
		return path
	}
	return short
}

func kubeconfigCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "kubeconfig CLUSTER",
		Short: "Print a kubeconfig of a workload cluster that goes through the simulated network",
		Args:  cobra.ExactArgs(1), ValidArgsFunction: completeFirst(listClusters),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			raw, err := workload.WriteKubeconfig(c.Context(), s, args[0])
			if err != nil {
				return err
			}
			_, err = c.OutOrStdout().Write(raw)
			return err
		},
	}
}

func timelineCommand() *cobra.Command {
	var drawing string
	cmd := &cobra.Command{
		Use:   "timeline CLUSTER",
		Short: "Print every Azure operation of a cluster: its start, its end, the operation it waited for, and the critical path",
		Args:  cobra.ExactArgs(1), ValidArgsFunction: completeFirst(listClusters),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			line, err := timeline.LoadTimeline(c.Context(), s, args[0])
			if err != nil {
				return err
			}
			if drawing == "" {
				line.Print(c.OutOrStdout())
				return nil
			}
			var out bytes.Buffer
			if err := line.DrawSVG(&out); err != nil {
				return err
			}
			return os.WriteFile(drawing, out.Bytes(), 0o644)
		},
	}
	cmd.Flags().StringVar(&drawing, "svg", "", "file to draw the operations into, as SVG, instead of printing them")
	return cmd
}

func demandCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "demand CLUSTER POOL NODES",
		Short: "Set the number of nodes that the pods of an AKS cluster need in an agent pool, for its autoscaler",
		Args:  cobra.ExactArgs(3), ValidArgsFunction: completeFirst(listClusters),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			nodes, err := strconv.Atoi(args[2])
			if err != nil || nodes < 0 {
				return fmt.Errorf("NODES %q: want a number from 0", args[2])
			}
			return workload.SetDemand(c.Context(), s, args[0], args[1], nodes)
		},
	}
}

func formatAge(since time.Time) string {
	if since.IsZero() {
		return "-"
	}
	return time.Since(since).Round(time.Second).String()
}
