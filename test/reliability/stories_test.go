package reliability_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual/clusters"
)

// world is one of clusters whose manager may be replaced at any time.
type world struct {
	*clusters.World
	manager *virtual.Manager
	// deaths counts managers that were replaced, mortal has each that comes die at its first write.
	deaths int
	mortal bool
	// player plays Cluster API about the VMs of pools; nil is that there are none.
	player *harness.PoolPlayer
}

// newWorld is one with a manager that sees and hears of changes that late at most. It has to be called in a bubble of virtual time.
func newWorld(t *testing.T, lag time.Duration) *world {
	t.Helper()
	in := clusters.New(t)
	in.Lag = lag
	return withManager(in)
}

// withManager is a world in which a manager is started, and another one when it dies.
func withManager(in *clusters.World) *world {
	w := &world{World: in}
	w.manager = w.Manage()
	w.Meanwhile = func() {
		select {
		case <-w.manager.Killed:
			w.manager.Stop()
			w.deaths++
			w.manager = w.next()
		default:
		}
		if w.player != nil {
			w.player.Look(w.T.Context())
		}
	}
	return w
}

// quiet is how long nothing more has to be expected after what made an object Ready, and less than controllers leave alone what is in
// order.
const quiet = 2 * time.Minute

// settle waits for all that may still come, whoever is killed meanwhile.
func (w *world) settle() {
	deaths := w.deaths
	for end := time.Now().Add(quiet); time.Now().Before(end); {
		virtual.Wait(nil, 5*time.Second)
		if w.Meanwhile(); w.deaths != deaths {
			deaths, end = w.deaths, time.Now().Add(quiet)
		}
	}
}

// stage is a part of the life of a cluster. It ends when what it asks for is there.
type stage struct {
	name string
	play func(w *world)
}

// network makes a self-managed cluster without machines.
func network(change func(*infrav1.AzureCluster)) stage {
	return stage{"network", func(w *world) {
		w.Network("c1", change)
		w.clusterReady()
		owner := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
		harness.ChangeStatus(w.Stage, owner, func(c *clusterv1.Cluster) { c.Status.Initialization.InfrastructureProvisioned = new(true) })
	}}
}

func (w *world) clusterReady() {
	w.T.Helper()
	w.Until("the network is as its spec", clusters.Ready(w.World, &infrav1.AzureCluster{}, "c1", func(c *infrav1.AzureCluster) bool { return current(c) }))
}

// conditioned is an object that says how it is.
type conditioned interface {
	client.Object
	GetConditions() []metav1.Condition
}

// current tells whether an object is Ready as it is stored.
func current(object conditioned) bool {
	said := harness.Condition(object, infrav1.ReadyCondition)
	return said.Status == metav1.ConditionTrue && said.ObservedGeneration == object.GetGeneration()
}

// machine makes a machine.
func machine(name string, role harness.Role) stage {
	return stage{"machine " + name, func(w *world) {
		w.Machine("c1", name, role)
		w.Provisioned(name)
	}}
}

// withoutMachine deletes a machine in the order of Cluster API.
func withoutMachine(name string) stage {
	return stage{"without machine " + name, func(w *world) {
		owner := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Name: name}}
		azureMachine := &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: name}}
		w.Remove(owner, azureMachine)
		w.Gone(azureMachine)
		w.Release(owner)
		w.Remove(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}}
}

// upgrade replaces a machine with one of another size, as a rollout does.
func upgrade(from, to string) stage {
	return stage{"upgrade", func(w *world) {
		machine(to, harness.Worker).play(w)
		withoutMachine(from).play(w)
	}}
}

// changedCluster changes the AzureCluster.
func changedCluster(name string, change func(*infrav1.AzureCluster)) stage {
	return stage{name, func(w *world) {
		harness.Change(w.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, change)
		w.clusterReady()
	}}
}

// changedMachine changes an AzureMachine.
func changedMachine(name, machine string, change func(*infrav1.AzureMachine)) stage {
	return stage{name, func(w *world) {
		harness.Change(w.Stage, &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: machine}}, change)
		w.Until("the machine is as its spec", clusters.Ready(w.World, &infrav1.AzureMachine{}, machine, func(m *infrav1.AzureMachine) bool { return current(m) }))
	}}
}

// withoutCluster deletes a self-managed cluster whose last machines go with it.
func withoutCluster(machines ...string) stage {
	return stage{"without cluster", func(w *world) {
		w.Remove(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}})
		for _, name := range machines {
			withoutMachine(name).play(w)
		}
		azureCluster := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}
		w.Remove(azureCluster)
		w.Gone(azureCluster)
		w.Release(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}})
	}}
}
