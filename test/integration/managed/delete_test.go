package managed_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const (
	vnetWrite   = "resourceGroups/c1/Microsoft.Network/virtualNetworks/c1"
	clusterName = "resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1"
)

// removeInAzure deletes something in Azure as a user would, and waits until it is gone.
func removeInAzure(stage *harness.Stage, path, version string) {
	stage.T.Helper()
	stage.Azure.DeleteResource(path, version)
	stage.Eventually(path+" is gone", func() bool {
		status, _ := stage.Azure.GetResource(path, version)
		return status == 404
	})
}

// TestDelete deletes clusters of every origin: the cluster's resources are deleted, with the smallest number of DELETEs, and resources
// that others brought stay.
func TestDelete(t *testing.T) {
	t.Parallel()
	group := func(name string) bring {
		return func(stage *harness.Stage) {
			stage.Azure.PutResource("resourceGroups/"+name, groupVersion, body{"location": "eastus"})
		}
	}
	tests := map[string]struct {
		reason string
		bring  bring
		change func(*harness.Stage, *infrav1.AzureManagedControlPlane)
		// between happens when the cluster is ready, before it is deleted.
		between func(*harness.Stage)
		deletes []string
		left    []string
	}{
		"own group": {
			reason:  "everything goes with the group",
			deletes: []string{"DELETE resourceGroups/c1"},
		},
		"own group with a fleet in another": {
			reason:  "the membership goes first, as it would stand for a cluster that is gone",
			bring:   fleet,
			change:  equipControlPlane,
			deletes: []string{"DELETE resourceGroups/c1", "DELETE " + memberWrite},
			left:    shared,
		},
		"brought group": {
			reason:  "one by one: extensions with the cluster, subnets with the network",
			bring:   prepareAll(fleet, group("c1")),
			change:  equipControlPlane,
			deletes: []string{"DELETE " + clusterName, "DELETE " + endpointWrite, "DELETE " + vnetWrite, "DELETE " + memberWrite},
			left:    append([]string{"resourceGroups/c1"}, shared...),
		},
		"brought network in another group": {
			reason: "the provider creates and deletes the missing subnet; the existing one stays",
			bring:  createNetwork,
			change: func(_ *harness.Stage, c *infrav1.AzureManagedControlPlane) {
				c.Spec.VirtualNetwork = infrav1.ManagedControlPlaneVirtualNetwork{
					ResourceGroup: "shared-network", Name: "shared", CIDRBlock: "10.30.0.0/16",
					Subnet: infrav1.ManagedControlPlaneSubnet{Name: "own", CIDRBlock: "10.30.48.0/20"},
				}
			},
			deletes: []string{"DELETE resourceGroups/c1", "DELETE " + networkGroup + "/Microsoft.Network/virtualNetworks/shared/subnets/own"},
			left:    []string{networkGroup, networkGroup + "/Microsoft.Network/virtualNetworks/shared"},
		},
		"adopted": {
			reason: "the annotation asks for the cluster, and not for its surroundings",
			bring:  createExisting,
			change: func(stage *harness.Stage, c *infrav1.AzureManagedControlPlane) {
				c.Spec = buildAdopting(stage).Spec
				c.Annotations = map[string]string{infrav1.DeleteAdoptedAnnotation: "true"}
			},
			deletes: []string{"DELETE " + clusterName},
			left:    []string{"resourceGroups/c1", "resourceGroups/net", "resourceGroups/net/Microsoft.Network/virtualNetworks/vnet"},
		},
		"something of another cluster in the group": {
			reason: "the group stays, and what is in it of others",
			between: func(stage *harness.Stage) {
				stage.Azure.PutResource("resourceGroups/c1/providers/Microsoft.Network/routeTables/theirs", networkVersion, body{
					"location": "eastus", "tags": body{"sigs.k8s.io_cluster-api-provider-azure_cluster_other": "owned"},
				})
			},
			deletes: []string{"DELETE " + clusterName, "DELETE " + vnetWrite},
			left:    []string{"resourceGroups/c1", "resourceGroups/c1/Microsoft.Network/routeTables/theirs"},
		},
		"cluster already gone": {
			reason:  "another client deleted it first",
			between: func(stage *harness.Stage) { removeInAzure(stage, clusterPath, clusterVersion) },
			deletes: []string{"DELETE resourceGroups/c1"},
		},
		"group already gone": {
			reason:  "there is nothing left to delete",
			between: func(stage *harness.Stage) { removeInAzure(stage, "resourceGroups/c1", groupVersion) },
			deletes: []string{},
		},
		"fleet already gone": {
			reason: "a membership without its fleet is no obstacle",
			bring:  fleet,
			change: equipControlPlane,
			between: func(stage *harness.Stage) {
				removeInAzure(stage, memberPath, fleetVersion)
				removeInAzure(stage, sharedGroup, groupVersion)
			},
			deletes: []string{"DELETE resourceGroups/c1"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			manager := stage.StartManager(harness.ManagerOptions{})
			if test.bring != nil {
				test.bring(stage)
			}
			stage.CreateIdentity()
			own := stage.ControlPlane("c1")
			if test.change != nil {
				test.change(stage, own)
			}
			stage.CreateManagedCluster(own, pools...)
			stage.WaitManagedClusterReady("c1", pools...)
			// The manager must not repair resources that are removed before the deletion.
			if err := manager.Stop(); err != nil {
				t.Fatal(err)
			}
			if test.between != nil {
				test.between(stage)
			}
			gone := deleteAll(stage)
			mark := stage.Azure.MarkRequests()
			stage.StartManager(harness.ManagerOptions{})
			gone()
			if diff := cmp.Diff(test.deletes, harness.DropKubeconfigReads(stage.Azure.WritesSince(mark))); diff != "" {
				t.Errorf("%s: writes (-want +got):\n%s", test.reason, diff)
			}
			left := slices.DeleteFunc(stage.Azure.ListResources(), func(id string) bool { return strings.Contains(id, "/subnets/") })
			if diff := cmp.Diff(test.left, left); diff != "" && len(test.left)+len(left) > 0 {
				t.Errorf("%s: what is left (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestDeletedWhileBusy deletes the Cluster while Azure is at one of its pools.
func TestDeletedWhileBusy(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason  string
		brought bool
		begin   func(*harness.Stage)
		path    string
		state   string
	}{
		"pool being created": {
			reason:  "a pool without an object goes with the cluster",
			brought: true,
			begin: func(stage *harness.Stage) {
				stage.CreateManagedPool("c1", harness.ManagedPool{Name: "pool2", Mode: "User", Replicas: 1})
			},
			path:  clusterPath + "/agentPools/pool2",
			state: "Creating",
		},
		"pool being scaled": {
			reason: "the group goes whole, whatever is done in it",
			begin: func(stage *harness.Stage) {
				harness.ChangeObject(stage, machinePool("c1-pool1"), func(m *clusterv1.MachinePool) { m.Spec.Replicas = new(int32(5)) })
			},
			path:  clusterPath + "/agentPools/pool1",
			state: "Scaling",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewSlowStage(t, environment, 0.02)
			stage.StartManager(harness.ManagerOptions{})
			left := []string(nil)
			if test.brought {
				stage.Azure.PutResource("resourceGroups/c1", groupVersion, body{"location": "eastus"})
				left = []string{"resourceGroups/c1"}
			}
			stage.CreateIdentity()
			stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
			stage.WaitControlPlaneReady("c1")
			stage.WaitPoolReady("c1-pool1", 2)
			test.begin(stage)
			waitValue(stage, test.path, clusterVersion, "properties.provisioningState", test.state)
			names := []string{"pool0", "pool1"}
			if test.brought {
				names = append(names, "pool2")
			}
			stage.DeleteManagedCluster("c1", names...)
			if diff := cmp.Diff(left, stage.Azure.ListResources()); diff != "" {
				t.Errorf("%s: what is left (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestPoolDeletedDuringCreation deletes a pool by itself while the cluster is being created with it: the pool does not stay in the
// cluster without an object for it.
func TestPoolDeletedDuringCreation(t *testing.T) {
	t.Parallel()
	stage := harness.NewSlowStage(t, environment, 0.1)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	// AKS takes seconds to answer, and shows nothing until then.
	stage.Eventually("the PUT is on its way", func() bool {
		return slices.ContainsFunc(stage.Environment.Logs.LinesContaining(stage.Namespace), func(line string) bool {
			return strings.Contains(line, `"msg"="Sending request to Azure"`) && strings.Contains(line, `managedClusters/c1"`)
		})
	})
	stage.DeleteManagedPool("c1-pool1")
	if status, _ := stage.Azure.GetResource(clusterPath+"/agentPools/pool1", clusterVersion); status != 404 {
		t.Errorf("the AzureManagedMachinePool is gone and its pool is not: GET answers %d", status)
	}
	stage.WaitControlPlaneReady("c1")
	if status, _ := stage.Azure.GetResource(clusterPath+"/agentPools/pool1", clusterVersion); status != 404 {
		t.Errorf("the pool is back: GET answers %d", status)
	}
}

// TestDeletedWithoutCredentials deletes a cluster whose identity lost its credential: the condition reports it, and the deletion
// continues once there is one again.
func TestDeletedWithoutCredentials(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	manager := stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	stage.WaitControlPlaneReady("c1")
	stage.WaitPoolReady("c1-pool1", 2)
	if err := manager.Stop(); err != nil {
		t.Fatal(err)
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: stage.Namespace, Name: harness.IdentityName}}
	requireNoError(stage, stage.Client.Delete(t.Context(), secret))
	// The user stops waiting.
	requireNoError(stage, client.IgnoreNotFound(stage.Client.Patch(t.Context(), secret,
		client.RawPatch(types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`)))))
	gone := deleteAll(stage)
	stage.StartManager(harness.ManagerOptions{})
	harness.WaitFor(stage, controlPlane("c1"), "c1", "with a message that the Secret is missing",
		func(c *infrav1.AzureManagedControlPlane) bool {
			ready := harness.FindCondition(c, infrav1.ReadyCondition)
			return ready.Status == metav1.ConditionFalse && strings.Contains(ready.Message, harness.IdentityName) &&
				strings.Contains(ready.Message, "Secret")
		})
	if status, _ := stage.Azure.GetResource(clusterPath, clusterVersion); status != 200 {
		t.Errorf("GET of the cluster: %d", status)
	}
	stage.CreateCredential(stage.Azure.ClientSecret)
	gone()
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
	identityFree(stage)
}

// identityFree checks that no control plane holds the stage's identity.
func identityFree(stage *harness.Stage) {
	stage.T.Helper()
	identity := stage.NewIdentity()
	stage.ReadObject(identity, identity.Name)
	if slices.ContainsFunc(identity.Finalizers, func(f string) bool { return strings.Contains(f, "azuremanagedcontrolplane") }) {
		stage.T.Errorf("the identity is still held by %v", identity.Finalizers)
	}
}

// TestLastSystemPool deletes the MachinePool of the last system pool: the webhook reports the error to Cluster API, the pool stays ready
// without a write, and the cluster can be deleted.
func TestLastSystemPool(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	machines := machinePool("c1-pool0")
	machines.Namespace = stage.Namespace
	requireNoError(stage, stage.Client.Delete(t.Context(), machines))
	pool := azurePool("c1-pool0")
	pool.Namespace = stage.Namespace
	err := stage.Client.Delete(t.Context(), pool)
	if err == nil || !strings.Contains(err.Error(), "c1-pool0") || !strings.Contains(strings.ToLower(err.Error()), "system") {
		t.Errorf("the last system pool must not be deleted, and the message must have the reason, got: %v", err)
	}
	mark := stage.Azure.MarkRequests()
	stage.WaitPoolReady("c1-pool0", 2)
	stage.ResyncManaged()
	if writes := harness.DropKubeconfigReads(stage.Azure.WritesSince(mark)); len(writes) > 0 {
		t.Errorf("the pool is left alone, but there were writes: %q", writes)
	}
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
}

// TestNeverBegun deletes clusters for which nothing could ever be created, with their pools: users need not correct them first.
func TestNeverBegun(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		reason string
		why    string
		change func(*infrav1.AzureManagedControlPlane)
	}{
		"no identity": {
			reason: "the identity was never there",
			why:    infrav1.IdentityNotFoundReason,
			change: func(c *infrav1.AzureManagedControlPlane) { c.Spec.IdentityRef.Name = "nobody" },
		},
		"no subscription": {
			reason: "neither the spec nor the environment of the manager names one",
			why:    "SubscriptionMissing",
			change: func(c *infrav1.AzureManagedControlPlane) { c.Spec.SubscriptionID = "" },
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			stage.StartManager(harness.ManagerOptions{})
			stage.CreateIdentity()
			own := stage.ControlPlane("c1")
			test.change(own)
			stage.CreateManagedCluster(own, pools...)
			harness.WaitFor(stage, controlPlane("c1"), "c1", "with the reason in Ready", func(c *infrav1.AzureManagedControlPlane) bool {
				return harness.FindCondition(c, infrav1.ReadyCondition).Reason == test.why
			})
			stage.DeleteManagedCluster("c1", "pool0", "pool1")
			if writes := stage.Azure.RequestsSince(0); len(writes) > 0 {
				t.Errorf("%s: Azure was asked: %q", test.reason, writes)
			}
		})
	}
}

// TestOwnersGone deletes pool and control plane after their owners are gone, which happens only if a person removes finalizers.
func TestOwnersGone(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	drop := func(object client.Object) {
		t.Helper()
		object.SetNamespace(stage.Namespace)
		requireNoError(stage, stage.Client.Delete(t.Context(), object))
		harness.ChangeObject(stage, object, func(o client.Object) { o.SetFinalizers(nil) })
		stage.WaitGone(object, object.GetName())
	}
	drop(machinePool("c1-pool1"))
	pool := azurePool("c1-pool1")
	pool.Namespace = stage.Namespace
	requireNoError(stage, stage.Client.Delete(t.Context(), pool))
	stage.WaitGone(pool, pool.Name)
	if status, _ := stage.Azure.GetResource(clusterPath+"/agentPools/pool1", clusterVersion); status != 404 {
		t.Errorf("the object of the pool is gone and the pool is not: GET answers %d", status)
	}

	drop(machinePool("c1-pool0"))
	drop(&clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}})
	own := controlPlane("c1")
	own.Namespace = stage.Namespace
	requireNoError(stage, stage.Client.Delete(t.Context(), own))
	// The control plane waits for its last pool, which is deleted with it.
	last := azurePool("c1-pool0")
	last.Namespace = stage.Namespace
	requireNoError(stage, stage.Client.Delete(t.Context(), last))
	stage.WaitGone(last, last.Name)
	stage.WaitGone(own, own.Name)
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
}

// TestTwoClusters creates two clusters with pools in one namespace; it expects that each knows its own, and that one is deleted without the
// other.
func TestTwoClusters(t *testing.T) {
	t.Parallel()
	stage := bringUpCluster(t, nil)
	stage.CreateManagedCluster(stage.ControlPlane("c2"), harness.ManagedPool{Name: "pool0", Mode: "System", Replicas: 1})
	stage.WaitControlPlaneReady("c2")
	stage.WaitPoolReady("c2-pool0", 1)
	if status, _ := stage.Azure.GetResource("resourceGroups/c2/providers/Microsoft.ContainerService/managedClusters/c2/agentPools/pool1",
		clusterVersion); status != 404 {
		t.Errorf("c2 got a pool of c1: GET answers %d", status)
	}
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
	stage.AdvanceClock(time.Minute)
	stage.WakeControllers(controlPlane("c2"))
	stage.WaitControlPlaneReady("c2")
	stage.WaitPoolReady("c2-pool0", 1)
	for _, id := range stage.Azure.ListResources() {
		if strings.Contains(strings.ToLower(id), "resourcegroups/c1") || strings.Contains(id, "MC_c1") {
			t.Errorf("%s is left of c1", id)
		}
	}
}
