package rights_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/flavors"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// selfManaged is the life of a self-managed cluster: it comes up, gets another tag, is stopped and started, loses a machine, and goes.
func selfManaged(stage *harness.Stage, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	flavors.CreateIdentities(stage)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Minute})
	cluster := flavors.BringUp(stage, objects)
	harness.ChangeObject(stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: cluster.Name}}, func(c *infrav1.AzureCluster) {
		c.Spec.AdditionalTags = infrav1.Tags{"team": "rights"}
	})
	for _, name := range cluster.Machines {
		harness.ChangeObject(stage, &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: name}}, func(m *infrav1.AzureMachine) {
			m.Spec.AdditionalTags = infrav1.Tags{"team": "rights"}
		})
	}
	waitTagged(stage, "Microsoft.Network/loadBalancers", "Microsoft.Compute/virtualMachines", "Microsoft.Network/networkInterfaces")
	var machines []harness.Conditioned
	for _, name := range cluster.Machines {
		machines = append(machines, &infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: name}})
	}
	stopAndStart(stage, cluster.Name, machines...)
	worker := cluster.Machines[len(cluster.Machines)-1]
	stage.DeleteMachine(worker)
	stage.DeleteCluster(cluster.Name, cluster.Machines[:len(cluster.Machines)-1]...)
}

// stopAndStart stops a cluster with these objects, and starts it again.
func stopAndStart(stage *harness.Stage, cluster string, objects ...harness.Conditioned) {
	stage.T.Helper()
	annotate := func(value string) {
		harness.ChangeObject(stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}, func(c *clusterv1.Cluster) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, infrav1.StopAnnotation, value)
		})
	}
	await := func(what string, wanted func(harness.Conditioned) bool) {
		for _, object := range objects {
			name := object.(metav1.Object).GetName()
			stage.Eventually(name+" is "+what, func() bool {
				stage.ReadObject(object.(client.Object), name)
				return wanted(object)
			})
		}
	}
	annotate("true")
	await("stopped", func(object harness.Conditioned) bool {
		return harness.FindCondition(object, infrav1.StoppedCondition).Status == metav1.ConditionTrue
	})
	annotate("false")
	await("started", harness.IsReady)
}

// playPool is the life of a machine pool: it comes up, gets VMs with other bootstrap data each time until there are so many models of them
// that they are brought together, fewer VMs, another tag and size, is stopped and started, and goes with its cluster.
func playPool(stage *harness.Stage, mode infrav1.OrchestrationMode) {
	stage.T.Helper()
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Minute})
	stage.CreateIdentity()
	stage.PlayPoolMachines(nil)
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	pool := stage.AzureMachinePool("c1", "pool")
	pool.Spec.OrchestrationMode = mode
	stage.CreatePool(pool, 2)
	stage.WaitPool("pool", 2)
	mark := stage.Azure.MarkRequests()
	for _, replicas := range []int32{3, 4, 5, 6, 1} {
		harness.ChangeObject(stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}, func(s *corev1.Secret) {
			s.Data = map[string][]byte{"value": fmt.Appendf(nil, "#cloud-config token %d", replicas)}
		})
		if replicas == 1 && mode == infrav1.UniformOrchestration {
			stage.Eventually("VMs are brought to the latest model", func() bool {
				return slices.ContainsFunc(stage.Azure.RequestsSince(mark),
					func(request string) bool { return strings.Contains(request, "/manualupgrade ") })
			})
		}
		harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}},
			func(p *clusterv1.MachinePool) { p.Spec.Replicas = &replicas })
		stage.WaitPool("pool", int(replicas))
	}
	before := stage.WaitPool("pool", 1).Spec.ProviderIDList
	harness.ChangeObject(stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}, func(p *infrav1.AzureMachinePool) {
		p.Spec.AdditionalTags, p.Spec.Template.VMSize = infrav1.Tags{"team": "rights"}, "Standard_D4s_v3"
	})
	waitTagged(stage, "Microsoft.Compute/virtualMachineScaleSets")
	harness.WaitFor(stage, &infrav1.AzureMachinePool{}, "pool", "rolled", func(p *infrav1.AzureMachinePool) bool {
		return harness.IsReady(p) && p.Status.ObservedGeneration == p.Generation && len(p.Spec.ProviderIDList) == 1 &&
			p.Spec.ProviderIDList[0] != before[0]
	})
	stopAndStart(stage, "c1", &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}})
	stage.DeletePool("pool")
	stage.DeleteCluster("c1")
}

// playAKSCluster is the life of an AKS cluster: it comes up, gets another tag and a machine more, is stopped and started, loses a pool, and goes.
func playAKSCluster(stage *harness.Stage, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	managedWith(stage, objects, func(*flavors.ManagedCluster) {})
}

// addOns is the life of an AKS cluster that loses its add-ons before it goes.
func addOns(stage *harness.Stage, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	managedWith(stage, objects, func(cluster *flavors.ManagedCluster) {
		harness.ChangeObject(stage, controlPlane(cluster), func(c *infrav1.AzureManagedControlPlane) {
			c.Spec.Extensions, c.Spec.FleetsMember, c.Spec.VirtualNetwork.Subnet.PrivateEndpoints = nil, nil, nil
		})
		for _, part := range []string{"/extensions/", "/members/", "/privateendpoints/"} {
			stage.Eventually(part+" are gone", func() bool {
				return !slices.ContainsFunc(stage.Azure.ListResources(), func(id string) bool { return strings.Contains(strings.ToLower(id), part) })
			})
		}
	}, "--feature-gates=AKSResourceHealth=true")
}

func controlPlane(cluster *flavors.ManagedCluster) *infrav1.AzureManagedControlPlane {
	return &infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: cluster.ControlPlane}}
}

func managedWith(stage *harness.Stage, objects []*unstructured.Unstructured, change func(*flavors.ManagedCluster), flags ...string) {
	stage.T.Helper()
	flavors.CreateIdentities(stage)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Minute, Flags: flags})
	cluster := flavors.UpManaged(stage, objects)
	harness.ChangeObject(stage, controlPlane(cluster),
		func(c *infrav1.AzureManagedControlPlane) { c.Spec.AdditionalTags = infrav1.Tags{"team": "rights"} })
	waitTagged(stage, "Microsoft.ContainerService/managedClusters")
	var pools []harness.PlayedPool
	for _, pool := range cluster.Pools {
		pools = append(pools, pool.PlayedPool)
	}
	last := len(pools) - 1
	replicas := int32(cluster.Pools[last].Replicas + 1)
	harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: pools[last].MachinePool}},
		func(m *clusterv1.MachinePool) { m.Spec.Replicas = &replicas })
	stage.WaitPoolReady(pools[last].AzurePool, int(replicas))
	stopAndStart(stage, cluster.Name, controlPlane(cluster))
	change(cluster)
	stage.EndManagedPool(pools[last])
	stage.EndManagedCluster(cluster.Name, cluster.ControlPlane, cluster.Infrastructure, pools[:last]...)
}

// playResourceManifests is the life of an AKS cluster c1 of resource manifests: it comes up, and goes.
func playResourceManifests(stage *harness.Stage, objects []*unstructured.Unstructured) {
	stage.T.Helper()
	stage.CreateOperatorSecret(harness.OperatorSecret)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Minute})
	flavors.SetNamespace(stage, objects)
	for _, object := range objects {
		if err := flavors.ApplyServerSide(stage, object); err != nil {
			stage.T.Fatal(err)
		}
	}
	cluster := stage.PlayManifests("c1", "c1-pool0", "c1-pool1")
	stage.WaitManifestsReady(cluster)
	stage.DeleteManifests(cluster)
}

// waitTagged waits until every resource of the types has the tag.
func waitTagged(stage *harness.Stage, types ...string) {
	stage.T.Helper()
	for _, typ := range types {
		stage.Eventually(typ+" has the new tag", func() bool {
			all := true
			for _, resource := range stage.Azure.State() {
				if resource["type"] == typ {
					all = all && harness.FindString(resource, "tags.team") == "rights"
				}
			}
			return all
		})
	}
}
