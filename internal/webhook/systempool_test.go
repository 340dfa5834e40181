package webhook

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/yaml"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// family builds the objects of a cluster with pools, and asks the webhook of its pools.
type family struct {
	controlPlane func() client.Object
	pool         func(name, mode string) client.Object
	// remove and change ask to delete a pool, and to give it the spec of another.
	remove func(t *testing.T, reader client.Reader, pool client.Object) error
	change func(t *testing.T, reader client.Reader, pool, to client.Object) error
	// mode is the field with the mode.
	mode string
}

func rawManifest(t *testing.T, text string) runtime.RawExtension {
	t.Helper()
	raw, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}

func poolManifestOf(t *testing.T, name, mode, annotations string) runtime.RawExtension {
	t.Helper()
	return rawManifest(t, "{apiVersion: containerservice.azure.com/v1api20251001, kind: ManagedClustersAgentPool, metadata: {name: "+name+
		", annotations: {"+annotations+"}}, spec: {owner: {name: c1}, mode: "+mode+"}}")
}

func newFamilies(t *testing.T) map[string]family {
	t.Helper()
	return map[string]family{
		"AzureManagedControlPlane": {
			controlPlane: func() client.Object { return &infrav1.AzureManagedControlPlane{} },
			pool: func(name, mode string) client.Object {
				p := &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
				p.Spec.Mode, p.Spec.SKU = mode, "Standard_D2s_v3"
				return p
			},
			remove: func(t *testing.T, reader client.Reader, pool client.Object) error {
				_, err := managedMachinePoolKind(managedLookup{reader}).ValidateDelete(t.Context(), pool.(*infrav1.AzureManagedMachinePool))
				return err
			},
			change: func(t *testing.T, reader client.Reader, pool, to client.Object) error {
				_, err := managedMachinePoolKind(managedLookup{reader}).ValidateUpdate(t.Context(), pool.(*infrav1.AzureManagedMachinePool),
					to.(*infrav1.AzureManagedMachinePool))
				return err
			},
			mode: "spec.mode",
		},
		"AzureASOManagedControlPlane": {
			controlPlane: func() client.Object { return &infrav1.AzureASOManagedControlPlane{} },
			pool: func(name, mode string) client.Object {
				p := &infrav1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}}
				p.Spec.Resources = []runtime.RawExtension{poolManifestOf(t, name, mode, "")}
				return p
			},
			remove: func(t *testing.T, reader client.Reader, pool client.Object) error {
				_, err := asoPools(managedLookup{reader}, plan.Features{}).ValidateDelete(t.Context(), pool.(*infrav1.AzureASOManagedMachinePool))
				return err
			},
			change: func(t *testing.T, reader client.Reader, pool, to client.Object) error {
				_, err := asoPools(managedLookup{reader}, plan.Features{}).ValidateUpdate(t.Context(), pool.(*infrav1.AzureASOManagedMachinePool),
					to.(*infrav1.AzureASOManagedMachinePool))
				return err
			},
			mode: "spec.resources[0].spec.mode",
		},
	}
}

// systemPoolCase is a cluster whose pool a loses its mode or is deleted.
type systemPoolCase struct {
	reason string
	// others are the modes of the other pools.
	others map[string]string
	// change changes the objects before they are stored.
	change  func(cluster *clusterv1.Cluster, controlPlane client.Object, pools map[string]client.Object)
	missing bool // the control plane does not exist
	refused bool
}

func (c systemPoolCase) store(t *testing.T, kind string, of family) (reader client.Reader, pool client.Object) {
	t.Helper()
	cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "n", Name: "c1"}}
	cluster.Spec.ControlPlaneRef.Kind, cluster.Spec.ControlPlaneRef.Name = kind, "cp"
	controlPlane := of.controlPlane()
	controlPlane.SetName("cp")
	pools := map[string]client.Object{"a": of.pool("a", "System")}
	for name, mode := range c.others {
		pools[name] = of.pool(name, mode)
	}
	if c.change != nil {
		c.change(cluster, controlPlane, pools)
	}
	objects := []client.Object{cluster}
	if !c.missing {
		objects = append(objects, controlPlane)
	}
	for _, pool := range pools {
		pool.SetLabels(map[string]string{clusterv1.ClusterNameLabel: "c1"})
		objects = append(objects, pool)
	}
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{infrav1.AddToScheme, clusterv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	for _, object := range objects {
		object.SetNamespace("n")
	}
	return fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build(), pools["a"]
}

func leave(object client.Object) {
	object.SetFinalizers([]string{"test/hold"})
	object.SetDeletionTimestamp(new(metav1.NewTime(time.Unix(1, 0))))
}

// TestLastSystemPoolOfFamilies deletes a System pool of a cluster of each family, and makes it a User pool.
func TestLastSystemPoolOfFamilies(t *testing.T) {
	type pools = map[string]client.Object
	for name, test := range map[string]systemPoolCase{
		"last":   {reason: "AKS needs one", others: map[string]string{"b": "User"}, refused: true},
		"others": {reason: "another one is left", others: map[string]string{"b": "System"}},
		"others that go": {reason: "none is left soon", others: map[string]string{"b": "System"}, refused: true,
			change: func(_ *clusterv1.Cluster, _ client.Object, all pools) { leave(all["b"]) }},
		"with the Cluster": {reason: "AKS deletes all pools with the cluster",
			change: func(cluster *clusterv1.Cluster, _ client.Object, _ pools) { leave(cluster) }},
		"with the control plane": {reason: "it waits for its pools, which AKS deletes with the cluster",
			change: func(_ *clusterv1.Cluster, controlPlane client.Object, _ pools) { leave(controlPlane) }},
		"without control plane": {reason: "there is no cluster", missing: true},
		"moved": {reason: "clusterctl deletes what it has moved", change: func(_ *clusterv1.Cluster, _ client.Object, all pools) {
			all["a"].SetAnnotations(map[string]string{deleteForMove: ""})
		}},
	} {
		for kind, of := range newFamilies(t) {
			t.Run(name+"/"+kind, func(t *testing.T) {
				reader, pool := test.store(t, kind, of)
				user := of.pool("a", "User")
				user.SetNamespace(pool.GetNamespace())
				user.SetLabels(pool.GetLabels())
				user.SetAnnotations(pool.GetAnnotations())
				for field, err := range map[string]error{"metadata.deletionTimestamp": of.remove(t, reader, pool), of.mode: of.change(t, reader, pool, user)} {
					if refused := err != nil; refused != test.refused {
						t.Errorf("%s: %s: %v", test.reason, field, err)
					}
					if err != nil && !strings.Contains(err.Error(), field+": Forbidden: this is the cluster's last pool with mode System") {
						t.Errorf("the message does not name %s: %v", field, err)
					}
				}
			})
		}
	}
}

// TestLastSystemPoolManifest deletes the only pool with a manifest of mode System, and changes its manifests.
func TestLastSystemPoolManifest(t *testing.T) {
	const kind = "AzureASOManagedControlPlane"
	of := newFamilies(t)[kind]
	extend := func(text string) func(*clusterv1.Cluster, client.Object, map[string]client.Object) {
		return func(_ *clusterv1.Cluster, controlPlane client.Object, _ map[string]client.Object) {
			object := controlPlane.(*infrav1.AzureASOManagedControlPlane)
			object.Spec.Resources = append(object.Spec.Resources, rawManifest(t, text))
		}
	}
	for name, test := range map[string]systemPoolCase{
		"stays": {reason: "the pool stays in Azure", change: func(_ *clusterv1.Cluster, _ client.Object, pools map[string]client.Object) {
			pools["a"].(*infrav1.AzureASOManagedMachinePool).Spec.Resources = []runtime.RawExtension{
				poolManifestOf(t, "a", "System", "serviceoperator.azure.com/reconcile-policy: detach-on-delete")}
		}},
		"in the control plane": {reason: "another object has the manifest of one", change: extend(
			"{apiVersion: containerservice.azure.com/v1api20251001, kind: ManagedClustersAgentPool, metadata: {name: s}, spec: {owner: {name: c1}, mode: System}}")},
		"of AKS": {reason: "AKS has nodes of its own for these pods", change: extend(
			"{apiVersion: containerservice.azure.com/v20251002preview, kind: ManagedCluster, metadata: {name: c1}, spec: {hostedSystemProfile: {enabled: true}}}")},
	} {
		t.Run(name, func(t *testing.T) {
			reader, pool := test.store(t, kind, of)
			if err := of.remove(t, reader, pool); err != nil {
				t.Errorf("%s: %v", test.reason, err)
			}
		})
	}
	reader, pool := systemPoolCase{}.store(t, kind, of)
	replaced := pool.DeepCopyObject().(*infrav1.AzureASOManagedMachinePool)
	replaced.Spec.Resources = []runtime.RawExtension{poolManifestOf(t, "other", "System", "")}
	if err := of.change(t, reader, pool, replaced); err != nil {
		t.Errorf("another System pool takes over: %v", err)
	}
}

// TestLastSystemPoolOfOtherObjects takes the manifest of a pool with mode System out of the control plane or the AzureASOManagedCluster, or
// changes its mode.
func TestLastSystemPoolOfOtherObjects(t *testing.T) {
	const kind = "AzureASOManagedControlPlane"
	of := newFamilies(t)[kind]
	system, user := poolManifestOf(t, "s", "System", ""), poolManifestOf(t, "s", "User", "")
	aks := rawManifest(t, "{apiVersion: containerservice.azure.com/v1api20251001, kind: ManagedCluster, metadata: {name: c1}, spec: {owner: {name: g}, location: eastus}}")
	meta := metav1.ObjectMeta{Namespace: "n", Name: "cp", Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}}
	update := map[string]func(reader client.Reader, before, after []runtime.RawExtension) error{
		"control plane": func(reader client.Reader, before, after []runtime.RawExtension) error {
			old, changed := &infrav1.AzureASOManagedControlPlane{ObjectMeta: meta}, &infrav1.AzureASOManagedControlPlane{ObjectMeta: meta}
			old.Spec.Resources, changed.Spec.Resources = append(before, aks), append(after, aks)
			_, err := asoControlPlanes(managedLookup{reader}, plan.Features{}).ValidateUpdate(t.Context(), old, changed)
			return err
		},
		"cluster": func(reader client.Reader, before, after []runtime.RawExtension) error {
			old, changed := &infrav1.AzureASOManagedCluster{ObjectMeta: meta}, &infrav1.AzureASOManagedCluster{ObjectMeta: meta}
			old.Spec.Resources, changed.Spec.Resources = before, after
			_, err := asoClusters(managedLookup{reader}, plan.Features{}).ValidateUpdate(t.Context(), old, changed)
			return err
		},
	}
	for name, test := range map[string]struct {
		pool    string // the mode of the pool with an object of its own
		after   []runtime.RawExtension
		refused bool
	}{
		"removed":                  {pool: "User", refused: true},
		"mode changed":             {pool: "User", after: []runtime.RawExtension{user}, refused: true},
		"removed, another is left": {pool: "System"},
		"kept":                     {pool: "User", after: []runtime.RawExtension{system}},
	} {
		for object, update := range update {
			t.Run(name+"/"+object, func(t *testing.T) {
				reader, _ := systemPoolCase{change: func(_ *clusterv1.Cluster, controlPlane client.Object, pools map[string]client.Object) {
					pools["a"].(*infrav1.AzureASOManagedMachinePool).Spec.Resources = []runtime.RawExtension{poolManifestOf(t, "a", test.pool, "")}
					if object == "control plane" {
						controlPlane.(*infrav1.AzureASOManagedControlPlane).Spec.Resources = []runtime.RawExtension{system}
					}
				}}.store(t, kind, of)
				err := update(reader, []runtime.RawExtension{system}, test.after)
				if (err != nil) != test.refused || err != nil && !strings.Contains(err.Error(), "spec.resources") {
					t.Errorf("refused: %v", err)
				}
			})
		}
	}
}
