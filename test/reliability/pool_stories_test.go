package reliability_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

func buildPool() *infrav1.AzureMachinePool {
	return &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
}

// poolStages returns the stages of a cluster with a pool of VMs.
func poolStages() []stage {
	return []stage{
		networkStage(nil),
		{"create", func(w *world) {
			w.player = &harness.PoolPlayer{Client: w.Kubernetes, Namespace: w.Namespace}
			w.ApplyPool("c1", "pool", 1)
			w.poolWhole(1)
		}},
		{"scale", func(w *world) {
			harness.ChangeObject(w.Stage, virtual.MachinePool("pool"), func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(2)) })
			w.poolWhole(2)
		}},
		{"change", func(w *world) {
			harness.ChangeObject(w.Stage, buildPool(), func(p *infrav1.AzureMachinePool) { p.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
			w.poolWhole(2)
		}},
		{"scale down", func(w *world) {
			harness.ChangeObject(w.Stage, virtual.MachinePool("pool"), func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(1)) })
			w.poolWhole(1)
		}},
		{"upgrade", func(w *world) {
			harness.ChangeObject(w.Stage, buildPool(), func(p *infrav1.AzureMachinePool) { p.Spec.Template.VMSize = "Standard_D4s_v3" })
			w.poolWhole(1)
		}},
		{"delete", func(w *world) {
			w.DeleteObjects(virtual.MachinePool("pool"), buildPool())
			gone := buildPool()
			gone.Namespace = w.Namespace
			w.WaitUntilGone(gone)
			w.RemoveFinalizers(virtual.MachinePool("pool"))
		}},
	}
}

// poolWhole waits until the pool has as many VMs as are wanted, all as its spec has them.
func (w *world) poolWhole(replicas int) {
	w.T.Helper()
	w.WaitUntil("the pool is whole", func() bool {
		azurePool, vms := buildPool(), &infrav1.AzureMachinePoolMachineList{}
		w.ReadObject(azurePool, azurePool.Name)
		if err := w.Kubernetes.List(w.T.Context(), vms); err != nil {
			w.T.Fatal(err)
		}
		whole := isCurrent(azurePool) && azurePool.Status.ObservedGeneration == azurePool.Generation &&
			len(azurePool.Spec.ProviderIDList) == replicas && len(vms.Items) == replicas
		for _, vm := range vms.Items {
			whole = whole && vm.Status.Ready && vm.DeletionTimestamp.IsZero()
		}
		for _, instance := range azurePool.Status.Instances {
			whole = whole && instance.LatestModelApplied
		}
		return whole
	})
}
