package contract_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http/httptest"
	"strings"
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

// TestPoolsWithRefusedChange lets AKS refuse a change of pools of both families, for days if the user does not correct it. It expects that
// AKS's autoscaler continues, and that Cluster API sees its Nodes. The MachinePool decides the number of nodes from when the spec disables
// the autoscaler.
func TestPoolsWithRefusedChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &poolWorld{Scenario: virtual.New(t), provisioned: map[string]bool{}, lost: map[string]bool{}}
		w.StartProvider()
		w.playPools()
		w.BuildAKSCluster("aks1", 1)
		w.CreateASOCluster(w.BuildASOCluster("aks2", "pool1"))
		w.changePools(func(p *infrav1.AzureManagedMachinePool) {
			p.Spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(5)}
		}, map[string]any{"enableAutoScaling": true, "minCount": 1, "maxCount": 5})
		w.WaitUntil("the MachinePools follow AKS", func() bool {
			return w.readMachinePool("aks1-pool0").Annotations[clusterv1.ReplicasManagedByAnnotation] == "true" &&
				w.readMachinePool("aks2-pool1").Annotations[clusterv1.ReplicasManagedByAnnotation] == "aks"
		})

		w.AddFault(fault.Rule{Method: "PUT", ID: "*/agentpools/*", Count: -1, Kind: fault.Status, Status: 400, Code: "BadRequest", Message: "no"})
		w.changePools(func(p *infrav1.AzureManagedMachinePool) { p.Spec.NodeLabels = map[string]string{"a": "b"} },
			map[string]any{"nodeLabels": map[string]any{"a": "b"}})
		w.AdvanceClock(time.Minute)
		w.setDemand("aks1", "pool0", 4)
		w.setDemand("aks2", "pool1", 4)
		w.AdvanceClock(5 * time.Minute)
		for _, name := range []string{"aks1-pool0", "aks2-pool1"} {
			pool := w.readMachinePool(name)
			if *pool.Spec.Replicas != 4 || *pool.Status.Replicas != 4 || len(pool.Spec.ProviderIDList) != 4 {
				t.Errorf("MachinePool %s has %d replicas in the spec, %d in the status, and %d provider IDs, want 4 of each", name,
					*pool.Spec.Replicas, *pool.Status.Replicas, len(pool.Spec.ProviderIDList))
			}
		}

		w.changePools(func(p *infrav1.AzureManagedMachinePool) { p.Spec.Scaling = nil },
			map[string]any{"enableAutoScaling": false, "minCount": nil, "maxCount": nil})
		w.scale(map[string]int32{"aks1-pool0": 1, "aks2-pool1": 1})
		w.AdvanceClock(30 * time.Minute)
		for _, name := range []string{"aks1-pool0", "aks2-pool1"} {
			if pool := w.readMachinePool(name); *pool.Spec.Replicas != 1 {
				t.Errorf("spec.replicas of MachinePool %s is %d: the user's number was overwritten", name, *pool.Spec.Replicas)
			}
		}
	})
}

// changePools changes the agent pools of both families. A nil value removes a field of the manifest.
func (w *poolWorld) changePools(change func(*infrav1.AzureManagedMachinePool), manifest map[string]any) {
	w.T.Helper()
	harness.ChangeObject(w.Stage, azureManagedMachinePool(), change)
	harness.ChangeObject(w.Stage, &infrav1.AzureASOManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "aks2-pool1"}},
		func(p *infrav1.AzureASOManagedMachinePool) {
			var document map[string]any
			if err := json.Unmarshal(p.Spec.Resources[0].Raw, &document); err != nil {
				w.T.Fatal(err)
			}
			spec := document["spec"].(map[string]any)
			for field, value := range manifest {
				spec[field] = value
				if value == nil {
					delete(spec, field)
				}
			}
			p.Spec.Resources[0].Raw, _ = json.Marshal(document)
		})
}

// setDemand has AKS's autoscaler give a pool as many nodes.
func (w *poolWorld) setDemand(cluster, pool string, nodes int) {
	w.T.Helper()
	id := w.ResourceID("resourceGroups/" + cluster + "/providers/Microsoft.ContainerService/managedClusters/" + cluster)
	body := fmt.Sprintf(`{"id": %q, "pool": %q, "nodes": %d}`, id, pool, nodes)
	answer := httptest.NewRecorder()
	w.Sim.Handler().ServeHTTP(answer, httptest.NewRequest("POST", "/_sim/clusters/demand", strings.NewReader(body)))
	if answer.Code >= 300 {
		w.T.Fatalf("demand of %s: %d %s", id, answer.Code, answer.Body)
	}
}

func (w *poolWorld) readMachinePool(name string) *clusterv1.MachinePool {
	w.T.Helper()
	pool := virtual.MachinePool(name)
	w.ReadObject(pool, name)
	return pool
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
			pool := w.readMachinePool(name)
			got[name], ids[name] = 0, int32(len(pool.Spec.ProviderIDList))
			if pool.Status.Replicas != nil {
				got[name] = *pool.Status.Replicas
			}
		}
		return maps.Equal(got, want) && maps.Equal(ids, want)
	})
}
