// Package neighbor builds a self-managed cluster in virtual time, beside which other programs work in the same simulated Azure. It checks
// that the provider sends no write because of them, and lists the resources that they leave.
//
// Its promise: each step returns when the provider and Azure are idle. It may be repeated, and changes nothing but the scenario.
package neighbor

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// Names of the objects and resources of the cluster.
const (
	Group   = "c1"
	Machine = "c1-md"
	Pool    = "c1-mp"
)

// Cluster is a cluster with one machine, and a pool of two VMs with uniform orchestration.
type Cluster struct {
	*virtual.Scenario
}

// Play builds the cluster in a resource group of its own, and plays a story beside it. Operations of Azure end at once, so that the polls of other
// programs take no time.
func Play(t *testing.T, story func(c *Cluster)) {
	t.Helper()
	virtual.PlayWith(t, virtual.Options{AtOnce: true, Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
		c := &Cluster{Scenario: s}
		c.build()
		story(c)
	})
}

func (c *Cluster) build() {
	c.T.Helper()
	c.PlayPoolMachines(nil)
	c.StartProvider()
	c.ApplyNetwork(Group, nil)
	c.WaitReady(&infrav1.AzureCluster{}, Group)
	c.CopyInfrastructure(Group)
	c.ApplyMachine(Group, Machine, harness.Worker)
	c.WaitMachineProvisioned(Machine)
	c.ApplyPool(Group, Pool, 2)
	c.waitReady()
}

// listObjects returns the objects of the provider, with their names alone.
func listObjects() []client.Object {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	return []client.Object{&infrav1.AzureCluster{ObjectMeta: named(Group)}, &infrav1.AzureMachine{ObjectMeta: named(Machine)},
		&infrav1.AzureMachinePool{ObjectMeta: named(Pool)}}
}

func (c *Cluster) waitReady() {
	c.T.Helper()
	for _, object := range listObjects() {
		c.WaitReady(object.(harness.Conditioned), object.GetName())
	}
	c.AdvanceClock(2 * time.Minute)
	c.WaitAzureIdle()
}

// CheckNoWrites makes the provider read everything, because its objects change, at several regular syncs and at a full one, and checks that
// it has sent no write since the mark and that its objects are Ready.
func (c *Cluster) CheckNoWrites(mark harness.Mark) {
	c.T.Helper()
	for _, object := range listObjects() {
		c.TouchObject(object)
	}
	c.AdvanceClock(c.Full + 2*c.Resync)
	if writes := c.WritesSince(mark); len(writes) > 0 {
		c.T.Errorf("the provider sent %d writes, want 0:\n%s", len(writes), strings.Join(writes, "\n"))
	}
	c.waitReady()
}

// WritesSince returns the writes of the provider, as "PUT resourceGroups/c1/Microsoft.Compute/disks/d".
func (c *Cluster) WritesSince(mark harness.Mark) []string { return c.listWrites(mark, true) }

// OtherWritesSince returns the writes of other programs in the same form.
func (c *Cluster) OtherWritesSince(mark harness.Mark) []string { return c.listWrites(mark, false) }

func (c *Cluster) listWrites(mark harness.Mark, ofProvider bool) (out []string) {
	for _, request := range c.Azure.Requests()[mark:] {
		path, _, _ := strings.Cut(request.URL, "?")
		if request.Method == http.MethodGet || !strings.HasPrefix(path, "/subscriptions/") ||
			request.Method == http.MethodPost && strings.HasPrefix(path[strings.LastIndexByte(path, '/')+1:], "list") {
			continue
		}
		if strings.Contains(request.UserAgent, "cluster-api-provider-azure") == ofProvider {
			path = strings.TrimPrefix(path, "/subscriptions/"+c.Azure.SubscriptionID+"/")
			out = append(out, request.Method+" "+strings.Replace(path, "/providers/", "/", 1))
		}
	}
	return out
}

// Delete deletes the cluster in the order of Cluster API.
func (c *Cluster) Delete() {
	c.T.Helper()
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	c.DeleteObjects(&clusterv1.Cluster{ObjectMeta: named(Group)})
	for object, owner := range map[client.Object]client.Object{
		&infrav1.AzureMachine{ObjectMeta: named(Machine)}:  &clusterv1.Machine{ObjectMeta: named(Machine)},
		&infrav1.AzureMachinePool{ObjectMeta: named(Pool)}: &clusterv1.MachinePool{ObjectMeta: named(Pool)},
	} {
		c.DeleteObjects(owner)
		virtual.WaitForSignal(nil, time.Second)
		c.DeleteObjects(object)
		c.WaitUntilGone(object)
		c.RemoveFinalizers(owner)
	}
	azureCluster := &infrav1.AzureCluster{ObjectMeta: named(Group)}
	c.DeleteObjects(azureCluster)
	c.WaitUntilGone(azureCluster)
	c.WaitAzureIdle()
}

// ListLeft returns what exists of a resource group, the group included.
func (c *Cluster) ListLeft(group string) []string {
	return slices.DeleteFunc(c.Azure.ListResources(), func(id string) bool {
		return !strings.HasPrefix(strings.ToLower(id)+"/", "resourcegroups/"+strings.ToLower(group)+"/")
	})
}

// ReadPoolNode returns the name of the Node of the pool's first VM: the name of its computer.
func (c *Cluster) ReadPoolNode() string {
	c.T.Helper()
	for _, resource := range c.Sim.State() {
		if resource["type"] == "Microsoft.Compute/virtualMachineScaleSets/virtualMachines" {
			if name := harness.FindString(resource, "properties.osProfile.computerName"); name != "" {
				return name
			}
		}
	}
	c.T.Fatal("the pool has no VM with a computer name")
	return ""
}
