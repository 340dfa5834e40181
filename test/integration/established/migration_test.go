package established_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/cli/environment"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration"
	"sigs.k8s.io/cluster-api-provider-azure/internal/migration/steps"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const target = "v2.0.0"

// errKilled is the error of a program that is killed.
var errKilled = errors.New("killed")

// newMove returns a migration whose program is killed before it has made the given number of writes.
func newMove(t *testing.T, c *fakeClusterctl, writes int) *steps.Move {
	t.Helper()
	return newWatchedMove(t, c, writes, func(*http.Request) {})
}

// newWatchedMove is newMove that calls a function with each request before the program sends it.
func newWatchedMove(t *testing.T, c *fakeClusterctl, writes int, watch func(*http.Request)) *steps.Move {
	t.Helper()
	config := rest.CopyConfig(api.config)
	config.QPS = -1
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			watch(r)
			if r.Method != http.MethodGet {
				if writes == 0 {
					return nil, errKilled
				}
				writes--
			}
			return next.RoundTrip(r)
		})
	})
	scheme, err := environment.NewScheme()
	if err != nil {
		t.Fatal(err)
	}
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	killable, err := client.New(config, client.Options{Scheme: scheme})
	if err != nil {
		t.Fatal(err)
	}
	return &steps.Move{Client: killable, Clusterctl: c.run, FindRelease: c.find, Out: t.Output(), To: target, Timeout: harness.Patience,
		Poll: 100 * time.Millisecond}
}

// fakeClusterctl makes the requests of clusterctl to the API server, and then those of the managers that it installs.
type fakeClusterctl struct {
	t                *testing.T
	former, released []*unstructured.Unstructured
	// killed is the number of runs that end in the middle.
	killed int
	calls  []string
	// missing is a version that the repository does not have.
	missing string
	// idle is true if the installed manager reconciles nothing.
	idle bool
}

func (f *fakeClusterctl) find(_ context.Context, version string) error {
	if version == f.missing {
		return errors.New("not found")
	}
	return nil
}

func (f *fakeClusterctl) run(_ context.Context, _ map[string]string, arguments ...string) error {
	call := strings.Join(arguments[:2], " ")
	f.calls = append(f.calls, call)
	classy := clusterOne()
	if err := api.client.Get(f.t.Context(), client.ObjectKey{Namespace: "default", Name: "classy"}, classy); err != nil {
		f.t.Fatal(err)
	}
	if paused, _, _ := unstructured.NestedBool(classy.Object, "spec", "paused"); !paused {
		f.t.Errorf("clusterctl %s: Cluster API would apply the objects of a topology while no webhooks serve", call)
	}
	killed := f.killed > 0
	f.killed--
	switch call {
	case "upgrade apply":
		if killed {
			deleteAll(f.t, f.former[:len(f.former)/2])
			return errKilled
		}
		upgradeObjects(f.t, f.former, f.released)
		patchKinds(f.t, `{"cluster.x-k8s.io/v1beta2":"v1beta1"}`)
		f.setVersion(target)
		if !f.idle {
			f.reconcileObjects()
		}
	case "delete --infrastructure":
		for _, object := range slices.Concat(f.former, f.released) {
			if deletesOnUpgrade(object) {
				deleteAll(f.t, []*unstructured.Unstructured{object})
			}
		}
		f.setVersion("")
	case "init --infrastructure":
		// From here on the objects are those of the established provider, which Cluster API has to read by its contract.
		for name, object := range takeSnapshot(f.t) {
			if _, has, _ := unstructured.NestedString(object.(map[string]any), "metadata", "labels", "cluster.x-k8s.io/v1beta2"); has {
				f.t.Errorf("clusterctl %s: %s names the contract v1beta2", call, name)
			}
		}
		installObjects(f.t, f.former)
		patchKinds(f.t, `{"cluster.x-k8s.io/v1beta1":"v1beta1"}`)
		f.setVersion(strings.TrimPrefix(arguments[2], "azure:"))
	default:
		return fmt.Errorf("unexpected call: clusterctl %v", arguments)
	}
	return nil
}

// setVersion changes clusterctl's inventory.
func (f *fakeClusterctl) setVersion(version string) {
	f.t.Helper()
	provider := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "clusterctl.cluster.x-k8s.io/v1alpha3", "kind": "Provider",
		"metadata":     map[string]any{"name": "infrastructure-azure", "namespace": "capz-system"},
		"providerName": "azure", "type": "InfrastructureProvider", "version": version}}
	deleteAll(f.t, []*unstructured.Unstructured{provider})
	if version != "" {
		createObject(f.t, provider)
	}
}

// reconcileObjects stores every object as the manager of this provider does after a reconciliation.
func (f *fakeClusterctl) reconcileObjects() {
	f.t.Helper()
	for _, kind := range []string{"AzureClusterIdentity", "AzureCluster", "AzureMachine", "AzureASOManagedCluster"} {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(migration.GroupVersion.WithKind(kind + "List"))
		if err := api.client.List(f.t.Context(), list); err != nil {
			f.t.Fatal(err)
		}
		for i := range list.Items {
			item := &list.Items[i]
			status := map[string]any{"observedGeneration": item.GetGeneration(), "conditions": []any{map[string]any{
				"type": "Ready", "status": "True", "reason": "Ready", "message": "", "lastTransitionTime": "2026-01-02T00:00:00Z"}}}
			annotations := item.GetAnnotations()
			if annotations == nil {
				annotations = map[string]string{}
			}
			if kind == "AzureCluster" {
				status["failureDomains"] = []any{map[string]any{"name": "1", "controlPlane": true}, map[string]any{"name": "2", "controlPlane": true}}
				status["conditions"] = append(status["conditions"].([]any), f.driftedOf(item)...)
				annotations["sigs.k8s.io/cluster-api-provider-azure-applied"] = `{"applied":{"*":["/tags/a"]},"ownerID":"7777","migration":{"kept":{}}}`
			}
			item.SetAnnotations(annotations)
			item.Object["status"] = status
			storeInEtcd(f.t, item)
		}
	}
}

// clusterOne returns the Cluster of this provider, without content.
func clusterOne() *unstructured.Unstructured {
	cluster := &unstructured.Unstructured{}
	cluster.SetAPIVersion("cluster.x-k8s.io/v1beta2")
	cluster.SetKind("Cluster")
	cluster.SetNamespace("default")
	cluster.SetName("one")
	return cluster
}

// driftedOf returns the condition Drifted of an AzureCluster whose Cluster is observed.
func (f *fakeClusterctl) driftedOf(object *unstructured.Unstructured) []any {
	f.t.Helper()
	owner := clusterOne()
	if err := api.client.Get(f.t.Context(), client.ObjectKeyFromObject(object), owner); err != nil {
		f.t.Fatal(err)
	}
	if owner.GetAnnotations()["infrastructure.cluster.x-k8s.io/observe"] == "" {
		return nil
	}
	return []any{map[string]any{"type": "Drifted", "status": "True", "reason": "Drifted", "lastTransitionTime": "2026-01-02T00:00:00Z",
		"message": "When observing ends, the manager will: update virtualNetworks/one-vnet"}}
}

// repeatKilled repeats a migration whose program is killed after the given number of writes, until it ends.
func repeatKilled(t *testing.T, c *fakeClusterctl, writes int, run func(*steps.Move) error) (runs int) {
	t.Helper()
	for runs = 1; ; runs++ {
		err := run(newMove(t, c, writes))
		if err == nil {
			return runs
		}
		if !errors.Is(err, errKilled) {
			t.Fatal(err)
		}
		if runs == 100 {
			t.Fatalf("the migration has not ended after %d runs: %v", runs, err)
		}
	}
}

// TestMigrateInterrupted moves a management cluster and back with a program that is killed after every few writes, and in the middle of
// clusterctl. Afterwards the stored objects are those before, with the listed differences.
func TestMigrateInterrupted(t *testing.T) {
	installCluster(t)
	ownAnOperatorObject(t)
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t), killed: 1}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })
	before := takeSnapshot(t)

	var results []steps.Result
	first := true
	runs := repeatKilled(t, c, 2, func(m *steps.Move) (err error) {
		m.Observe, first = first, false // A repetition keeps it.
		results, err = m.Forward(t.Context())
		return err
	})
	t.Logf("%d runs until the migration was complete", runs)
	if runs < 5 {
		t.Errorf("only %d runs: the program was hardly killed", runs)
	}
	want := []steps.Result{
		{Object: "AzureCluster default/one", Before: "True", After: "True",
			Planned: "When observing ends, the manager will: update virtualNetworks/one-vnet"},
		{Object: "AzureClusterIdentity default/workload", Before: "-", After: "True"},
		{Object: "AzureClusterIdentity team/elsewhere", Before: "-", After: "True"},
		{Object: "AzureClusterIdentity team/prepared", Before: "-", After: "True"},
		{Object: "AzureMachine default/one-control-plane-a", Before: "True", After: "True"},
		{Object: "AzureMachine default/one-worker-b", Before: "False", After: "True"},
	}
	if diff := cmp.Diff(want, results); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	moved := takeSnapshot(t)
	if diff := cmp.Diff([]string{"metadata.annotations.infrastructure.cluster.x-k8s.io/observe"}, differingPaths(before, moved, "Cluster default/one")); diff != "" {
		t.Errorf("the observed Cluster (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before["Cluster team/other"], moved["Cluster team/other"]); diff != "" {
		t.Errorf("the Cluster of another provider was changed:\n%s", diff)
	}
	observe := func(value any) {
		t.Helper()
		patch := map[string]any{"metadata": map[string]any{"annotations": map[string]any{"infrastructure.cluster.x-k8s.io/observe": value}}}
		raw, err := json.Marshal(patch)
		if err != nil {
			t.Fatal(err)
		}
		if err := api.client.Patch(t.Context(), clusterOne(), client.RawPatch("application/merge-patch+json", raw)); err != nil {
			t.Fatal(err)
		}
	}
	observe(nil) // The user releases it.
	if diff := cmp.Diff([]string{"metadata.annotations.infrastructure.cluster.x-k8s.io/observe"},
		differingPaths(before, moved, "Cluster default/classy")); diff != "" {
		t.Errorf("a Cluster with a topology is not paused any more (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{
		"metadata.annotations.serviceoperator.azure.com/reconcile-policy", "metadata.finalizers", "metadata.ownerReferences",
	}, differingPaths(before, moved, "ResourceGroup default/one")); diff != "" {
		t.Errorf("the operator's object of a cluster (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(before["StorageAccount team/kept"], moved["StorageAccount team/kept"]); diff != "" {
		t.Errorf("the operator's object of another user was changed:\n%s", diff)
	}
	if leftovers := leftRoles(moved); len(leftovers) > 0 {
		t.Errorf("roles of the established provider are left: %v", leftovers)
	}
	stored := moved["ConfigMap capz-system/capz-migration"].(map[string]any)["data"].(map[string]any)
	if diff := cmp.Diff([]string{"direction", "from", "observe", "started", "steps", "stopped"}, slices.Sorted(maps.Keys(stored))); diff != "" {
		t.Errorf("the progress must not grow with the number of objects (-want +got):\n%s", diff)
	}
	calls := len(c.calls)
	other := newMove(t, c, 0)
	other.To = "v2.0.1"
	if _, err := other.Forward(t.Context()); err == nil || !strings.Contains(err.Error(), "has installed version "+target) {
		t.Errorf("a repetition with another version ends with %v", err)
	}
	again, err := newMove(t, c, 1).Forward(t.Context())
	if err != nil || len(c.calls) != calls || !cmp.Equal(again, results) {
		t.Errorf("a repetition after the end: %v, %v, clusterctl was called %d times", err, again, len(c.calls)-calls)
	}
	if diff := cmp.Diff(before["Cluster default/one"], takeSnapshot(t)["Cluster default/one"]); diff != "" {
		t.Errorf("a repetition observes a Cluster that was released:\n%s", diff)
	}

	out, err := runCapz(t, &environment.Environment{Version: target}, "migrate", "check", "--back")
	if err != nil {
		t.Error(err)
	}
	compareGolden(t, "back.txt", out)
	runs = repeatKilled(t, c, 1, func(m *steps.Move) error { return m.Back(t.Context()) })
	t.Logf("%d runs until the return was complete", runs)
	after := takeSnapshot(t)
	if diff := cmp.Diff(slices.Sorted(maps.Keys(before)), slices.Sorted(maps.Keys(after))); diff != "" {
		t.Errorf("objects before and after the return (-before +after):\n%s", diff)
	}
	got := map[string][]string{}
	for name := range before {
		if paths := differingPaths(before, after, name); len(paths) > 0 {
			got[name] = paths
		}
	}
	if diff := cmp.Diff(listedDifferences, got); diff != "" {
		t.Errorf("differences after the return (-listed +got):\n%s", diff)
	}
}

// TestMigrateBackBeforeUpgrade returns from a migration that ended in the middle of clusterctl: the former version is still the one of the
// inventory, and half of its objects are gone. Afterwards all objects are those before.
func TestMigrateBackBeforeUpgrade(t *testing.T) {
	installCluster(t)
	ownAnOperatorObject(t)
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t), killed: 1}
	t.Cleanup(func() { forgetMigration(t) })
	before := takeSnapshot(t)
	if _, err := newMove(t, c, 1000).Forward(t.Context()); !errors.Is(err, errKilled) {
		t.Fatalf("the migration ends with %v", err)
	}
	if err := newMove(t, c, 1000).Back(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, takeSnapshot(t)); diff != "" {
		t.Errorf("objects before and after the return (-before +after):\n%s", diff)
	}
}

// listedDifferences are those of docs/design/migration.md: the established provider computes the conditions anew.
var listedDifferences = map[string][]string{
	"AzureCluster default/one": {"metadata.annotations.sigs.k8s.io/cluster-api-provider-azure-applied", "status.conditions",
		"status.observedGeneration", "status.ready"},
	"AzureMachine default/one-control-plane-a": {"status.conditions", "status.observedGeneration", "status.ready", "status.vmState"},
	"AzureMachine default/one-worker-b":        {"status.conditions", "status.observedGeneration", "status.ready"},
	"AzureClusterIdentity default/workload":    {"status.conditions", "status.observedGeneration"},
	"AzureClusterIdentity team/elsewhere":      {"status.conditions", "status.observedGeneration"},
	"AzureClusterIdentity team/prepared":       {"status.conditions", "status.observedGeneration"},
}

// ownAnOperatorObject gives the operator's object the ID of its owner, as the garbage collector of Kubernetes demands.
func ownAnOperatorObject(t *testing.T) {
	t.Helper()
	owner, owned := &unstructured.Unstructured{}, &unstructured.Unstructured{}
	owner.SetGroupVersionKind(migration.GroupVersion.WithKind("AzureCluster"))
	owned.SetAPIVersion("resources.azure.com/v1api20240901storage")
	owned.SetKind("ResourceGroup")
	for _, object := range []*unstructured.Unstructured{owner, owned} {
		if err := api.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "one"}, object); err != nil {
			t.Fatal(err)
		}
	}
	references := owned.GetOwnerReferences()
	references[0].UID = owner.GetUID()
	owned.SetOwnerReferences(references)
	if err := api.client.Update(t.Context(), owned); err != nil {
		t.Fatal(err)
	}
}

// leftRoles returns the roles that only the established provider has.
func leftRoles(objects map[string]any) []string {
	var out []string
	for name := range objects {
		if strings.HasPrefix(name, "ClusterRole") && (strings.Contains(name, "azureserviceoperator") || strings.Contains(name, "base-manager")) {
			out = append(out, name)
		}
	}
	return out
}

// differingPaths returns the paths at which an object differs between two snapshots, at most three names deep.
func differingPaths(before, after map[string]any, name string) []string {
	var out []string
	var walk func(path string, a, b any, depth int)
	walk = func(path string, a, b any, depth int) {
		if cmp.Equal(a, b) {
			return
		}
		was, wasObject := a.(map[string]any)
		is, isObject := b.(map[string]any)
		if depth == 3 || !wasObject && !isObject {
			out = append(out, strings.TrimPrefix(path, "."))
			return
		}
		for _, key := range slices.Compact(slices.Sorted(func(yield func(string) bool) {
			for key := range was {
				if !yield(key) {
					return
				}
			}
			for key := range is {
				if !yield(key) {
					return
				}
			}
		})) {
			walk(path+"."+key, was[key], is[key], depth+1)
		}
	}
	walk("", before[name], after[name], 0)
	return out
}

// TestMigrateWaits checks that a migration does not end before the manager has reconciled every object, and that it names those that it
// waits for.
func TestMigrateWaits(t *testing.T) {
	installCluster(t)
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t), idle: true}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })
	begin := func() error {
		move := newMove(t, c, 1000)
		move.Timeout = 200 * time.Millisecond
		_, err := move.Forward(t.Context())
		return err
	}
	if err := begin(); err == nil || !strings.Contains(err.Error(), "AzureCluster default/one is not reconciled") {
		t.Errorf("a migration without a manager ends with %v", err)
	}
	c.reconcileObjects()
	cluster := &unstructured.Unstructured{}
	cluster.SetGroupVersionKind(migration.GroupVersion.WithKind("AzureCluster"))
	if err := api.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "one"}, cluster); err != nil {
		t.Fatal(err)
	}
	conditions, _, _ := unstructured.NestedSlice(cluster.Object, "status", "conditions")
	conditions[0].(map[string]any)["status"] = "False"
	conditions[0].(map[string]any)["reason"] = "Failed"
	if err := unstructured.SetNestedSlice(cluster.Object, conditions, "status", "conditions"); err != nil {
		t.Fatal(err)
	}
	storeInEtcd(t, cluster)
	if err := begin(); err == nil || !strings.Contains(err.Error(), "AzureCluster default/one is not Ready") ||
		strings.Contains(err.Error(), "AzureMachine") {
		t.Errorf("a migration with an object that is not Ready any more ends with %v", err)
	}
	c.reconcileObjects()
	if err := begin(); err != nil {
		t.Error(err)
	}
}

// TestMigrateRun runs the command: it refuses to begin while findings block, passes flags to clusterctl, and prints the table.
func TestMigrateRun(t *testing.T) {
	installCluster(t)
	c := &fakeClusterctl{t: t, former: formerObjects(t), released: releasedObjects(t)}
	t.Cleanup(func() { deleteAll(t, c.released); forgetMigration(t) })
	var called []string
	given := map[string][]string{}
	e := &environment.Environment{Version: target, Credential: unknown{},
		OpenFile: func(string) (io.ReadCloser, error) {
			return io.NopCloser(strings.NewReader("exp_edgezone: false\n")), nil
		},
		RunProgram: func(ctx context.Context, _ io.Writer, variables []string, name string, arguments ...string) error {
			called = append([]string{name}, arguments...)
			if arguments[0] == "generate" {
				return c.find(ctx, strings.TrimPrefix(arguments[3], "azure:"))
			}
			given[arguments[0]] = variables
			return c.run(ctx, nil, arguments...)
		}}
	bad := &unstructured.Unstructured{}
	bad.SetGroupVersionKind(migration.GroupVersion.WithKind("AzureMachine"))
	if err := api.client.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: "one-worker-b"}, bad); err != nil {
		t.Fatal(err)
	}
	good := bad.DeepCopy()
	if err := unstructured.SetNestedField(bad.Object, "..", "spec", "subnetName"); err != nil {
		t.Fatal(err)
	}
	storeInEtcd(t, bad)
	before := takeSnapshot(t)
	if _, err := runCapz(t, e, "migrate", "run"); err == nil ||
		!strings.Contains(err.Error(), "findings block the migration: 2. Nothing was changed.") {
		t.Errorf("a migration with a finding that blocks ends with %v", err)
	}
	if diff := cmp.Diff(before, takeSnapshot(t)); diff != "" {
		t.Errorf("a migration that was refused has changed objects:\n%s", diff)
	}
	storeInEtcd(t, good)
	snapshotGood := takeSnapshot(t)
	for _, version := range []string{"dev", "2.0.0", "v1.26.1"} {
		if _, err := runCapz(t, e, "migrate", "run", "--plan=false", "--to", version); err == nil || !strings.Contains(err.Error(), "Set --to") {
			t.Errorf("a migration to version %s ends with %v", version, err)
		}
	}
	c.missing = target
	if _, err := runCapz(t, e, "migrate", "run", "--plan=false"); err == nil || !strings.Contains(err.Error(), "findings block the migration: 1. Nothing was changed.") {
		t.Errorf("a migration to a release that clusterctl cannot read ends with %v", err)
	}
	findings, err := runCapz(t, e, "migrate", "check", "--plan=false", "--clusterctl", "ctl", "--clusterctl-config", "c.yaml")
	if !errors.Is(err, environment.FoundError{}) || !strings.Contains(findings, "clusterctl cannot read version v2.0.0. ctl generate provider --infrastructure azure:v2.0.0 --describe --config c.yaml: not found") {
		t.Errorf("the check of that migration ends with %v:\n%s", err, findings)
	}
	if diff := cmp.Diff(snapshotGood, takeSnapshot(t)); diff != "" {
		t.Errorf("a migration to a release that clusterctl cannot read has changed objects:\n%s", diff)
	}
	c.missing = ""
	out, err := runCapz(t, e, "migrate", "run", "--observe", "--isolate", "default", "--clusterctl", filepath.Join("bin", "ctl"), "--clusterctl-config",
		"c.yaml", "--unchecked-aso-kinds", "dashboard.azure.com/Grafana",
		"--core", "cluster-api:v1.14.2")
	if err != nil {
		t.Fatal(err)
	}
	compareGolden(t, "run.txt", out)
	line := strings.Join(called, " ")
	for _, part := range []string{"bin/ctl upgrade apply --infrastructure azure:v2.0.0 --wait-providers --core cluster-api:v1.14.2 --kubeconfig ",
		" --config c.yaml"} {
		if !strings.Contains(line, part) {
			t.Errorf("clusterctl was called as %q, without %q", line, part)
		}
	}
	moved := takeSnapshot(t)
	if diff := cmp.Diff([]string{"metadata.annotations.infrastructure.cluster.x-k8s.io/observe"}, differingPaths(before, moved, "Cluster default/one")); diff != "" {
		t.Errorf("--observe (-want +got):\n%s", diff)
	}
	if moved["ServiceAccount default/capz-workload-identity"] == nil {
		t.Error("--isolate has created no ServiceAccount")
	}
	c.missing = "v1.26.0"
	if _, err := runCapz(t, e, "migrate", "back"); err == nil || !strings.Contains(err.Error(), "clusterctl cannot read version v1.26.0") {
		t.Errorf("a return to a version that clusterctl cannot read ends with %v", err)
	}
	if findings, err := runCapz(t, e, "migrate", "check", "--back"); !errors.Is(err, environment.FoundError{}) || !strings.Contains(findings, "clusterctl cannot read version v1.26.0") {
		t.Errorf("the check of that return ends with %v:\n%s", err, findings)
	}
	if diff := cmp.Diff(moved, takeSnapshot(t)); diff != "" {
		t.Errorf("a return to a version that clusterctl cannot read has changed objects:\n%s", diff)
	}
	c.missing = ""
	if _, err := runCapz(t, e, "migrate", "back", "--clusterctl", filepath.Join("bin", "ctl")); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before["Cluster default/one"], takeSnapshot(t)["Cluster default/one"]); diff != "" {
		t.Errorf("the Cluster before and after the return (-before +after):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"upgrade apply", "delete --infrastructure", "init --infrastructure"}, c.calls); diff != "" {
		t.Errorf("calls of clusterctl (-want +got):\n%s", diff)
	}
	settings := []string{"AZURE_SUBSCRIPTION_ID_B64=MDAwMDAwMDAtMDAwMC0wMDAwLTAwMDAtMDAwMDAwMDAwMDAx", "EXP_APISERVER_ILB=true", "EXP_MACHINE_POOL=true"}
	upgrade := slices.Insert(slices.Clone(settings), 1, "CAPZ_UNCHECKED_ASO_KINDS=dashboard.azure.com/Grafana")
	if diff := cmp.Diff(map[string][]string{"upgrade": upgrade, "delete": nil, "init": append(settings[:2:2], "EXP_EDGEZONE=true", "EXP_MACHINE_POOL=true")},
		given); diff != "" {
		t.Errorf("variables of the established provider that the configuration of --clusterctl-config does not set (-want +got):\n%s", diff)
	}
	if line := strings.Join(called, " "); !strings.HasPrefix(line, "bin/ctl init --infrastructure azure:v1.26.0 --wait-providers --kubeconfig ") {
		t.Errorf("clusterctl was called as %q", line)
	}
}

// forgetMigration deletes the objects that a migration leaves in the manager's namespace, and the account of --isolate.
func forgetMigration(t *testing.T) {
	t.Helper()
	for _, of := range [][4]string{{"v1", "ConfigMap", "capz-system", "capz-migration"},
		{"v1", "Secret", "capz-system", "capz-migration-backup"},
		{"v1", "Secret", "capz-system", "capz-migration-backup-0"}, {"v1", "Secret", "capz-system", "capz-migration-backup-b-0"},
		{"v1", "ServiceAccount", "default", "capz-workload-identity"}} {
		object := &unstructured.Unstructured{}
		object.SetAPIVersion(of[0])
		object.SetKind(of[1])
		object.SetNamespace(of[2])
		object.SetName(of[3])
		deleteAll(t, []*unstructured.Unstructured{object})
	}
}
