package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"sigs.k8s.io/cluster-api-provider-azure/lab/logs"
	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/traces"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// followInterval is the interval between two reads of the logs, and namesInterval that between two reads of the cluster's objects.
const (
	followInterval = 500 * time.Millisecond
	namesInterval  = 5 * time.Second
)

func logsCommand() *cobra.Command {
	var follow bool
	cmd := &cobra.Command{
		Use:   "logs CLUSTER",
		Short: "Print the lines of all managers' logs about a cluster and its objects, in the order of time",
		Args:  cobra.ExactArgs(1), ValidArgsFunction: completeFirst(listClusters),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := loadSettings(c)
			if err != nil {
				return err
			}
			return printLogs(c, s, args[0], follow)
		},
	}
	cmd.Flags().BoolVarP(&follow, "follow", "f", false, "go on with new lines until the command is interrupted")
	return cmd
}

func printLogs(c *cobra.Command, s *settings.Settings, cluster string, follow bool) error {
	var sources []*logs.Source
	for _, m := range s.InstalledManagers() {
		sources = append(sources, &logs.Source{Manager: m.Name, File: s.LogPath(m.Name)})
	}
	names, read := []string{cluster}, time.Time{}
	exists := false
	for {
		if time.Since(read) > namesInterval {
			found, err := objectNames(c.Context(), s, cluster)
			if err != nil && read.IsZero() {
				return err
			}
			// Objects that are gone keep their lines.
			names, read, exists = append(names, found...), time.Now(), exists || len(found) > 0
		}
		lines, err := logs.ReadNew(sources, names, time.Now())
		if err != nil {
			return err
		}
		for _, line := range lines {
			fmt.Fprintln(c.OutOrStdout(), PrintableLines(line.Format()))
		}
		if !follow && !exists && len(lines) == 0 {
			clusters, err := listClusters(c.Context(), s)
			return errors.Join(fmt.Errorf("there is no Cluster %s, and no log has its name; clusters: %s", cluster, strings.Join(clusters, ", ")), err)
		}
		if !follow {
			return nil
		}
		select {
		case <-c.Context().Done():
			return nil
		case <-time.After(followInterval):
		}
	}
}

// objectNames returns the names of the objects of a cluster, none if it is gone.
func objectNames(ctx context.Context, s *settings.Settings, cluster string) (out []string, err error) {
	kube, err := management.NewClient(s)
	if err != nil {
		return nil, fmt.Errorf("management cluster: %w", err)
	}
	root, err := workload.LoadCluster(ctx, kube, management.Namespace, cluster)
	if err != nil || root == nil {
		return nil, err
	}
	root.Walk(func(o *workload.Object, _ int) { out = append(out, o.Name) })
	return out, nil
}

// tracesCommand returns the process that receives the traces of the manager; `lab up --traces` starts it.
func tracesCommand() *cobra.Command {
	var listen, file string
	c := &cobra.Command{
		Use:    "traces",
		Short:  "Receive traces and append them to a file",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(c *cobra.Command, _ []string) error { return traces.RunCollector(c.Context(), listen, file) },
	}
	c.Flags().StringVar(&listen, "listen", "", "host:port to listen on")
	c.Flags().StringVar(&file, "file", "", "file to append to")
	return c
}
