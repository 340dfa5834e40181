package azurecluster

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestAzureClustersOfMachine(t *testing.T) {
	cluster := func(name, kind string) *clusterv1.Cluster {
		return &clusterv1.Cluster{
			ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name},
			Spec: clusterv1.ClusterSpec{InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: infrav1.GroupVersion.Group,
				Kind: kind, Name: "network"}},
		}
	}
	going := func(name, of string) *infrav1.AzureCluster {
		return &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, Labels: map[string]string{clusterv1.ClusterNameLabel: of},
			Finalizers: []string{infrav1.ClusterFinalizer}, DeletionTimestamp: &metav1.Time{Time: time.Unix(1, 0)},
		}}
	}
	staying := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "network",
		Labels: map[string]string{clusterv1.ClusterNameLabel: "c1"}}}
	k := &Kind{Client: fake.NewClientBuilder().WithScheme(testScheme(t)).WithObjects(cluster("c1", "AzureCluster"),
		cluster("aks", "AzureManagedCluster"), staying, going("left", "gone"), going("other", "c2")).Build()}
	left := []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "left"}}}
	both := append(left, ctrl.Request{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "other"}})
	network := []ctrl.Request{{NamespacedName: client.ObjectKey{Namespace: "ns", Name: "network"}}}
	tests := map[string]struct {
		reason string
		labels map[string]string
		passes bool
		want   []ctrl.Request
	}{
		"control plane": {"its template may be another one than before",
			map[string]string{clusterv1.ClusterNameLabel: "c1", clusterv1.MachineControlPlaneLabel: ""}, true, network},
		"worker": {"failure domains do not depend on it, and there may be thousands", map[string]string{clusterv1.ClusterNameLabel: "c1"},
			false, network},
		"no cluster": {"the Cluster is gone, and its AzureCluster may wait for the machine",
			map[string]string{clusterv1.ClusterNameLabel: "gone", clusterv1.MachineControlPlaneLabel: ""}, true, left},
		"other kind": {"its network is not an AzureCluster",
			map[string]string{clusterv1.ClusterNameLabel: "aks", clusterv1.MachineControlPlaneLabel: ""}, true, nil},
		"unlabelled": {"its owner is not known, so every waiting cluster may wait for it", nil, false, both},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			machine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "m", Labels: test.labels}}
			if got := createdOrDeleted().Create(event.CreateEvent{Object: machine}); got != test.passes {
				t.Errorf("%s: lets through %v, want %v", test.reason, got, test.passes)
			}
			if createdOrDeleted().Update(event.UpdateEvent{ObjectOld: machine, ObjectNew: machine}) {
				t.Error("the state of a machine is no evidence of another template")
			}
			leaving := machine.DeepCopy()
			leaving.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
			if !createdOrDeleted().Update(event.UpdateEvent{ObjectOld: machine, ObjectNew: leaving}) ||
				!createdOrDeleted().Delete(event.DeleteEvent{Object: leaving}) {
				t.Error("a cluster that waits for a machine shows the machine's progress")
			}
			if diff := cmp.Diff(test.want, k.mapMachine(context.Background(), machine)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
