package azuremachinepool

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestFindMachinePool finds the MachinePool of a pool that a tool owns, too, by an object of the same kind.
func TestFindMachinePool(t *testing.T) {
	azurePool := &infrav1.AzureMachinePool{ObjectMeta: storetest.NewMeta("p")}
	azurePool.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: "MachinePool", Name: "tool", UID: "t"}}
	const unowned = "no MachinePool owns the AzureMachinePool. Create one that refers to it in spec.template.spec.infrastructureRef"
	if got := noOwnerMessage(azurePool); got != unowned {
		t.Errorf("the tool's object is no MachinePool of Cluster API: %s", got)
	}
	azurePool.OwnerReferences = append(azurePool.OwnerReferences,
		metav1.OwnerReference{APIVersion: clusterv1.GroupVersion.String(), Kind: "MachinePool", Name: "p", UID: "p"})
	k := &Kind{Client: storetest.NewClient(t, &clusterv1.MachinePool{ObjectMeta: storetest.NewMeta("tool")},
		&clusterv1.MachinePool{ObjectMeta: storetest.NewMeta("p")})}
	found, err := k.findMachinePool(t.Context(), azurePool)
	if err != nil || found == nil || found.Name != "p" {
		t.Errorf("got %v, %v", found, err)
	}
}
