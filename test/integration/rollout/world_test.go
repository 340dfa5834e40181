// Package rollout_test takes pools through rollouts in virtual time: the controllers of all clusters, a simulated Azure that takes as long as
// the real one, and Cluster API played, with an API server played as well. Minutes take milliseconds, so that a manager can be killed at
// hundreds of moments, and durations are the same on any computer.
package rollout_test

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

const (
	endpoint = "https://azure.example"
	poolName = "pool"
	// joining is how long the Node of a VM takes to be Ready once the VM runs, draining how long its pods take to leave.
	joining, draining = 60 * time.Second, 20 * time.Second
)

// world is everything that one test has.
type world struct {
	*virtual.Scenario
	t        *testing.T
	rules    *rules
	settings settings
	// meanwhile is called again and again while something is waited for; nil is nothing.
	meanwhile func()
	// size is that which VMs are to have, once they were rolled.
	size string
}

// settings are the settings that differ between tests.
type settings struct {
	replicas int32
	strategy infrav1.MachineRollingUpdateDeployment
	pageSize int
	// dropsTags has a PUT without tags take them off, which Azure may do.
	dropsTags bool
	// change changes the cluster before it is made; nil does not.
	change func(*infrav1.AzureCluster)
}

// newWorld returns a cluster whose network is in place and a pool of which nothing is, without a manager. It has to be called in a
// bubble of virtual time.
func newWorld(t *testing.T, s settings) *world {
	t.Helper()
	w := &world{t: t, settings: s,
		Scenario: virtual.NewWith(t, server.Options{PageSize: s.pageSize, PutDropsTags: s.dropsTags})}
	w.rules = &rules{world: w}
	w.Deleting, w.Written = w.rules.givenUp, w.rules.checkWrite
	azureCluster := w.AzureCluster("c1")
	if s.change != nil {
		s.change(azureCluster)
	}
	defaults.FillAzureCluster(azureCluster)
	w.CreateCluster(azureCluster)
	w.playClusterAPI()
	return w
}

// createNetwork waits until the network of the cluster is made.
func (w *world) createNetwork() {
	w.t.Helper()
	w.WaitClusterProvisioned("c1")
}

// createPool makes the pool and waits until it is whole.
func (w *world) createPool() {
	w.t.Helper()
	azurePool := w.AzureMachinePool("c1", poolName)
	azurePool.Spec.Template.VMSize = cmp.Or(w.size, azurePool.Spec.Template.VMSize)
	// The API server fills it in.
	azurePool.Spec.OrchestrationMode = infrav1.UniformOrchestration
	azurePool.Spec.Strategy = infrav1.AzureMachinePoolDeploymentStrategy{Type: infrav1.RollingUpdateAzureMachinePoolDeploymentStrategyType,
		RollingUpdate: &w.settings.strategy}
	w.CreatePool(azurePool, w.settings.replicas)
	w.waitUntil("the pool is whole", w.isWhole)
}

// startWhole starts a manager and makes the network and the pool. From then on the rules are checked.
func (w *world) startWhole() *virtual.Manager {
	w.t.Helper()
	m := w.StartProvider()
	w.createNetwork()
	w.createPool()
	w.rules.beginChecks()
	return m
}

// rollPool gives the VMs of the pool another size.
func (w *world) rollPool() {
	w.t.Helper()
	w.size = map[bool]string{true: "Standard_D4s_v3", false: "Standard_D2s_v3"}[w.size != "Standard_D4s_v3"]
	harness.ChangeObject(w.Stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}},
		func(p *infrav1.AzureMachinePool) { p.Spec.Template.VMSize = w.size })
}

// playClusterAPI plays Cluster API until the test ends.
func (w *world) playClusterAPI() {
	ctx, cancel := context.WithCancel(context.Background())
	since := map[string]time.Time{}
	after := func(what string, d time.Duration) bool {
		if since[what].IsZero() {
			since[what] = time.Now()
			time.AfterFunc(d, w.Kubernetes.SignalChange)
		}
		return time.Since(since[what]) >= d
	}
	player := harness.PoolPlayer{
		Client: w.Kubernetes, Namespace: w.Namespace,
		Joined:  func(vm client.Object) bool { return after("join "+string(vm.GetUID()), joining) },
		Drained: func(machine client.Object) bool { return after("drain "+string(machine.GetUID()), draining) },
	}
	var ended sync.WaitGroup
	ended.Go(func() {
		for ctx.Err() == nil {
			player.PlayOnce(ctx)
			w.rules.countReady(ctx)
			select {
			case <-ctx.Done():
			case <-w.Kubernetes.Changed:
			}
		}
	})
	w.t.Cleanup(func() {
		cancel()
		ended.Wait()
	})
}

// waitUntil waits, for an hour at most, until something is so.
func (w *world) waitUntil(what string, so func() bool) {
	w.t.Helper()
	for deadline := time.Now().Add(time.Hour); !so(); {
		if time.Now().After(deadline) {
			pool := &infrav1.AzureMachinePool{}
			w.ReadObject(pool, poolName)
			requests := w.Azure.RequestsSince(0)
			w.t.Fatalf("%s: not so after an hour: %s\n%s", what, harness.EncodeStatus(pool), strings.Join(requests[max(0, len(requests)-30):], "\n"))
		}
		virtual.WaitForSignal(nil, 5*time.Second)
		if w.meanwhile != nil {
			w.meanwhile()
		}
	}
}

// isWhole reports whether the pool has the wanted number of VMs, all with the model of the spec, and whether all objects report that.
func (w *world) isWhole() bool {
	azurePool := &infrav1.AzureMachinePool{}
	w.ReadObject(azurePool, poolName)
	if !harness.IsReady(azurePool) || azurePool.Status.ObservedGeneration != azurePool.Generation {
		return false
	}
	vms, machines := &infrav1.AzureMachinePoolMachineList{}, &clusterv1.MachineList{}
	for _, list := range []client.ObjectList{vms, machines} {
		if err := w.Kubernetes.List(w.t.Context(), list); err != nil {
			w.t.Fatal(err)
		}
	}
	want := int(w.settings.replicas)
	if len(azurePool.Spec.ProviderIDList) != want || len(vms.Items) != want || len(machines.Items) != want {
		return false
	}
	if slices.ContainsFunc(azurePool.Status.Instances, func(i infrav1.AzureMachinePoolInstanceStatus) bool { return !i.LatestModelApplied }) {
		return false
	}
	return !slices.ContainsFunc(vms.Items, func(vm infrav1.AzureMachinePoolMachine) bool {
		return !vm.Status.Ready || !vm.DeletionTimestamp.IsZero()
	})
}
