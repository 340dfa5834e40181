package reliability_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// world is one of clusters whose manager may be replaced at any time.
type world struct {
	*virtual.Scenario
	manager *virtual.Manager
	// deaths counts managers that were replaced, mortal has each that comes die at its first write.
	deaths int
	mortal bool
	// player plays Cluster API about the VMs of pools; nil is that there are none.
	player *harness.PoolPlayer
	// unprovisioned is the cluster for which CopyInfrastructure was called before it was provisioned; "" is none.
	unprovisioned string
}

// newWorld returns one with a manager that sees and hears of changes that late at most. It has to be called in a bubble of virtual time.
func newWorld(t *testing.T, lag time.Duration) *world {
	t.Helper()
	in := virtual.New(t)
	in.Lag = lag
	return withManager(in)
}

// withManager returns a world in which a manager is started, and another one when it dies.
func withManager(in *virtual.Scenario) *world {
	w := &world{Scenario: in}
	w.manager = w.StartProvider()
	w.Meanwhile = func() {
		select {
		case <-w.manager.Killed:
			w.manager.StopManager()
			w.deaths++
			w.manager = w.startNextManager()
		default:
		}
		if w.player != nil {
			w.player.PlayOnce(w.T.Context())
		}
		w.copyProvisioned()
	}
	return w
}

// quiet is the time after which no further write follows the one that made an object Ready. It is less than the time
// for which controllers leave alone objects in order.
const quiet = 2 * time.Minute

// waitUntilStable waits for all changes that may still come, also if managers are killed meanwhile.
func (w *world) waitUntilStable() {
	deaths := w.deaths
	for end := time.Now().Add(quiet); time.Now().Before(end); {
		virtual.WaitForSignal(nil, 5*time.Second)
		if w.Meanwhile(); w.deaths != deaths {
			deaths, end = w.deaths, time.Now().Add(quiet)
		}
	}
}

// stage is a part of the life of a cluster. It ends when its goal is reached.
type stage struct {
	name string
	play func(w *world)
}

// networkStage makes a self-managed cluster without machines.
func networkStage(change func(*infrav1.AzureCluster)) stage {
	return stage{"network", func(w *world) {
		w.ApplyNetwork("c1", change)
		w.clusterReady()
		w.CopyInfrastructure("c1")
	}}
}

func (w *world) clusterReady() {
	w.T.Helper()
	w.WaitUntil("the network is as its spec",
		virtual.ObjectMatches(w.Scenario, &infrav1.AzureCluster{}, "c1", func(c *infrav1.AzureCluster) bool { return isCurrent(c) }))
}

// isCurrent reports whether an object is Ready as it is stored.
func isCurrent(object harness.Conditioned) bool {
	ready := harness.FindCondition(object, infrav1.ReadyCondition)
	return ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == object.GetGeneration()
}

// machineStage makes a machine.
func machineStage(name string, role harness.Role) stage {
	return stage{"machine " + name, func(w *world) {
		w.ApplyMachine("c1", name, role)
		w.WaitMachineProvisioned(name)
	}}
}

// withoutMachine deletes a machine in the order of Cluster API.
func withoutMachine(name string) stage {
	return stage{"without machine " + name, func(w *world) {
		owner := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}}
		azureMachine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: name}}
		w.DeleteObjects(owner, azureMachine)
		w.WaitUntilGone(azureMachine)
		w.RemoveFinalizers(owner)
		w.DeleteObjects(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}}
}

// upgradeStage replaces a machine with one of another size, as a rollout does.
func upgradeStage(from, to string) stage {
	return stage{"upgrade", func(w *world) {
		machineStage(to, harness.Worker).play(w)
		withoutMachine(from).play(w)
	}}
}

// changedCluster changes the AzureCluster.
func changedCluster(name string, change func(*infrav1.AzureCluster)) stage {
	return stage{name, func(w *world) {
		harness.ChangeObject(w.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, change)
		w.clusterReady()
	}}
}

// changedMachine changes an AzureMachine.
func changedMachine(name, machine string, change func(*infrav1.AzureMachine)) stage {
	return stage{name, func(w *world) {
		harness.ChangeObject(w.Stage, &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: machine}}, change)
		w.WaitUntil("the machine is as its spec",
			virtual.ObjectMatches(w.Scenario, &infrav1.AzureMachine{}, machine, func(m *infrav1.AzureMachine) bool { return isCurrent(m) }))
	}}
}

// withoutCluster deletes a self-managed cluster whose last machines go with it.
func withoutCluster(machines ...string) stage {
	return stage{"without cluster", func(w *world) {
		w.DeleteObjects(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}})
		for _, name := range machines {
			withoutMachine(name).play(w)
		}
		azureCluster := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
		w.DeleteObjects(azureCluster)
		w.WaitUntilGone(azureCluster)
		w.RemoveFinalizers(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}})
	}}
}
