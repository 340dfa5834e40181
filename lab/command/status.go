package command

import (
	"context"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

func statusCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "Show the processes, clusters and machines of the lab",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			if err := processStatus(c.OutOrStdout(), s); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(c.Context(), 20*time.Second)
			defer cancel()
			return clusterStatus(ctx, c.OutOrStdout(), s)
		},
	}
}

func processStatus(out io.Writer, s *settings.Settings) error {
	table := management.ProcessTable(s)
	names, err := table.ListNames()
	if err != nil {
		return err
	}
	w := tabwriter.NewWriter(out, 0, 4, 2, ' ', 0)
	fmt.Fprintln(w, "PROCESS\tSTATE\tPID\tAGE\tMEMORY\tLOG")
	total := 0
	for _, name := range names {
		p := table.ReadState(name)
		state := "running"
		if !p.Alive {
			state = "dead, start it with `lab up --bare`"
		}
		total += p.ResidentKiB
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%d MiB\t%s\n", name, state, p.PID, formatAge(p.Since), p.ResidentKiB/1024, relativePath(p.Log))
	}
	fmt.Fprintf(w, "\t\t\t\t%d MiB\t\n", total/1024)
	return w.Flush()
}

func clusterStatus(ctx context.Context, out io.Writer, s *settings.Settings) error {
	kube, err := management.NewClient(s)
	if err != nil {
		return fmt.Errorf("management cluster: %w", err)
	}
	clusters := &unstructured.UnstructuredList{}
	clusters.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "ClusterList"})
	if err := kube.List(ctx, clusters, client.InNamespace(management.Namespace)); err != nil {
		return fmt.Errorf("management cluster: %w", err)
	}
	var guests []simulator.Guest
	if azure, err := simulator.New(s); err != nil {
		fmt.Fprintf(out, "\nsimulated Azure: %v\n", err)
	} else if guests, err = azure.ListGuests(ctx); err != nil {
		fmt.Fprintf(out, "\nsimulated Azure: %v\n", err)
	}
	for _, item := range clusters.Items {
		root, err := workload.LoadCluster(ctx, kube, item.GetNamespace(), item.GetName())
		if err != nil {
			return err
		}
		if root == nil {
			continue
		}
		fmt.Fprintln(out)
		for _, line := range treeLines(root) {
			fmt.Fprintln(out, line)
		}
		if root.IsComplete() {
			continue
		}
		for _, g := range guests {
			if containsObject(root, g.ComputerName) && g.Status.Phase != "Running" {
				fmt.Fprintf(out, "  virtual machine %s is %s, boot: %s %s\n", escapeControls(g.ComputerName), g.PowerState,
					escapeControls(orUnknown(g.Status.Phase)), escapeControls(g.Status.Message))
			}
		}
		if cause := workload.FindCause(root, guests); cause != nil {
			fmt.Fprintf(out, "  not ready because of %s\n",
				strings.ReplaceAll(PrintableLines(cause.DescribeWithLog(func(p string) string { return relativePath(s.LogPath(p)) })), "\n", "\n  "))
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
