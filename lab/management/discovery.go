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
)

// awaitKinds waits until discovery names every kind of the installed managers: the API server adds a new kind to
// discovery some time after its definition is accepted, and a manager that does not find a kind when it starts ends.
func (l *lab) awaitKinds(ctx context.Context) error {
	config, err := RESTConfig(l.s)
	if err != nil {
		return err
	}
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return err
	}
	missing, err := l.definedKinds(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		for groupVersion, kinds := range missing {
			served, err := client.ServerResourcesForGroupVersion(groupVersion)
			if err != nil && !apierrors.IsNotFound(err) && !apierrors.IsServiceUnavailable(err) {
				return fmt.Errorf("kinds of %s: %w", groupVersion, err)
			}
			if served != nil {
				for _, resource := range served.APIResources {
					kinds.Delete(resource.Kind)
				}
			}
			if kinds.Len() == 0 {
				delete(missing, groupVersion)
			}
		}
		if len(missing) == 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the API server does not serve %v: %w", missing, ctx.Err())
		case <-tick.C:
		}
	}
}

// definedKinds are the kinds of all definitions that the API server has, by group and version.
func (l *lab) definedKinds(ctx context.Context) (map[string]sets.Set[string], error) {
	kube, err := Client(l.s)
	if err != nil {
		return nil, err
	}
	definitions := &unstructured.UnstructuredList{}
	definitions.SetGroupVersionKind(schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1", Kind: "CustomResourceDefinitionList"})
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
