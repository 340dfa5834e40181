package contract_test

import (
	"maps"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// poolWorld has one pool of each kind, and plays Cluster API for their MachinePools.
type poolWorld struct {
	*virtual.Scenario
	// step is what is done to the pools, for messages.
	step string
	// provisioned are the MachinePools that Cluster API has seen provisioned, lost those that it has not any more in a step.
	provisioned, lost map[string]bool
}

// TestPoolsInUse changes provisioned pools of all kinds. Their MachinePools stay provisioned in Cluster API: while Azure applies a
// change, while the VMs are stopped, and while Azure refuses a change. Cluster API copies neither provider IDs nor replicas otherwise.
func TestPoolsInUse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &poolWorld{Scenario: virtual.New(t), step: "create", provisioned: map[string]bool{}, lost: map[string]bool{}}
		w.StartProvider()
		w.playPools()
		w.BuildCluster("c1", 1)
		makePool(w.Scenario, "c1")
		w.BuildAKSCluster("aks1", 1)
		w.CreateASOCluster(w.BuildASOCluster("aks2", "pool1"))
		w.waitReplicas(map[string]int32{"pool": 1, "aks1-pool0": 2, "aks2-pool1": 2})

		w.step = "scale"
		w.scale(map[string]int32{"pool": 2, "aks1-pool0": 3, "aks2-pool1": 3})
		w.waitReplicas(map[string]int32{"pool": 2, "aks1-pool0": 3, "aks2-pool1": 3})

		w.step = "change tags"
		harness.ChangeObject(w.Stage, azureMachinePool(), func(p *infrav1.AzureMachinePool) { p.Spec.AdditionalTags = infrav1.Tags{"a": "b"} })
		harness.ChangeObject(w.Stage, azureManagedMachinePool(),
			func(p *infrav1.AzureManagedMachinePool) { p.Spec.AdditionalTags = infrav1.Tags{"a": "b"} })
		w.AdvanceClock(5 * time.Minute)

		w.step = "stop"
		harness.ChangeObject(w.Stage, azureMachinePool(),
			func(p *infrav1.AzureMachinePool) { p.Annotations = map[string]string{infrav1.StopAnnotation: "true"} })
		w.AdvanceClock(10 * time.Minute)
		harness.ChangeObject(w.Stage, azureMachinePool(), func(p *infrav1.AzureMachinePool) { delete(p.Annotations, infrav1.StopAnnotation) })
		w.WaitReady(azureMachinePool(), "pool")

		w.step = "refuse"
		w.AddFault(fault.Rule{Method: "PUT", ID: "*/virtualmachinescalesets/pool", Count: -1, Kind: fault.Allocate})
		w.AddFault(fault.Rule{Method: "PUT", ID: "*/agentpools/*", Count: -1, Kind: fault.Status, Status: 400, Code: "BadRequest", Message: "no"})
		w.scale(map[string]int32{"pool": 4, "aks1-pool0": 4, "aks2-pool1": 4})
		w.AdvanceClock(30 * time.Minute)
		w.waitReplicas(map[string]int32{"pool": 2, "aks1-pool0": 3, "aks2-pool1": 3})
	})
}

func azureMachinePool() *infrav1.AzureMachinePool {
	return &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}
}

func azureManagedMachinePool() *infrav1.AzureManagedMachinePool {
	return &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "aks1-pool0"}}
}

// playPools plays Cluster API for MachinePools and their Machines, and fails the test when a MachinePool is not provisioned any more.
func (w *poolWorld) playPools() {
	player := harness.PoolPlayer{Client: w.Kubernetes, Namespace: w.Namespace}
	w.Meanwhile = func() {
		player.PlayOnce(w.T.Context())
		for _, pool := range harness.ReadPools(w.T.Context(), w.Kubernetes, w.Namespace) {
			is := pool.Status.Initialization.InfrastructureProvisioned
			if is != nil && *is {
				w.provisioned[pool.Name] = true
			} else if w.provisioned[pool.Name] && !w.lost[w.step+pool.Name] {
				w.lost[w.step+pool.Name] = true
				w.T.Errorf("%s: MachinePool %s is not provisioned any more", w.step, pool.Name)
			}
		}
	}
}

// scale sets the replicas of MachinePools.
func (w *poolWorld) scale(replicas map[string]int32) {
	w.T.Helper()
	for name, n := range replicas {
		harness.ChangeObject(w.Stage, virtual.MachinePool(name), func(p *clusterv1.MachinePool) { p.Spec.Replicas = &n })
	}
}

// waitReplicas waits until MachinePools have as many replicas in Cluster API, with their provider IDs.
func (w *poolWorld) waitReplicas(want map[string]int32) {
	w.T.Helper()
	got, ids := map[string]int32{}, map[string]int32{}
	w.WaitUntil("the replicas and provider IDs in Cluster API", func() bool {
		for name := range want {
			pool := virtual.MachinePool(name)
			w.ReadObject(pool, name)
			got[name], ids[name] = 0, int32(len(pool.Spec.ProviderIDList))
			if pool.Status.Replicas != nil {
				got[name] = *pool.Status.Replicas
			}
		}
		return maps.Equal(got, want) && maps.Equal(ids, want)
	})
}
