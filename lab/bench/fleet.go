package bench

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/lab/management"
	"sigs.k8s.io/cluster-api-provider-azure/lab/settings"
	"sigs.k8s.io/cluster-api-provider-azure/lab/workload"
)

// fleet are clusters that come all at once.
type fleet struct {
	settings *settings.Settings
	kube     client.Client
	clusters [][]*unstructured.Unstructured
}

// newFleet renders the clusters of a scenario.
func newFleet(ctx context.Context, s *settings.Settings, kube client.Client, scenario Scenario) (*fleet, error) {
	f := &fleet{settings: s, kube: kube}
	var common []*unstructured.Unstructured
	if scenario.kind == managed {
		objects, err := renderTemplate(ctx, s, placeholder, workload.Options{Flavor: "aks", ControlPlaneMachines: 1, WorkerMachines: scenario.nodes})
		if err != nil {
			return nil, err
		}
		if common, err = ofPools(objects, scenario.pools); err != nil {
			return nil, err
		}
	}
	for i := range scenario.clusters {
		objects := scenario.ofMachines(clusterName(i))
		if common != nil {
			var err error
			if objects, err = nameObjects(common, clusterName(i)); err != nil {
				return nil, err
			}
		}
		f.clusters = append(f.clusters, objects)
	}
	return f, nil
}

// atOnce is how many requests the bench itself has under way.
const atOnce = 8

// createObjects makes all objects. Those of a cluster come in their order, several clusters at a time, or several machines of one.
func (f *fleet) createObjects(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for _, objects := range f.clusters {
		// The Cluster and what comes before it; machines do not depend on one another.
		first := slices.IndexFunc(objects, func(o *unstructured.Unstructured) bool { return o.GetKind() == "Cluster" }) + 1
		for _, o := range objects[:first] {
			if err := f.kube.Create(ctx, o.DeepCopy()); err != nil {
				return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
			}
		}
		for pair := range slices.Chunk(objects[first:], 2) {
			group.Go(func() error {
				for _, o := range pair {
					if err := f.kube.Create(ctx, o.DeepCopy()); err != nil {
						return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
					}
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// provisionedFields are the fields by which an object of Cluster API shows that all of its infrastructure exists,
// whatever the objects of the provider show.
var provisionedFields = map[string][]string{
	"Cluster": {"infrastructureProvisioned"}, "Machine": {"infrastructureProvisioned"}, "MachinePool": {"infrastructureProvisioned"},
}

// listWaiting returns the objects whose infrastructure does not exist, as KIND NAME.
func (f *fleet) listWaiting(ctx context.Context) ([]string, error) {
	var out []string
	for _, kind := range []string{"Cluster", "Machine", "MachinePool"} {
		items, err := f.listKind(ctx, kind)
		if err != nil {
			return nil, err
		}
		for i := range items {
			fields := provisionedFields[kind]
			if _, found, _ := unstructured.NestedMap(items[i].Object, "spec", "controlPlaneRef"); found {
				fields = append(slices.Clone(fields), "controlPlaneInitialized")
			}
			for _, field := range fields {
				if done, _, _ := unstructured.NestedBool(items[i].Object, "status", "initialization", field); !done {
					out = append(out, kind+" "+items[i].GetName())
					break
				}
			}
		}
	}
	return out, nil
}

func (f *fleet) listKind(ctx context.Context, kind string) ([]unstructured.Unstructured, error) {
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.FromAPIVersionAndKind(core, kind+"List"))
	err := f.kube.List(ctx, list, client.InNamespace(management.Namespace))
	return list.Items, err
}

// failures is how many looks fail in a row before the run ends.
const failures = 5

// awaitNone looks until nothing is waited for. A look costs more the more there is, and so looks are rarer.
func (f *fleet) awaitNone(ctx context.Context, what string, look func(context.Context) ([]string, error)) error {
	all := 0
	for _, objects := range f.clusters {
		all += len(objects)
	}
	tick := time.NewTicker(max(200*time.Millisecond, time.Duration(all)*time.Millisecond))
	defer tick.Stop()
	begun := time.Now()
	var left []string
	failed := 0
	for {
		next, err := look(ctx)
		switch {
		case err == nil && len(next) == 0:
			return nil
		case err == nil:
			left, failed = next, 0
		case ctx.Err() == nil:
			// A busy API server breaks off an answer now and then.
			if failed++; failed == failures {
				return err
			}
		}
		select {
		case <-ctx.Done():
			return f.lateError(ctx, what, left, time.Since(begun))
		case <-tick.C:
		}
	}
}

// lateError returns the error for a condition that is not met in time: the objects that are left, and the deepest cause
// of the first of them.
func (f *fleet) lateError(ctx context.Context, what string, left []string, after time.Duration) error {
	shown := left
	if len(shown) > 5 {
		shown = append(slices.Clone(shown[:5]), "...")
	}
	err := fmt.Errorf("after %s %d %s: %s: %w", after.Round(time.Second), len(left), what, strings.Join(shown, ", "), context.Cause(ctx))
	if len(left) == 0 {
		return err
	}
	asking, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	_, name, _ := strings.Cut(left[0], " ")
	for i := range f.clusters {
		if !strings.HasPrefix(name, clusterName(i)) {
			continue
		}
		root, loadErr := workload.LoadCluster(asking, f.kube, management.Namespace, clusterName(i))
		if loadErr != nil || root == nil {
			return err
		}
		if cause := workload.FindCause(root, nil); cause != nil {
			return fmt.Errorf("%w, because of\n  %s", err, cause)
		}
	}
	return err
}

// deleteClusters deletes all Clusters, several at a time.
func (f *fleet) deleteClusters(ctx context.Context) error {
	clusters, err := f.listKind(ctx, "Cluster")
	if err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(atOnce)
	for i := range clusters {
		group.Go(func() error { return client.IgnoreNotFound(f.kube.Delete(ctx, &clusters[i])) })
	}
	return group.Wait()
}

// listLeft returns the Clusters that are left.
func (f *fleet) listLeft(ctx context.Context) ([]string, error) {
	clusters, err := f.listKind(ctx, "Cluster")
	var out []string
	for i := range clusters {
		out = append(out, "Cluster "+clusters[i].GetName())
	}
	return out, err
}
