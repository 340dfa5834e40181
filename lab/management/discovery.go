package management

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/discovery"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// awaitKinds waits until discovery names every kind of the installed managers: the API server adds a new kind to
// discovery some time after its definition is accepted, and a manager that does not find a kind when it starts ends.
func (l *lab) awaitKinds(ctx context.Context) error {
	config, err := RESTConfig(l.s)
	if err != nil {
		return err
	}
	served, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	missing, err := l.definedKinds(ctx)
	if err != nil {
		return err
	}
	return awaitNone(ctx, func() (waiting string, err error) {
		for groupVersion, kinds := range missing {
			list, err := served.ServerResourcesForGroupVersion(groupVersion)
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsServiceUnavailable(err) {
				return "", fmt.Errorf("kinds of %s: %w", groupVersion, err)
			}
			if list != nil {
				for _, resource := range list.APIResources {
					kinds.Delete(resource.Kind)
				}
			}
			if kinds.Len() == 0 {
				delete(missing, groupVersion)
			}
		}
		if len(missing) == 0 {
			return "", nil
		}
		return fmt.Sprintf("the API server does not serve %v", missing), nil
	})
}

// probeNamespace is where clusterctl makes an Issuer to learn whether cert-manager is installed, and which it deletes again.
const probeNamespace = "cert-manager-test"

// awaitNoProbe waits until the namespace is gone if an earlier clusterctl has deleted it, which takes some seconds.
func (l *lab) awaitNoProbe(ctx context.Context, kube client.Client) error {
	reported := false
	return awaitNone(ctx, func() (waiting string, err error) {
		namespace := &unstructured.Unstructured{}
		namespace.SetGroupVersionKind(schema.GroupVersionKind{Version: "v1", Kind: "Namespace"})
		err = kube.Get(ctx, client.ObjectKey{Name: probeNamespace}, namespace)
		if err != nil || namespace.GetDeletionTimestamp() == nil {
			return "", client.IgnoreNotFound(err)
		}
		waiting = "namespace " + probeNamespace + " of an earlier clusterctl is still being deleted"
		if !reported {
			l.report("%5.1f s  %s", time.Since(l.begin).Seconds(), waiting)
		}
		reported = true
		return waiting, nil
	})
}

// awaitNone looks until nothing is waited for.
func awaitNone(ctx context.Context, look func() (waiting string, err error)) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		waiting, err := look()
		if err != nil || waiting == "" {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s: %w", waiting, ctx.Err())
		case <-tick.C:
		}
	}
}

// definedKinds returns the kinds of all definitions that the API server has, by group and version.
func (l *lab) definedKinds(ctx context.Context) (map[string]sets.Set[string], error) {
	kube, err := NewClient(l.s)
	if err != nil {
		return nil, err
	}
	definitions := &unstructured.UnstructuredList{}
	definitions.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1",
		Kind: "CustomResourceDefinitionList"})
	if err := kube.List(ctx, definitions); err != nil {
		return nil, fmt.Errorf("definitions of kinds: %w", err)
	}
	kinds := map[string]sets.Set[string]{}
	for _, definition := range definitions.Items {
		group, _, _ := unstructured.NestedString(definition.Object, "spec", "group")
		kind, _, _ := unstructured.NestedString(definition.Object, "spec", "names", "kind")
		versions, _, _ := unstructured.NestedSlice(definition.Object, "spec", "versions")
		for _, v := range versions {
			version, _ := v.(map[string]any)
			if version["served"] != true {
				continue
			}
			groupVersion := fmt.Sprintf("%s/%s", group, version["name"])
			if kinds[groupVersion] == nil {
				kinds[groupVersion] = sets.New[string]()
			}
			kinds[groupVersion].Insert(kind)
		}
	}
	return kinds, nil
}
