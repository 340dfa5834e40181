package managed_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestRefusedByAzure creates clusters that Azure refuses. It expects that each ends as a condition with Azure's code, recovers once the
// cause is gone, and can be deleted in the state it was left in.
func TestRefusedByAzure(t *testing.T) {
	t.Parallel()
	const cluster = "Microsoft.ContainerService/managedClusters"
	tests := map[string]struct {
		reason  string
		change  func(*infrav1.AzureManagedControlPlane)
		pool    func(*infrav1.AzureManagedMachinePool)
		prepare func(*harness.Stage)
		// replicas are those of the system pools; nil is one pool with one node.
		replicas  []int32
		condition string
		// why is the condition's reason; "" is that Azure refuses.
		why     string
		says    []string
		correct func(*harness.Stage)
		// usable tells that the cluster works all the same.
		usable bool
	}{
		"version that AKS does not have": {
			reason:    "the message lists no guess of ours, it is AKS's",
			change:    func(c *infrav1.AzureManagedControlPlane) { c.Spec.Version = "v1.34.77" },
			condition: infrav1.ManagedClusterRunningCondition,
			says:      []string{"1.34.77"},
			correct: func(stage *harness.Stage) {
				harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) { c.Spec.Version = harness.ManagedVersion })
			},
		},
		"VM size that does not exist": {
			reason:    "the pool's field is what has to change",
			pool:      func(p *infrav1.AzureManagedMachinePool) { p.Spec.SKU = "Standard_Nope" },
			condition: infrav1.ManagedClusterRunningCondition,
			why:       infrav1.InvalidConfigurationReason,
			says:      []string{"AzureManagedMachinePool[c1-pool0].spec.sku", "Standard_Nope", "Similar sizes are Standard_"},
			correct: func(stage *harness.Stage) {
				harness.ChangeObject(stage, &infrav1.AzureManagedMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "c1-pool0"}},
					func(p *infrav1.AzureManagedMachinePool) { p.Spec.SKU = "Standard_D2s_v3" })
			},
		},
		"system pools without nodes": {
			reason:    "AKS wants a node in each, and is not asked",
			replicas:  []int32{0, 0},
			condition: infrav1.ManagedClusterRunningCondition,
			why:       infrav1.InvalidConfigurationReason,
			says: []string{"AzureManagedMachinePool c1-pool0: MachinePool.spec.replicas",
				"AzureManagedMachinePool c1-pool1: MachinePool.spec.replicas", "at least one node"},
			correct: func(stage *harness.Stage) {
				for _, name := range []string{"c1-pool0", "c1-pool1"} {
					harness.ChangeObject(stage, &clusterv1.MachinePool{ObjectMeta: metav1.ObjectMeta{Name: name}},
						func(p *clusterv1.MachinePool) { p.Spec.Replicas = new(int32(1)) })
				}
			},
		},
		"quota used up": {
			reason: "AKS tells the family and the limit",
			prepare: func(stage *harness.Stage) {
				requireNoError(stage, stage.Azure.AddFault(fault.Rule{Method: "PUT", Type: cluster, Count: -1, Kind: fault.Status, Status: 400,
					Code:    "ErrCode_InsufficientVCPUQuota",
					Message: "Insufficient vcpu quota requested 4, remaining 0 for family standardDSv3Family for region eastus."}))
			},
			condition: infrav1.ManagedClusterRunningCondition,
			why:       infrav1.QuotaExceededReason,
			says:      []string{"ErrCode_InsufficientVCPUQuota", "standardDSv3Family"},
			correct:   func(stage *harness.Stage) { stage.Azure.ClearFaults() },
		},
		"no right to join the subnet": {
			reason: "a role has to be given by a person",
			prepare: func(stage *harness.Stage) {
				requireNoError(stage, stage.Azure.AddFault(fault.Rule{Method: "PUT", Type: cluster, Count: -1, Kind: fault.Status, Status: 403,
					Code:    "LinkedAuthorizationFailed",
					Message: "The client has permission to perform action 'Microsoft.Network/virtualNetworks/subnets/join/action' on scope ..., however the linked scope is not authorized."}))
			},
			condition: infrav1.ManagedClusterRunningCondition,
			says:      []string{"LinkedAuthorizationFailed", "subnets/join/action"},
			correct:   func(stage *harness.Stage) { stage.Azure.ClearFaults() },
		},
		"creation that fails": {
			reason: "an operation that ends as failed leaves a cluster in the state Failed, which another PUT mends",
			prepare: func(stage *harness.Stage) {
				requireNoError(stage, stage.Azure.AddFault(fault.Rule{Method: "PUT", Type: cluster, Count: -1, Kind: fault.Fail,
					Code: "ControlPlaneAddOnsNotReady", Message: "Pods not in Running status: konnectivity-agent."}))
			},
			condition: infrav1.ManagedClusterRunningCondition,
			says:      []string{"ControlPlaneAddOnsNotReady", "konnectivity-agent"},
			correct:   func(stage *harness.Stage) { stage.Azure.ClearFaults() },
		},
		"name taken in another region": {
			reason: "a cluster cannot move",
			prepare: func(stage *harness.Stage) {
				stage.Azure.PutResource("resourceGroups/c1", groupVersion, body{"location": "eastus"})
				stage.Azure.PutResource(clusterPath, clusterVersion,
					body{"location": "westus2", "identity": body{"type": "SystemAssigned"}, "properties": body{"dnsPrefix": "c1",
						"agentPoolProfiles": []any{body{"name": "pool0", "mode": "System", "count": 1, "vmSize": "Standard_D2s_v3",
							"type": "VirtualMachineScaleSets"}}}})
			},
			change: func(c *infrav1.AzureManagedControlPlane) {
				c.Annotations = map[string]string{infrav1.DeleteAdoptedAnnotation: "true"}
			},
			condition: infrav1.ManagedClusterRunningCondition,
			says:      []string{"westus2"},
		},
		"fleet that does not exist": {
			reason: "the cluster is fine, only the membership is not",
			change: func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.FleetsMember = &infrav1.FleetsMember{FleetsMemberClassSpec: infrav1.FleetsMemberClassSpec{ManagerName: "nobody",
					ManagerResourceGroup: "c1", Group: "default"}, Name: "c1"}
			},
			condition: infrav1.FleetReadyCondition,
			says:      []string{"nobody"},
			correct: func(stage *harness.Stage) {
				harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) { c.Spec.FleetsMember = nil })
			},
			usable: true,
		},
		"extension that cannot be installed": {
			reason: "the cluster is fine, only the extension is not",
			change: func(c *infrav1.AzureManagedControlPlane) {
				c.Spec.Extensions = []infrav1.AKSExtension{{Name: "wrong", ExtensionType: new("microsoft.nothing")}}
			},
			condition: infrav1.AKSExtensionsReadyCondition,
			says:      []string{"microsoft.nothing"},
			correct: func(stage *harness.Stage) {
				harness.ChangeObject(stage, controlPlane("c1"), func(c *infrav1.AzureManagedControlPlane) { c.Spec.Extensions = nil })
			},
			usable: true,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			stage := harness.NewStage(t, environment)
			stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
			stage.CreateIdentity()
			if test.prepare != nil {
				test.prepare(stage)
			}
			own := stage.ControlPlane("c1")
			if test.change != nil {
				test.change(own)
			}
			if test.replicas == nil {
				test.replicas = []int32{1}
			}
			var pools []harness.ManagedPool
			var names []string
			for i, replicas := range test.replicas {
				names = append(names, fmt.Sprintf("pool%d", i))
				pools = append(pools, harness.ManagedPool{Name: names[i], Mode: "System", Replicas: replicas, Change: test.pool})
			}
			stage.CreateManagedCluster(own, pools...)
			var condition metav1.Condition
			harness.WaitFor(stage, controlPlane("c1"), "c1", "refused", func(c *infrav1.AzureManagedControlPlane) bool {
				condition = harness.FindCondition(c, test.condition)
				ready := harness.FindCondition(c, infrav1.ReadyCondition)
				said := condition.Status == metav1.ConditionFalse && ready.Status == metav1.ConditionFalse
				for _, words := range test.says {
					said = said && strings.Contains(condition.Message, words) && strings.Contains(ready.Message, words)
				}
				initialized := c.Status.Initialization.ControlPlaneInitialized
				return said && (initialized != nil && *initialized) == test.usable
			})
			if test.why != "" && condition.Reason != test.why {
				t.Errorf("%s: reason %s, want %s", test.reason, condition.Reason, test.why)
			}
			if test.correct != nil {
				test.correct(stage)
				stage.AdvanceClock(time.Hour)
				stage.WakeControllers(controlPlane("c1"))
				stage.WaitControlPlaneReady("c1")
				for _, name := range names {
					stage.WaitPoolReady("c1-"+name, 1)
				}
			}
			stage.DeleteManagedCluster("c1", names...)
			for _, id := range stage.Azure.ListResources() {
				if test.prepare == nil || !strings.EqualFold(id, "resourceGroups/c1") {
					t.Errorf("%s: %s is left behind", test.reason, id)
				}
			}
		})
	}
}

// TestDeletedHalfWay deletes clusters whose creation Azure is still at, or has just failed: nothing may stay.
func TestDeletedHalfWay(t *testing.T) {
	t.Parallel()
	stage := harness.NewSlowStage(t, environment, 0.02)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	stage.Eventually("Azure is at the cluster", func() bool {
		status, have := stage.Azure.GetResource(clusterPath, clusterVersion)
		return status == 200 && harness.FindString(have, "properties.provisioningState") == "Creating"
	})
	stage.DeleteManagedCluster("c1", "pool0", "pool1")
	if diff := cmp.Diff([]string(nil), stage.Azure.ListResources()); diff != "" {
		t.Errorf("resources left behind (-want +got):\n%s", diff)
	}
}

func requireNoError(stage *harness.Stage, err error) {
	stage.T.Helper()
	if err != nil {
		stage.T.Fatal(err)
	}
}
