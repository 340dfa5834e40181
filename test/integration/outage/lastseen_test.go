package outage_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const (
	machineVersion = "2025-04-01"
	stoppedPath    = "resourceGroups/c1/providers/Microsoft.Compute/virtualMachines/stopped"
)

// listStanding returns the objects of existing clusters, one of each kind, by the condition that depends on a read from Azure.
func listStanding() map[string]harness.Conditioned {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	return map[string]harness.Conditioned{
		infrav1.NetworkInfrastructureReadyCondition: &infrav1.AzureCluster{ObjectMeta: named("c1")},
		infrav1.VMRunningCondition:                  &infrav1.AzureMachine{ObjectMeta: named("running")},
		infrav1.ManagedClusterRunningCondition:      &infrav1.AzureManagedControlPlane{ObjectMeta: named("aks")},
		infrav1.AgentPoolsReadyCondition:            &infrav1.AzureManagedMachinePool{ObjectMeta: named("aks-pool1")},
	}
}

// listOutages returns the failures that keep a reconciliation from reading from Azure.
func listOutages() map[string]struct {
	reason string
	begin  func(s *harness.Stage)
	says   string
	silent bool
} {
	always := func(rule fault.Rule) func(*harness.Stage) {
		return func(s *harness.Stage) {
			rule.Count = -1
			if err := s.Azure.AddFault(rule); err != nil {
				s.T.Fatal(err)
			}
		}
	}
	secret := func(change func(*corev1.Secret)) func(*harness.Stage) {
		return func(s *harness.Stage) {
			harness.ChangeObject(s, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}, change)
		}
	}
	return map[string]struct {
		reason string
		begin  func(s *harness.Stage)
		says   string
		silent bool
	}{
		"server error": {"Azure cannot answer",
			always(fault.Rule{Kind: fault.Status, Status: 503, Code: "ServiceUnavailable", Message: "The service is unavailable."}),
			"ServiceUnavailable", true},
		"connection": {"Azure closes connections", always(fault.Rule{Kind: fault.Reset}), "ConnectionFailed", true},
		"permission": {"a removed role proves nothing about machines",
			always(fault.Rule{Method: "GET", Kind: fault.Status, Status: 403, Code: "AuthorizationFailed",
				Message: "The client does not have authorization."}), "AuthorizationFailed", false},
		"subscription": {"a subscription without access answers 404, as a deleted resource does",
			always(fault.Rule{Method: "GET", Kind: fault.Status, Status: 404, Code: "SubscriptionNotFound",
				Message: "The subscription could not be found."}), "SubscriptionNotFound", false},
		"credentials": {"Entra ID refuses a client secret that has run out",
			secret(func(s *corev1.Secret) { s.Data["clientSecret"] = []byte("run out") }), "AADSTS7000215", false},
		"no secret": {"the provider has no client secret to send", secret(func(s *corev1.Secret) { s.Data = nil }), "clientSecret", false},
	}
}

// TestConditionsStayAsLastSeen lets each way to read from Azure fail while clusters of both kinds exist; it expects conditions as last
// seen, and Ready again afterwards.
func TestConditionsStayAsLastSeen(t *testing.T) {
	stage := bringUpClusters(t)
	defer func() { stage.T = t }()
	for name, outage := range listOutages() {
		t.Run(name, func(t *testing.T) {
			stage.T = t
			seen := watchStanding(stage)
			outage.begin(stage)
			stage.AdvanceClock(time.Hour)
			for _, object := range listStanding() {
				stage.WakeControllers(object)
			}
			stage.WakeControllers(&infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "stopped"}})
			for conditionType, object := range listStanding() {
				harness.WaitFor(stage, object, object.GetName(), "Ready as last seen", func(o harness.Conditioned) bool {
					condition, ready := harness.FindCondition(o, conditionType), harness.FindCondition(o, infrav1.ReadyCondition)
					return condition.Status == metav1.ConditionTrue && condition.Reason == infrav1.LastSeenReason &&
						strings.Contains(condition.Message, outage.says) &&
						ready.Status == metav1.ConditionTrue && ready.Reason == infrav1.LastSeenReason && strings.Contains(ready.Message, outage.says)
				})
			}
			stopped := &infrav1.AzureMachine{}
			if outage.silent {
				harness.WaitFor(stage, stopped, "stopped", "still stopped in its condition", func(m *infrav1.AzureMachine) bool {
					condition := harness.FindCondition(m, infrav1.VMRunningCondition)
					return condition.Status == metav1.ConditionFalse && condition.Reason == infrav1.VMStoppedReason &&
						strings.Contains(condition.Message, "as last seen")
				})
				fresh := strings.ReplaceAll(name, " ", "-")
				stage.CreateMachine(stage.AzureMachine("c1", fresh), harness.Worker, "")
				harness.WaitFor(stage, &infrav1.AzureMachine{}, fresh, "of unknown state", func(m *infrav1.AzureMachine) bool {
					condition, ready := harness.FindCondition(m, infrav1.VMRunningCondition), harness.FindCondition(m, infrav1.ReadyCondition)
					return condition.Status == metav1.ConditionUnknown && ready.Status == metav1.ConditionUnknown &&
						strings.Contains(ready.Message, outage.says)
				})
			}
			for _, bad := range seen() {
				t.Errorf("%s, and yet: %s", outage.reason, bad)
			}

			stage.Azure.ClearFaults()
			harness.ChangeObject(stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}, func(s *corev1.Secret) {
				s.Data = map[string][]byte{"clientSecret": []byte(stage.Azure.ClientSecret)}
			})
			stage.AdvanceClock(time.Hour)
			for conditionType, object := range listStanding() {
				stage.WakeControllers(object)
				harness.WaitFor(stage, object, object.GetName(), "reconciled again", func(o harness.Conditioned) bool {
					return harness.FindCondition(o, conditionType).Reason == infrav1.ReadyReason &&
						harness.FindCondition(o, infrav1.ReadyCondition).Reason == infrav1.ReadyReason
				})
			}
		})
	}
}

// bringUpClusters brings up a cluster with a machine that runs and one that a user stopped, and an AKS cluster with a pool.
func bringUpClusters(t *testing.T) *harness.Stage {
	t.Helper()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{})
	stage.CreateIdentity()
	stage.CreateManagedCluster(stage.ControlPlane("aks"), harness.ManagedPool{Name: "pool1", Mode: "System", Replicas: 1})
	stage.CreateCluster(stage.AzureCluster("c1"))
	stage.WaitClusterProvisioned("c1")
	for _, name := range []string{"running", "stopped"} {
		stage.CreateMachine(stage.AzureMachine("c1", name), harness.Worker, "")
		stage.WaitMachineProvisioned(name)
	}
	stage.Azure.PostAction(stoppedPath+"/deallocate", machineVersion)
	harness.WaitFor(stage, &infrav1.AzureMachine{}, "stopped", "stopped in its condition", func(m *infrav1.AzureMachine) bool {
		stage.AdvanceClock(time.Minute)
		stage.WakeControllers(m)
		return harness.FindCondition(m, infrav1.VMRunningCondition).Reason == infrav1.VMStoppedReason
	})
	stage.WaitControlPlaneReady("aks")
	stage.WaitPoolReady("aks-pool1", 1)
	return stage
}

// watchStanding records from now on every existing object that is shown to be anything but ready. The function that it returns ends that,
// and returns the records.
func watchStanding(stage *harness.Stage) func() []string {
	ctx, cancel := context.WithCancel(stage.T.Context())
	var mu sync.Mutex
	var bad []string
	var watching sync.WaitGroup
	stands := map[string]bool{}
	for _, object := range listStanding() {
		stands[object.GetName()] = true
	}
	for _, list := range []client.ObjectList{&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureManagedControlPlaneList{},
		&infrav1.AzureManagedMachinePoolList{}} {
		watcher, err := stage.Client.Watch(ctx, list, client.InNamespace(stage.Namespace))
		if err != nil {
			stage.T.Fatal(err)
		}
		watching.Go(func() {
			for event := range watcher.ResultChan() {
				object, ok := event.Object.(harness.Conditioned)
				if !ok || !stands[object.GetName()] {
					continue
				}
				for _, condition := range object.GetConditions() {
					if condition.Status != metav1.ConditionTrue && condition.Type != clusterv1.PausedCondition &&
						condition.Type != infrav1.ClusterInfoReadyCondition {
						mu.Lock()
						bad = append(bad, fmt.Sprintf("%T %s is %s=%s %s: %s", object, object.GetName(), condition.Type, condition.Status, condition.Reason,
							condition.Message))
						mu.Unlock()
					}
				}
			}
		})
	}
	return func() []string {
		cancel()
		watching.Wait()
		return bad
	}
}
