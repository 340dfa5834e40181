package command

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/process"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// labStatus is the state of a lab.
type labStatus struct {
	Processes []processStatus `json:"processes"`
	Clusters  []clusterStatus `json:"clusters"`
	// AzureError is why the simulated Azure could not be read.
	AzureError string `json:"azureError,omitempty"`
}

type processStatus struct {
	Name      string    `json:"name"`
	Running   bool      `json:"running"`
	PID       int       `json:"pid"`
	Since     time.Time `json:"since"`
	MemoryKiB int       `json:"memoryKiB"`
	Log       string    `json:"log"`
}

type clusterStatus struct {
	// Tree is the Cluster with the objects below it.
	Tree *workload.Object `json:"tree"`
	// Ready is set if nothing is missing from the cluster.
	Ready bool `json:"ready"`
	// Machines are the virtual machines of a cluster that is not ready, as far as they do not run.
	Machines []machineStatus `json:"machines,omitempty"`
	// Cause is the deepest reason why the cluster is not ready.
	Cause string `json:"cause,omitempty"`
}

type machineStatus struct {
	Name       string `json:"name"`
	PowerState string `json:"powerState"`
	// Boot is the step of the boot, and Message the guest's report.
	Boot    string `json:"boot"`
	Message string `json:"message,omitempty"`
}

func statusCommand() *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "status",
		Short: "Show the processes, clusters and machines of the lab",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if output != "text" && output != "json" {
				return fmt.Errorf("--output %q: want text or json", output)
			}
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			status := &labStatus{Processes: []processStatus{}, Clusters: []clusterStatus{}}
			if err := status.loadProcesses(s); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), 20*time.Second)
			defer cancel()
			// The processes show why the management cluster cannot be read.
			unread := status.loadClusters(ctx, s)
			if output == "json" {
				err = status.printJSON(c.OutOrStdout())
			} else {
				err = status.printText(c.OutOrStdout())
			}
			if err != nil {
				return err
			}
			return unread
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "text", "text or json")
	return c
}

func (l *labStatus) loadProcesses(s *settings.Settings) error {
	table := management.ProcessTable(s)
	names, err := table.ListNames()
	if err != nil {
		return err
	}
	for _, name := range names {
		l.Processes = append(l.Processes, describeProcess(table.ReadState(name)))
	}
	return nil
}

func describeProcess(p process.State) processStatus {
	return processStatus{Name: p.Name, Running: p.Alive, PID: p.PID, Since: p.Since, MemoryKiB: p.ResidentKiB, Log: p.Log}
}

func (l *labStatus) loadClusters(ctx context.Context, s *settings.Settings) error {
	names, err := listClusters(ctx, s)
	if err != nil {
		return fmt.Errorf("management cluster: %w", err)
	}
	kube, err := management.NewClient(s)
	if err != nil {
		return fmt.Errorf("management cluster: %w", err)
	}
	var guests []simulator.Guest
	azure, err := simulator.New(s)
	if err == nil {
		guests, err = azure.ListGuests(ctx)
	}
	if err != nil {
		l.AzureError = err.Error()
	}
	for _, name := range names {
		root, err := workload.LoadCluster(ctx, kube, management.Namespace, name)
		if err != nil {
			return err
		}
		if root != nil {
			l.Clusters = append(l.Clusters, describeCluster(s, root, guests))
		}
	}
	return nil
}

func describeCluster(s *settings.Settings, root *workload.Object, guests []simulator.Guest) clusterStatus {
	out := clusterStatus{Tree: root, Ready: root.IsComplete()}
	if out.Ready {
		return out
	}
	for _, g := range guests {
		if containsObject(root, g.ComputerName) && g.Status.Phase != "Running" {
			out.Machines = append(out.Machines, machineStatus{Name: g.ComputerName, PowerState: g.PowerState, Boot: orUnknown(g.Status.Phase),
				Message: g.Status.Message})
		}
	}
	if cause := workload.FindCause(root, guests); cause != nil {
		out.Cause = cause.DescribeWithLog(func(p string) string { return relativePath(s.LogPath(p)) })
	}
	return out
}

func (l *labStatus) printJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(l)
}

func (l *labStatus) printText(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "PROCESS\tSTATE\tPID\tAGE\tMEMORY\tLOG")
	total := 0
	for _, p := range l.Processes {
		state := "running"
		if !p.Running {
			state = "dead, start it with `lab up --bare`"
		}
		total += p.MemoryKiB
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d MiB\t%s\n", p.Name, state, p.PID, formatAge(p.Since), p.MemoryKiB/1024, relativePath(p.Log))
	}
	fmt.Fprintf(w, "\t\t\t\t%d MiB\t\n", total/1024)
	if err := w.Flush(); err != nil {
		return err
	}
	if l.AzureError != "" {
		fmt.Fprintf(out, "\nsimulated Azure: %s\n", l.AzureError)
	}
	for _, c := range l.Clusters {
		fmt.Fprintln(out)
		for _, line := range treeLines(c.Tree) {
			fmt.Fprintln(out, line)
		}
		for _, m := range c.Machines {
			fmt.Fprintf(out, "  virtual machine %s is %s, boot: %s %s\n", escapeControls(m.Name), m.PowerState, escapeControls(m.Boot),
				escapeControls(m.Message))
		}
		if c.Cause != "" {
			fmt.Fprintf(out, "  not ready because of %s\n", strings.ReplaceAll(PrintableLines(c.Cause), "\n", "\n  "))
		}
	}
	return nil
}

func containsObject(root *workload.Object, name string) bool {
	found := false
	root.Walk(func(o *workload.Object, _ int) { found = found || o.Name == name })
	return found
}

func orUnknown(phase string) string {
	if phase == "" {
		return "not begun"
	}
	return phase
}
