package sharedwriters_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// body is a JSON object.
type body = map[string]any

// Names of the objects of a self-managed cluster, and of an AKS cluster.
const (
	clusterName = "c1"
	machineName = "c1-md"
	poolName    = "c1-mp"
	aksName     = "aks"
	aksPool     = "aks-pool1"
)

// world is a management cluster in virtual time with one cluster, before an Azure in which other programs write.
type world struct {
	*virtual.Scenario
	objects []client.Object
	// balanced is set where nodes reach the internet through the provider's own load balancer, whose pool interfaces are in, too.
	balanced bool
}

// setup are the objects of a self-managed cluster, for a row to change before they are created.
type setup struct {
	cluster *infrav1.AzureCluster
	machine *infrav1.AzureMachine
	pool    *infrav1.AzureMachinePool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{Scenario: virtual.New(t)}
	w.PlayPoolMachines(nil)
	for _, name := range []string{"ours", "theirs"} {
		w.PutResource("resourceGroups/other", body{"location": "eastus"})
		w.PutResource(identityPath(name), body{"location": "eastus"})
	}
	w.StartProvider()
	return w
}

// selfManaged is a world with a self-managed cluster: one machine and a pool of two VMs. Its outbound load balancer has the name of the cluster,
// so that cloud-provider-azure uses the same one.
func selfManaged(t *testing.T, prepare func(*world, *setup)) *world {
	t.Helper()
	w := newWorld(t)
	s := &setup{cluster: w.AzureCluster(clusterName), machine: w.AzureMachine(clusterName, machineName),
		pool: w.AzureMachinePool(clusterName, poolName)}
	network := &s.cluster.Spec.NetworkSpec
	network.Subnets = infrav1.Subnets{
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane}},
		{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "nodes", Role: infrav1.SubnetNode}},
	}
	network.NodeOutboundLB = &infrav1.LoadBalancerSpec{FrontendIPsCount: new(int32(1))}
	s.pool.Spec.OrchestrationMode = infrav1.UniformOrchestration // as the API server fills it in
	if prepare != nil {
		prepare(w, s)
	}
	defaults.FillAzureCluster(s.cluster)
	w.CreateCluster(s.cluster)
	w.WaitReady(&infrav1.AzureCluster{}, clusterName)
	w.CopyInfrastructure(clusterName)
	defaults.FillAzureMachine(s.machine, w.Azure.SubscriptionID)
	w.CreateMachine(s.machine, harness.Worker, "")
	defaults.FillAzureMachinePool(s.pool, "")
	w.CreatePool(s.pool, 2)
	w.objects = []client.Object{newCluster(), newMachine(), newPool()}
	w.waitInPlace()
	return w
}

// dualStack gives the cluster IPv6: its nodes then reach the internet through the outbound load balancer and not a NAT gateway.
func dualStack(w *world, s *setup) {
	w.balanced = true
	network := &s.cluster.Spec.NetworkSpec
	network.Vnet.CIDRBlocks = []string{"10.0.0.0/8", "2001:1234:5678:9a00::/56"}
	network.Subnets[0].CIDRBlocks = []string{"10.0.0.0/16", "2001:1234:5678:9abc::/64"}
	network.Subnets[1].CIDRBlocks = []string{"10.1.0.0/16", "2001:1234:5678:9abd::/64"}
}

// listWrites returns the writes of the provider since a mark. To read by POST is none.
func (w *world) listWrites(mark harness.Mark) []string {
	return slices.DeleteFunc(w.Azure.WritesSince(mark), func(write string) bool { return strings.Contains(write, "/list") })
}

// bringUpManaged returns a world with an AKS cluster of two pools.
func bringUpManaged(t *testing.T, _ func(*world, *setup)) *world {
	t.Helper()
	w := newWorld(t)
	w.BuildAKSCluster(aksName, 2)
	w.objects = []client.Object{controlPlane(), managedPool()}
	w.waitInPlace()
	return w
}

func newCluster() *infrav1.AzureCluster {
	return &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: clusterName}}
}

func newMachine() *infrav1.AzureMachine {
	return &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: machineName}}
}

func newPool() *infrav1.AzureMachinePool {
	return &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: poolName}}
}

func controlPlane() *infrav1.AzureManagedControlPlane {
	return &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: aksName}}
}

func managedPool() *infrav1.AzureManagedMachinePool {
	return &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: aksPool}}
}

// waitInPlace waits until all objects are Ready as they are stored, and Azure is at nothing.
func (w *world) waitInPlace() {
	w.T.Helper()
	for _, object := range w.objects {
		w.WaitUntil(object.GetName()+" is in place", func() bool {
			w.ReadObject(object, object.GetName())
			ready := harness.FindCondition(object.(harness.Conditioned), infrav1.ReadyCondition)
			return ready.Status == metav1.ConditionTrue && ready.ObservedGeneration == object.GetGeneration()
		})
	}
	w.AdvanceClock(2 * time.Minute)
	w.WaitAzureIdle()
}

// syncFully makes the provider read everything: because its objects change, at several resyncs, and at a full one.
func (w *world) syncFully() {
	w.T.Helper()
	for _, object := range w.objects {
		w.TouchObject(object)
	}
	w.AdvanceClock(w.Full + 2*w.Resync)
}

// sendVersion lets another program write a resource with a verb, and waits until Azure has done it.
func (w *world) sendVersion(method, path, version string, b body) {
	w.T.Helper()
	if status, answer := w.SendAsUser(method, path, version, b); status > 299 {
		w.T.Fatalf("%s %s: %d %s", method, path, status, answer)
	}
	w.WaitAzureIdle()
}

// hasElement reports whether a list of a resource has an element with this name or ID.
func (w *world) hasElement(path, list, name string) bool {
	w.T.Helper()
	items, _ := w.FindProperty(path, list).([]any)
	return slices.ContainsFunc(items, func(item any) bool {
		return strings.EqualFold(fmt.Sprint(harness.FindValue(item, "name")), name) ||
			strings.EqualFold(fmt.Sprint(harness.FindValue(item, "id")), name)
	})
}
