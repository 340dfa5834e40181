package managed_test

import (
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestHealth turns the condition about Azure Resource Health on, has Azure refuse the read, and turns it off again: of the other
// conditions only the summary Ready reports the refusal, and the condition disappears with the feature.
func TestHealth(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	requireNoError(stage, stage.Azure.AddFault(fault.Rule{Method: "GET", ID: "*/availabilitystatuses/current", Count: -1, Kind: fault.Status,
		Status: 403, Code: "AuthorizationFailed",
		Message: "The client does not have authorization to perform action 'Microsoft.ResourceHealth/availabilityStatuses/current/read'."}))
	manager := stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second, Flags: []string{"--feature-gates=AKSResourceHealth=true"}})
	stage.CreateIdentity()
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	harness.WaitFor(stage, controlPlane("c1"), "c1", "of unknown health", func(c *infrav1.AzureManagedControlPlane) bool {
		health, ready := harness.FindCondition(c, infrav1.AzureResourceAvailableCondition), harness.FindCondition(c, infrav1.ReadyCondition)
		initialized := c.Status.Initialization.ControlPlaneInitialized
		return health.Status == metav1.ConditionUnknown && strings.Contains(health.Message, "AuthorizationFailed") &&
			ready.Status == metav1.ConditionFalse && strings.Contains(ready.Message, infrav1.AzureResourceAvailableCondition) &&
			harness.FindCondition(c, infrav1.KubeconfigReadyCondition).Status == metav1.ConditionTrue &&
			initialized != nil && *initialized
	})
	if err := manager.Stop(); err != nil {
		t.Fatal(err)
	}
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	harness.WaitFor(stage, controlPlane("c1"), "c1", "without a word about health", func(c *infrav1.AzureManagedControlPlane) bool {
		return harness.FindCondition(c, infrav1.AzureResourceAvailableCondition).Type == "" && harness.IsReady(c)
	})
}

// TestKubeconfigRefused lets AKS refuse the kubeconfig for a while; it expects that the condition reports the refusal, and that the control
// plane and the pools become ready afterwards.
func TestKubeconfigRefused(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	requireNoError(stage, stage.Azure.AddFault(fault.Rule{Method: "POST", Type: "Microsoft.ContainerService/managedClusters", Count: -1,
		Kind: fault.Status, Status: 403, Code: "AuthorizationFailed",
		Message: "The client does not have authorization to perform action 'Microsoft.ContainerService/managedClusters/listClusterAdminCredential/action'."}))
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.CreateIdentity()
	stage.CreateManagedCluster(stage.ControlPlane("c1"), pools...)
	harness.WaitFor(stage, controlPlane("c1"), "c1", "with a message that the kubeconfig is missing",
		func(c *infrav1.AzureManagedControlPlane) bool {
			condition := harness.FindCondition(c, infrav1.KubeconfigReadyCondition)
			return condition.Status == metav1.ConditionFalse && strings.Contains(condition.Message, "AuthorizationFailed") &&
				strings.Contains(condition.Message, "listClusterAdminCredential") &&
				harness.FindCondition(c, infrav1.ManagedClusterRunningCondition).Status == metav1.ConditionTrue &&
				c.Status.Initialization.ControlPlaneInitialized == nil
		})
	stage.Azure.ClearFaults()
	stage.AdvanceClock(time.Hour)
	stage.WakeControllers(controlPlane("c1"))
	stage.WaitControlPlaneReady("c1")
	stage.WaitPoolReady("c1-pool1", 2)
}
