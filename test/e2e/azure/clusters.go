package azure

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"

	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// patience bounds the deletion of clusters by a management cluster whose provider works.
const patience = time.Hour

// DeleteClusters deletes the Clusters in the namespaces of runs, waits until the provider has deleted their resources, and deletes the
// namespaces. An empty run is every run.
func DeleteClusters(ctx context.Context, out io.Writer, kubeconfig, run string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	scheme := runtime.NewScheme()
	if err := errors.Join(corev1.AddToScheme(scheme), clusterv1.AddToScheme(scheme)); err != nil {
		return err
	}
	kube, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		return err
	}
	var selector client.ListOption = client.HasLabels{Tag}
	if run != "" {
		selector = client.MatchingLabels{Tag: run}
	}
	namespaces := &corev1.NamespaceList{}
	if err := kube.List(ctx, namespaces, selector); err != nil {
		return err
	}
	for i := range namespaces.Items {
		name := namespaces.Items[i].Name
		fmt.Fprintf(out, "deleting the clusters of namespace %s\n", name)
		if err := kube.DeleteAllOf(ctx, &clusterv1.Cluster{}, client.InNamespace(name)); err != nil {
			return err
		}
	}
	for i := range namespaces.Items {
		if err := awaitNoCluster(ctx, kube, namespaces.Items[i].Name); err != nil {
			return err
		}
		if err := kube.Delete(ctx, &namespaces.Items[i]); client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

func awaitNoCluster(ctx context.Context, kube client.Client, namespace string) error {
	left := 0
	err := wait.PollUntilContextTimeout(ctx, 2*time.Second, patience, true, func(ctx context.Context) (bool, error) {
		clusters := &clusterv1.ClusterList{}
		err := kube.List(ctx, clusters, client.InNamespace(namespace))
		left = len(clusters.Items)
		return err == nil && left == 0, err
	})
	if err != nil {
		return fmt.Errorf("%d clusters of namespace %s are not deleted: %w", left, namespace, err)
	}
	return nil
}
