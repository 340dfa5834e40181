package contract_test

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestMissingOwners creates objects of all kinds of which an owner is missing: the nearest, or one that the nearest refers to. Ready and an
// event name it. Nothing is written to Azure, and the object is not written again while nothing changes.
func TestMissingOwners(t *testing.T) {
	meta := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }
	// without is a Cluster whose infrastructure and control plane do not exist.
	without := &clusterv1.Cluster{ObjectMeta: meta("without"), Spec: clusterv1.ClusterSpec{
		InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "AzureCluster", Name: "missing"},
		ControlPlaneRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: "AzureManagedControlPlane",
			Name: "missing"},
	}}
	machine := func(name, cluster string) client.Object {
		out := &clusterv1.Machine{ObjectMeta: meta(name), Spec: clusterv1.MachineSpec{ClusterName: cluster}}
		if cluster != "" {
			out.Labels = map[string]string{clusterv1.ClusterNameLabel: cluster}
		}
		return out
	}
	pool := func(kind, name, cluster string) client.Object {
		out := &clusterv1.MachinePool{ObjectMeta: meta(name), Spec: clusterv1.MachinePoolSpec{ClusterName: cluster}}
		out.Labels = map[string]string{clusterv1.ClusterNameLabel: cluster}
		out.Spec.Template.Spec.ClusterName = cluster
		out.Spec.Template.Spec.InfrastructureRef = clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group, Kind: kind,
			Name: name}
		return out
	}
	rows := map[string]struct {
		reason  string
		kind    string
		owner   client.Object // nil for none
		want    string
		message string
	}{
		"cluster": {"nothing refers to it", "AzureCluster", nil, infrav1.OwnerRefNotSetReason,
			"no Cluster owns the AzureCluster. Create one that refers to it in spec.infrastructureRef"},
		"aks-cluster": {"nothing refers to it", "AzureManagedCluster", nil, infrav1.OwnerRefNotSetReason,
			"no Cluster owns the AzureManagedCluster. Create one that refers to it in spec.infrastructureRef"},
		"control-plane": {"nothing refers to it", "AzureManagedControlPlane", nil, infrav1.OwnerRefNotSetReason,
			"no Cluster owns the AzureManagedControlPlane. Create one that refers to it in spec.controlPlaneRef"},
		"aso-cluster": {"nothing refers to it", "AzureASOManagedCluster", nil, infrav1.OwnerRefNotSetReason,
			"no Cluster owns the AzureASOManagedCluster. Create one that refers to it in spec.infrastructureRef"},
		"aso-control-plane": {"nothing refers to it", "AzureASOManagedControlPlane", nil, infrav1.OwnerRefNotSetReason,
			"no Cluster owns the AzureASOManagedControlPlane. Create one that refers to it in spec.controlPlaneRef"},
		"machine": {"nothing refers to it", "AzureMachine", nil, infrav1.OwnerRefNotSetReason,
			"no Machine owns the AzureMachine. Create one that refers to it in spec.infrastructureRef"},
		"machine-no-label": {"its Machine has lost the label of Cluster API", "AzureMachine", machine("m1", ""), infrav1.ClusterNotFoundReason,
			"Machine m1 belongs to no Cluster: it has no label cluster.x-k8s.io/cluster-name. Set the label"},
		"pool": {"nothing refers to it", "AzureMachinePool", nil, infrav1.OwnerRefNotSetReason,
			"no MachinePool owns the AzureMachinePool. Create one that refers to it in spec.template.spec.infrastructureRef"},
		"aks-pool": {"nothing refers to it", "AzureManagedMachinePool", nil, infrav1.OwnerRefNotSetReason,
			"no MachinePool owns the AzureManagedMachinePool. Create one that refers to it in spec.template.spec.infrastructureRef"},
		"aso-pool": {"nothing refers to it", "AzureASOManagedMachinePool", nil, infrav1.OwnerRefNotSetReason,
			"no MachinePool owns the AzureASOManagedMachinePool. Create one that refers to it in spec.template.spec.infrastructureRef"},
		"machine-no-cluster": {"its Machine belongs to a Cluster that does not exist", "AzureMachine", machine("m2", "gone"),
			infrav1.ClusterNotFoundReason, "Cluster gone, to which Machine m2 belongs, does not exist. Create it"},
		"pool-no-cluster": {"its MachinePool belongs to a Cluster that does not exist", "AzureMachinePool", pool("AzureMachinePool", "pool-no-cluster", "gone"),
			infrav1.ClusterNotFoundReason, "Cluster gone, to which the MachinePool belongs, does not exist. Create it"},
		"aks-pool-no-cluster": {"its MachinePool belongs to a Cluster that does not exist", "AzureManagedMachinePool", pool("AzureManagedMachinePool", "aks-pool-no-cluster", "gone"),
			infrav1.ClusterNotFoundReason, "Cluster gone, to which the MachinePool belongs, does not exist. Create it"},
		"aso-pool-no-cluster": {"its MachinePool belongs to a Cluster that does not exist", "AzureASOManagedMachinePool", pool("AzureASOManagedMachinePool", "aso-pool-no-cluster", "gone"),
			infrav1.ClusterNotFoundReason, "Cluster gone, to which the MachinePool belongs, does not exist. Create it"},
		"machine-no-azurecluster": {"its Cluster has no infrastructure", "AzureMachine", machine("m3", "without"), infrav1.AzureClusterNotFoundReason,
			"AzureCluster missing, to which Cluster without refers in spec.infrastructureRef, does not exist. Create it"},
		"aks-pool-no-control-plane": {"its Cluster has no control plane", "AzureManagedMachinePool", pool("AzureManagedMachinePool", "aks-pool-no-control-plane", "without"),
			infrav1.ControlPlaneNotFoundReason,
			"Cluster without has no AzureManagedControlPlane. Create the one to which it refers in spec.controlPlaneRef"},
	}
	covered := map[string]bool{"AzureMachinePoolMachine": true} // Its AzureMachinePool creates it and reconciles it.
	for _, row := range rows {
		covered[row.kind] = true
	}
	for _, kind := range reconciled {
		if !covered[kind] {
			t.Errorf("no row has the kind %s", kind)
		}
	}
	virtual.PlayRows(t, virtual.PlayUnmanaged, func(s *virtual.Scenario, results *virtual.Rows) {
		var recording sync.Mutex
		events := map[string][]string{}
		s.EventRecorded = func(event virtual.Event) {
			recording.Lock()
			defer recording.Unlock()
			events[event.Name] = append(events[event.Name], event.Type+" "+event.Reason+" "+event.Note)
		}
		s.CreateObject(without)
		for name, row := range rows {
			object := newObject(s, row.kind, name)
			if row.owner != nil {
				s.CreateObject(row.owner)
				if err := controllerutil.SetOwnerReference(row.owner, object, s.Client.Scheme()); err != nil {
					t.Fatal(err)
				}
			}
			s.CreateObject(object)
		}
		s.StartProvider()
		s.AdvanceClock(time.Minute)
		versions := readVersions(s, reconciled)
		s.AdvanceClock(time.Hour)
		if diff := cmp.Diff(versions, readVersions(s, reconciled)); diff != "" {
			s.T.Errorf("objects change although nothing happens (-before +after):\n%s", diff)
		}
		if writes := s.Azure.WritesSince(0); len(writes) > 0 {
			s.T.Errorf("written to Azure: %q", writes)
		}
		for name, row := range rows {
			results.Play(name, func() {
				object := newObject(s, row.kind, name).(harness.Conditioned)
				s.ReadObject(object, name)
				ready := harness.FindCondition(object, infrav1.ReadyCondition)
				if ready.Status != metav1.ConditionFalse || ready.Reason != row.want || ready.Message != row.message {
					s.T.Errorf("%s: Ready is %s %s %q, want %s %q", row.reason, ready.Status, ready.Reason, ready.Message, row.want, row.message)
				}
				if got, want := events[name], []string{"Normal " + row.want + " " + row.message}; !slices.Equal(got, want) {
					s.T.Errorf("%s: events %q, want %q", row.reason, got, want)
				}
			})
		}
	})
}
