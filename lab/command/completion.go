package command

import (
	"context"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// completionTimeout is how long a shell waits for values at most.
const completionTimeout = 3 * time.Second

// completeFirst completes the first argument with the values of a lab.
func completeFirst(list func(context.Context, *settings.Settings) ([]string, error)) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		s, err := loadSettings(c)
		if err != nil || len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ctx, cancel := context.WithTimeout(context.Background(), completionTimeout)
		defer cancel()
		values, err := list(ctx, s)
		if err != nil {
			return nil, cobra.ShellCompDirectiveError
		}
		return values, cobra.ShellCompDirectiveNoFileComp
	}
}

// listClusters returns the names of the clusters of a lab.
func listClusters(ctx context.Context, s *settings.Settings) (names []string, err error) {
	kube, err := management.NewClient(s)
	if err != nil {
		return nil, err
	}
	clusters := &unstructured.UnstructuredList{}
	clusters.SetGroupVersionKind(schema.GroupVersionKind{Group: "cluster.x-k8s.io", Version: "v1beta2", Kind: "ClusterList"})
	if err := kube.List(ctx, clusters, client.InNamespace(management.Namespace)); err != nil {
		return nil, err
	}
	for _, item := range clusters.Items {
		names = append(names, item.GetName())
	}
	return names, nil
}

// listProcesses returns the names of the processes of a lab.
func listProcesses(_ context.Context, s *settings.Settings) ([]string, error) {
	return management.ProcessTable(s).ListNames()
}

// completeFlavors completes the flag --flavor.
func completeFlavors(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	names, err := listFlavors()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}
