package contract_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/blang/semver/v4"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// promise is a part of the contract that objects of some kinds keep once their cluster works.
type promise struct {
	reason string
	kinds  []string
	check  func(object map[string]any) error
}

var (
	infraClusters     = []string{"AzureCluster", "AzureManagedCluster", "AzureASOManagedCluster"}
	controlPlanes     = []string{"AzureManagedControlPlane", "AzureASOManagedControlPlane"}
	infraMachines     = []string{"AzureMachine", "AzureMachinePoolMachine"}
	infraMachinePools = []string{"AzureMachinePool", "AzureManagedMachinePool", "AzureASOManagedMachinePool"}
	infrastructure    = slices.Concat(infraClusters, infraMachines, infraMachinePools)
	reconciled        = slices.Concat(infrastructure, controlPlanes)
)

// promises are by the headings of the contract's pages.
var promises = map[string]promise{
	"initialization completed": {"Cluster API goes on when it is", infrastructure, func(o map[string]any) error {
		return checkValue(o, true, "status", "initialization", "provisioned")
	}},
	"ready of a pool": {"Cluster API 1.14 reads it instead of initialization.provisioned", infraMachinePools, func(o map[string]any) error {
		return checkValue(o, true, "status", "ready")
	}},
	"initialization completed of a control plane": {"Cluster API connects to the cluster", controlPlanes, func(o map[string]any) error {
		return checkValue(o, true, "status", "initialization", "controlPlaneInitialized")
	}},
	"conditions": {"Cluster API mirrors Ready", reconciled,
		func(o map[string]any) error { return checkCondition(o, clusterv1.ReadyCondition, "True") }},
	"conditions of a control plane": {"Cluster API mirrors Available", controlPlanes, func(o map[string]any) error {
		return checkCondition(o, clusterv1.AvailableCondition, "True")
	}},
	"pausing": {"users see that an object is not paused", reconciled,
		func(o map[string]any) error { return checkCondition(o, clusterv1.PausedCondition, "False") }},
	"endpoint": {"Cluster API copies it into the Cluster", append(slices.Clone(infraClusters), "AzureManagedControlPlane"),
		func(o map[string]any) error {
			host, _, _ := unstructured.NestedString(o, "spec", "controlPlaneEndpoint", "host")
			port, _, _ := unstructured.NestedInt64(o, "spec", "controlPlaneEndpoint", "port")
			return requireTrue(host != "" && port > 0, "the endpoint is %s:%d", host, port)
		}},
	"failure domains": {"machines are spread over them", []string{"AzureCluster"}, func(o map[string]any) error {
		domains, _, _ := unstructured.NestedSlice(o, "status", "failureDomains")
		return requireTrue(len(domains) > 1, "%d failure domains", len(domains))
	}},
	"provider ID": {"Cluster API finds the Node by it", infraMachines, func(o map[string]any) error {
		id, _, _ := unstructured.NestedString(o, "spec", "providerID")
		return requireTrue(strings.HasPrefix(id, "azure:///subscriptions/"), "the provider ID is %q", id)
	}},
	"addresses": {"the Machine shows them", infraMachines, func(o map[string]any) error {
		addresses, _, _ := unstructured.NestedSlice(o, "status", "addresses")
		return requireTrue(len(addresses) > 0, "no addresses")
	}},
	"providerIDList and replicas": {"Cluster API counts the replicas", infraMachinePools, func(o map[string]any) error {
		ids, _, _ := unstructured.NestedStringSlice(o, "spec", "providerIDList")
		replicas, _, _ := unstructured.NestedInt64(o, "status", "replicas")
		return requireTrue(len(ids) > 0 && len(ids) == int(replicas), "%d replicas and the provider IDs %q", replicas, ids)
	}},
	"MachinePoolMachines": {"the VMs of a pool have Machines", []string{"AzureMachinePool"}, func(o map[string]any) error {
		return checkValue(o, "AzureMachinePoolMachine", "status", "infrastructureMachineKind")
	}},
	"version": {"an upgrade ends when they are all of the wanted version", controlPlanes, func(o map[string]any) error {
		versions, _, _ := unstructured.NestedSlice(o, "status", "versions")
		last := semver.Version{}
		for _, each := range versions {
			shown, _, _ := unstructured.NestedString(each.(map[string]any), "version")
			version, err := semver.Parse(strings.TrimPrefix(shown, "v"))
			if err != nil || !strings.HasPrefix(shown, "v") || version.LE(last) {
				return fmt.Errorf("%q after %s: %w", shown, last, err)
			}
			last = version
		}
		return requireTrue(len(versions) > 0, "no versions")
	}},
	"control planes without Nodes": {"Cluster API waits for no Nodes of it", controlPlanes, func(o map[string]any) error {
		return checkValue(o, true, "status", "externalManagedControlPlane")
	}},
}

func checkValue(object map[string]any, want any, path ...string) error {
	got, _, err := unstructured.NestedFieldNoCopy(object, path...)
	return requireTrue(err == nil && got == want, "%s is %v, want %v", strings.Join(path, "."), got, want)
}

func checkCondition(object map[string]any, name, status string) error {
	all, _, _ := unstructured.NestedSlice(object, "status", "conditions")
	i := slices.IndexFunc(all, func(c any) bool { return c.(map[string]any)["type"] == name })
	if i < 0 {
		return fmt.Errorf("there is no condition %s", name)
	}
	got := all[i].(map[string]any)
	return requireTrue(got["status"] == status && got["reason"] != "" && got["lastTransitionTime"] != nil, "condition %s is %v", name, got)
}

func requireTrue(so bool, format string, arguments ...any) error {
	if so {
		return nil
	}
	return fmt.Errorf(format, arguments...)
}

// TestKinds checks objects of clusters of all kinds against the contract: while they work, while their Clusters are paused, and by the
// owners of the objects that the controllers create for them.
func TestKinds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := virtual.New(t)
		w.StartProvider()
		player := harness.PoolPlayer{Client: w.Kubernetes, Namespace: w.Namespace}
		w.Meanwhile = func() { player.PlayOnce(t.Context()) }
		w.BuildCluster("c1", 1)
		makePool(w, "c1")
		w.BuildAKSCluster("aks1", 1)
		w.CreateASOCluster(w.BuildASOCluster("aks2", "pool1"))
		virtual.WaitForSignal(nil, 10*time.Minute)

		all := listStored(w)
		for name, promise := range promises {
			for _, kind := range promise.kinds {
				if len(all[kind]) == 0 {
					t.Errorf("%s: there is no %s", name, kind)
				}
				for _, object := range all[kind] {
					if err := promise.check(object.Object); err != nil {
						t.Errorf("%s: %s %s: %v. It counts because %s", name, kind, object.GetName(), err, promise.reason)
					}
				}
			}
		}
		checkOwners(w, all)

		for _, paused := range []bool{true, false} {
			for _, name := range []string{"c1", "aks1", "aks2"} {
				harness.ChangeObject(w.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}},
					func(c *clusterv1.Cluster) { c.Spec.Paused = &paused })
			}
			virtual.WaitForSignal(nil, time.Minute)
			want := map[bool]string{true: "True", false: "False"}[paused]
			now := listStored(w)
			for _, kind := range reconciled {
				for _, object := range now[kind] {
					if err := checkCondition(object.Object, clusterv1.PausedCondition, want); err != nil {
						t.Errorf("paused %t: %s %s: %v", paused, kind, object.GetName(), err)
					}
				}
			}
		}
	})
}

// makePool creates a pool of one VM, and waits until it is Ready.
func makePool(w *virtual.Scenario, cluster string) {
	w.T.Helper()
	w.ApplyPool(cluster, "pool", 1)
	w.WaitUntil("the pool is Ready",
		virtual.ObjectMatches(w, &infrav1.AzureMachinePool{}, "pool",
			func(p *infrav1.AzureMachinePool) bool { return harness.IsReady(p) && p.Status.Replicas == 1 }))
}

// listStored returns all objects of the kinds of this provider, by kind.
func listStored(w *virtual.Scenario) map[string][]*unstructured.Unstructured {
	w.T.Helper()
	out := map[string][]*unstructured.Unstructured{}
	for kind, list := range harness.NewLists(w.Client.Scheme()) {
		if err := w.Client.List(w.T.Context(), list, client.InNamespace(w.Namespace)); err != nil {
			w.T.Fatal(err)
		}
		raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(list)
		if err != nil {
			w.T.Fatal(err)
		}
		items, _, err := unstructured.NestedSlice(raw, "items")
		if err != nil {
			w.T.Fatal(err)
		}
		for _, item := range items {
			out[kind] = append(out[kind], &unstructured.Unstructured{Object: item.(map[string]any)})
		}
	}
	return out
}

// checkOwners follows the owners of each object that controllers of this provider made, or whose kind Cluster API owns, up to a
// Cluster, and checks the rights that OwnerReferencesPermissionEnforcement requires.
func checkOwners(w *virtual.Scenario, all map[string][]*unstructured.Unstructured) {
	w.T.Helper()
	owners := map[string][]metav1.OwnerReference{}
	note := func(kind string, object client.Object) {
		owners[kind+"/"+object.GetName()] = object.GetOwnerReferences()
	}
	for kind, list := range all {
		for _, object := range list {
			note(kind, object)
		}
	}
	machines, pools := &clusterv1.MachineList{}, &clusterv1.MachinePoolList{}
	for _, list := range []client.ObjectList{machines, pools} {
		if err := w.Client.List(w.T.Context(), list, client.InNamespace(w.Namespace)); err != nil {
			w.T.Fatal(err)
		}
	}
	for i := range machines.Items {
		machine := &machines.Items[i]
		note("Machine", machine)
		// Cluster API makes the Cluster the owner of a Machine in the end.
		owners["Machine/"+machine.Name] = append(owners["Machine/"+machine.Name],
			metav1.OwnerReference{Kind: "Cluster", Name: machine.Spec.ClusterName})
	}
	for i := range pools.Items {
		owners["MachinePool/"+pools.Items[i].Name] = []metav1.OwnerReference{{Kind: "Cluster", Name: pools.Items[i].Spec.ClusterName}}
	}
	made := 0
	for _, object := range listPublished(w) {
		kind := "Secret"
		if _, ok := object.(*corev1.ConfigMap); ok {
			kind = "ConfigMap"
		}
		// Those of users and of the bootstrap provider have no owner among the kinds of this provider.
		if slices.ContainsFunc(object.GetOwnerReferences(),
			func(owner metav1.OwnerReference) bool { return strings.HasPrefix(owner.Kind, "Azure") }) {
			note(kind, object)
			made++
		}
	}
	if made < 4 {
		w.T.Errorf("only %d Secrets and ConfigMaps have an owner of this provider", made)
	}
	may := finalizerRights(w.T)
	for object, list := range owners {
		if strings.HasPrefix(object, "AzureClusterIdentity/") {
			continue // It belongs to no Cluster; clusterctl moves it by a label of its kind.
		}
		if !leadsToCluster(owners, object, 0) {
			w.T.Errorf("the owners of %s, %v, do not lead to a Cluster", object, list)
		}
		ours := strings.HasPrefix(object, "Secret/") || strings.HasPrefix(object, "ConfigMap/") ||
			strings.HasPrefix(object, "AzureMachinePoolMachine/")
		for _, owner := range list {
			if ours && strings.HasPrefix(owner.Kind, "Azure") && owner.BlockOwnerDeletion != nil && *owner.BlockOwnerDeletion &&
				!may[strings.ToLower(owner.Kind)+"s"] {
				w.T.Errorf("%s blocks the deletion of its owner %s, and the role has no right to update finalizers of that kind", object, owner.Kind)
			}
		}
	}
}

// leadsToCluster reports whether an object is owned by a Cluster, or by an object that is.
func leadsToCluster(owners map[string][]metav1.OwnerReference, object string, depth int) bool {
	return depth < 10 && slices.ContainsFunc(owners[object], func(owner metav1.OwnerReference) bool {
		return owner.Kind == "Cluster" || leadsToCluster(owners, owner.Kind+"/"+owner.Name, depth+1)
	})
}
