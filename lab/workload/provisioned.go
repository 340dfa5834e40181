package workload

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
)

// infrastructureKinds are those whose Azure resources make the infrastructure of a cluster, each with the field that
// reports that all of them exist. An AKS cluster is created for its control plane; the AzureManagedCluster has no
// resources.
var infrastructureKinds = map[string][]string{
	"AzureCluster":                {"status", "initialization", "provisioned"},
	"AzureManagedControlPlane":    {"status", "initialization", "controlPlaneInitialized"},
	"AzureASOManagedControlPlane": {"status", "initialization", "controlPlaneInitialized"},
}

// watchInfrastructure sends when the cluster's infrastructure was taken by the API server and when it was provisioned, once
// both are known.
func watchInfrastructure(ctx context.Context, s *settings.Settings, name string) <-chan Times {
	result := make(chan Times, len(infrastructureKinds))
	for kind := range infrastructureKinds {
		go watchKind(ctx, s, name, kind, result)
	}
	return result
}

func watchKind(ctx context.Context, s *settings.Settings, name, kind string, result chan<- Times) {
	config, err := management.RESTConfig(s)
	if err != nil {
		return
	}
	kube, err := client.NewWithWatch(config, client.Options{})
	if err != nil {
		return
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "infrastructure.cluster.x-k8s.io", Version: "v1beta1", Kind: kind + "List"})
	watcher, err := kube.Watch(ctx, list, client.InNamespace(management.Namespace))
	if err != nil {
		return // another provider; the moments seen by looking have to do
	}
	defer watcher.Stop()
	var times Times
	for event := range watcher.ResultChan() {
		object, ok := event.Object.(*unstructured.Unstructured)
		// Objects that a topology makes have a name of their own.
		if !ok || object.GetName() != name && object.GetLabels()[clusterLabel] != name {
			continue
		}
		if times.Applied.IsZero() {
			times.Applied = time.Now()
		}
		if done, _, _ := unstructured.NestedBool(object.Object, infrastructureKinds[kind]...); done {
			times.Provisioned = time.Now()
			result <- times
			return
		}
	}
}

// hasInfrastructure reports whether all of the cluster's infrastructure is provisioned.
func hasInfrastructure(root *Object) bool {
	for _, child := range root.Children {
		if field, ok := infrastructureKinds[child.Kind]; ok && child.raw != nil {
			done, _, _ := unstructured.NestedBool(child.raw.Object, field...)
			return done
		}
	}
	done, _, _ := unstructured.NestedBool(root.raw.Object, "status", "initialization", "infrastructureProvisioned")
	return done
}

// isProvisioned reads the status of an object without conditions.
func isProvisioned(raw *unstructured.Unstructured) bool {
	done, _, _ := unstructured.NestedBool(raw.Object, "status", "initialization", "provisioned")
	return done
}
