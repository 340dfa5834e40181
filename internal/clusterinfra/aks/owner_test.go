package aks

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/aso"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

func TestClusterOf(t *testing.T) {
	controls := func(name, kind, ref string) *clusterv1.Cluster {
		cluster := storetest.NewCluster(name, ClusterKind, name)
		cluster.Spec.ControlPlaneRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind, Name: ref}
		return cluster
	}
	foreign := controls("a", ControlPlaneKind, "cp")
	foreign.Spec.ControlPlaneRef.APIGroup = "controlplane.cluster.x-k8s.io"
	far := controls("a", ControlPlaneKind, "cp")
	far.Namespace = "far"
	owned := &infrav1.AzureManagedControlPlane{ObjectMeta: storetest.NewOwnedMeta("cp", "mine")}
	shared := owned.DeepCopy()
	shared.OwnerReferences = append([]metav1.OwnerReference{{APIVersion: "postgresql.cnpg.io/v1", Kind: "Cluster", Name: "a", UID: "v"}},
		shared.OwnerReferences...)
	free := &infrav1.AzureManagedControlPlane{ObjectMeta: storetest.NewMeta("cp")}
	tests := map[string]struct {
		reason   string
		of       client.Object
		kind     string
		clusters []client.Object
		want     string
	}{
		"owner": {"the owner reference decides", owned, ControlPlaneKind,
			[]client.Object{controls("mine", "Other", "x"), controls("a", ControlPlaneKind, "cp")}, "mine"},
		"two owners": {"a tool's kind may have this name, too", shared, ControlPlaneKind,
			[]client.Object{controls("mine", "Other", "x"), controls("a", "Other", "x")}, "mine"},
		"owner gone": {"another Cluster that refers to it does not own it", owned, ControlPlaneKind,
			[]client.Object{controls("a", ControlPlaneKind, "cp")}, ""},
		"not yet owned": {"the Cluster that refers to it will own it", free, ControlPlaneKind,
			[]client.Object{controls("mine", ControlPlaneKind, "cp")}, "mine"},
		"as infrastructure": {"either reference counts", &infrav1.AzureManagedCluster{ObjectMeta: storetest.NewMeta("mine")}, ClusterKind,
			[]client.Object{controls("mine", ControlPlaneKind, "cp")}, "mine"},
		"other kind": {"a control plane of kubeadm may have the same name", free, ControlPlaneKind,
			[]client.Object{controls("a", "KubeadmControlPlane", "cp")}, ""},
		"other group": {"another provider may have the same kind", free, ControlPlaneKind, []client.Object{foreign}, ""},
		"other name": {"the reference is to another one", free, ControlPlaneKind,
			[]client.Object{controls("a", ControlPlaneKind, "other")}, ""},
		"other namespace": {"references do not cross namespaces", free, ControlPlaneKind, []client.Object{far}, ""},
		"Cluster that leaves": {"it will own nothing any more", free, ControlPlaneKind,
			[]client.Object{storetest.MarkDeleting(controls("a", ControlPlaneKind, "cp"))}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := FindCluster(t.Context(), storetest.NewClient(t, test.clusters...), test.of, test.kind)
			if err != nil || storetest.NameOf(got) != test.want {
				t.Errorf("%s: got %q, %v", test.reason, storetest.NameOf(got), err)
			}
		})
	}
}

func machinePool(name, cluster, kind, ref string) *clusterv1.MachinePool {
	object := &clusterv1.MachinePool{ObjectMeta: storetest.NewMeta(name)}
	object.Spec.ClusterName = cluster
	object.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind,
		Name: ref}
	return object
}

func azurePool(name, cluster string) *infrav1.AzureManagedMachinePool {
	object := &infrav1.AzureManagedMachinePool{ObjectMeta: storetest.NewMeta(name)}
	if cluster != "" {
		object.Labels = map[string]string{clusterv1.ClusterNameLabel: cluster}
	}
	return object
}

func TestMachinePoolOf(t *testing.T) {
	tests := map[string]struct {
		reason string
		pools  []client.Object
		want   string
	}{
		"its own": {"the MachinePool names its infrastructure",
			[]client.Object{machinePool("m", "c1", MachinePoolKind, "p"), machinePool("n", "c1", MachinePoolKind, "q")}, "m"},
		"none yet":        {"objects come in any order", nil, ""},
		"of another kind": {"names are unique by kind", []client.Object{machinePool("m", "c1", "AzureMachinePool", "p")}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := FindMachinePool(t.Context(), storetest.NewClient(t, test.pools...), azurePool("p", "c1"))
			if err != nil || storetest.NameOf(got) != test.want {
				t.Errorf("%s: got %q, %v", test.reason, storetest.NameOf(got), err)
			}
		})
	}
}

func TestLoadPlanInput(t *testing.T) {
	controlPlane := &infrav1.AzureManagedControlPlane{ObjectMeta: storetest.NewMeta("c1")}
	controlPlane.Spec.ASOManagedClusterPatches = []string{
		`{"spec": {"windowsProfile": {"adminUsername": "u", "adminPassword": {"name": "s", "key": "password"}}}}`}
	store := storetest.NewClient(t,
		azurePool("labelled", "c1"), azurePool("referred", ""), azurePool("of-another", "c2"),
		// The MachinePool knows better than a label that was copied.
		azurePool("taken", "c1"), machinePool("taken", "c2", MachinePoolKind, "taken"),
		machinePool("referred", "c1", MachinePoolKind, "referred"), storetest.MarkDeleting(azurePool("leaving", "c1")),
		&corev1.Secret{ObjectMeta: storetest.NewMeta("s"), Data: map[string][]byte{"password": []byte("x"), "other": []byte("y")}})
	in, err := LoadPlanInput(t.Context(), store, storetest.NewCluster("c1", ClusterKind, "c1"), controlPlane, "subscription")
	if err != nil {
		t.Fatal(err)
	}
	pools := map[string]string{}
	for _, pool := range in.Pools {
		pools[pool.AzurePool.Name] = storetest.NameOf(pool.MachinePool)
	}
	if diff := cmp.Diff(map[string]string{"labelled": "", "referred": "referred"}, pools); diff != "" {
		t.Errorf("pools by their MachinePools (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(aso.Secrets{{Name: "s", Key: "password"}: "x"}, in.Secrets); diff != "" {
		t.Errorf("only objects that a patch refers to are read (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"s/password=x"}, SecretValues(in)); diff != "" {
		t.Errorf("a changed Secret is a changed input (-want +got):\n%s", diff)
	}
	if in.ControlPlane.Spec.VirtualNetwork.Name == "" {
		t.Error("an object that was stored before a default existed has it in the plan")
	}
	if controlPlane.Spec.VirtualNetwork.Name != "" {
		t.Error("the object itself was defaulted")
	}
}

func TestFindControlPlane(t *testing.T) {
	labelled := &infrav1.AzureManagedControlPlane{ObjectMeta: storetest.NewMeta("a")}
	labelled.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1"}
	owned := &infrav1.AzureManagedControlPlane{ObjectMeta: storetest.NewOwnedMeta("b", "c2")}
	store := storetest.NewClient(t, labelled, owned)
	for _, test := range []struct{ cluster, want string }{{"c1", "a"}, {"c2", "b"}, {"c3", ""}, {"", ""}} {
		got, err := FindControlPlane(t.Context(), store, storetest.Namespace, test.cluster)
		if err != nil || storetest.NameOf(got) != test.want {
			t.Errorf("of Cluster %q: got %q, %v", test.cluster, storetest.NameOf(got), err)
		}
	}
	if got, _ := FindControlPlane(t.Context(), store, "far", "c1"); got != nil {
		t.Error("references do not cross namespaces")
	}
}
