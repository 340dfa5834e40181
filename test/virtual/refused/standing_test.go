package refused_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestConditionsStayInOutages has each way to read from Azure fail for three hours while objects of all kinds exist. No condition gets another status: a
// MachineHealthCheck deletes machines, and those of pools, whose conditions are not True any more.
func TestConditionsStayInOutages(t *testing.T) {
	always := func(rule fault.Rule) func(*virtual.Scenario) {
		rule.Count = -1
		return func(s *virtual.Scenario) { s.AddFault(rule) }
	}
	for name, outage := range map[string]struct {
		reason, message string
		begin           func(*virtual.Scenario)
	}{
		"server error": {"Azure cannot answer", "ServiceUnavailable",
			always(fault.Rule{Kind: fault.Status, Status: 503, Code: "ServiceUnavailable", Message: "The service is unavailable."})},
		"connection": {"Azure does not answer", "ConnectionFailed", always(fault.Rule{Kind: fault.Reset})},
		"permission": {"a role that was taken away is no news of machines", "AuthorizationFailed",
			always(fault.Rule{Method: "GET", Kind: fault.Status, Status: 403, Code: "AuthorizationFailed", Message: "The client does not have authorization."})},
		"subscription": {"Azure answers 404 for a subscription that the identity cannot see, as for a resource that is gone", "SubscriptionNotFound",
			always(fault.Rule{Method: "GET", Kind: fault.Status, Status: 404, Code: "SubscriptionNotFound", Message: "The subscription could not be found."})},
		"credential": {"Entra ID refuses a client secret that has run out", "AADSTS7000215", func(s *virtual.Scenario) { setCredential(s, "run out") }},
	} {
		t.Run(name, func(t *testing.T) {
			virtual.PlayWith(t, virtual.Options{Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
				s.StartProvider()
				s.PlayPoolMachines(nil)
				buildAllKinds(s)
				virtual.WaitForSignal(nil, 2*time.Hour)
				s.WaitAllReady()
				requireKinds(s)
				changes := watchConditions(s)
				outage.begin(s)
				virtual.WaitForSignal(nil, 3*time.Hour)
				for _, change := range changes() {
					t.Errorf("%s, and yet %s", outage.reason, change)
				}
				for _, object := range s.ListAzureObjects() {
					ready := harness.FindCondition(object, infrav1.ReadyCondition)
					switch object.(type) {
					case *infrav1.AzureMachinePoolMachine, *infrav1.AzureManagedCluster: // They are not read by themselves.
						continue
					}
					if ready.Reason != infrav1.LastSeenReason || !strings.Contains(ready.Message, outage.message) {
						t.Errorf("%T %s is %s: %s, want %s with %s", object, object.GetName(), ready.Reason, ready.Message, infrav1.LastSeenReason, outage.message)
					}
				}
				s.Sim.ClearFaults()
				setCredential(s, s.Azure.ClientSecret)
				virtual.WaitForSignal(nil, 2*time.Hour)
				for _, object := range s.ListAzureObjects() {
					if ready := harness.FindCondition(object, infrav1.ReadyCondition); ready.Status != metav1.ConditionTrue || ready.Reason == infrav1.LastSeenReason {
						t.Errorf("%T %s after the outage: %+v", object, object.GetName(), ready)
					}
				}
			})
		})
	}
}

// setCredential sets the client secret of the identity and of the resource manifests.
func setCredential(s *virtual.Scenario, value string) {
	s.T.Helper()
	for name, key := range map[string]string{harness.IdentityName: "clientSecret", harness.OperatorSecret: "AZURE_CLIENT_SECRET"} {
		harness.ChangeObject(s.Stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}},
			func(secret *corev1.Secret) { secret.Data[key] = []byte(value) })
	}
}

// requireKinds fails unless there are objects of all kinds with conditions.
func requireKinds(s *virtual.Scenario) {
	s.T.Helper()
	kinds := map[string]bool{}
	for _, object := range s.ListAzureObjects() {
		kinds[fmt.Sprintf("%T", object)] = true
	}
	if len(kinds) != 10 {
		s.T.Fatalf("the kinds are %v, want 10", kinds)
	}
}

// watchConditions records from now on each condition of an object of Azure that has another status than now. Conditions that objects have now only while
// something is wrong, such as Stalled, may come. The function that it returns ends that and returns the records.
func watchConditions(s *virtual.Scenario) func() []string {
	s.T.Helper()
	status := map[string]metav1.ConditionStatus{}
	key := func(object client.Object, condition metav1.Condition) string {
		return fmt.Sprintf("%T %s: %s", object, object.GetName(), condition.Type)
	}
	for _, object := range s.ListAzureObjects() {
		for _, condition := range object.GetConditions() {
			status[key(object, condition)] = condition.Status
		}
	}
	var watching sync.WaitGroup
	var mu sync.Mutex
	var out []string
	var stops []func()
	for _, list := range []client.ObjectList{&infrav1.AzureClusterList{}, &infrav1.AzureMachineList{}, &infrav1.AzureMachinePoolList{},
		&infrav1.AzureMachinePoolMachineList{}, &infrav1.AzureManagedClusterList{}, &infrav1.AzureManagedControlPlaneList{},
		&infrav1.AzureManagedMachinePoolList{}, &infrav1.AzureASOManagedClusterList{}, &infrav1.AzureASOManagedControlPlaneList{},
		&infrav1.AzureASOManagedMachinePoolList{}} {
		watcher, err := s.Kubernetes.Watch(s.T.Context(), list, client.InNamespace(s.Namespace))
		if err != nil {
			s.T.Fatal(err)
		}
		stops = append(stops, watcher.Stop)
		watching.Go(func() {
			for event := range watcher.ResultChan() {
				object, ok := event.Object.(harness.Conditioned)
				if !ok {
					continue
				}
				for _, condition := range object.GetConditions() {
					if was, known := status[key(object, condition)]; known && was != condition.Status {
						mu.Lock()
						out = append(out, fmt.Sprintf("%s was %q and is %s, %s: %s", key(object, condition), was, condition.Status, condition.Reason, condition.Message))
						mu.Unlock()
					}
				}
			}
		})
	}
	return func() []string {
		for _, stop := range stops {
			stop()
		}
		watching.Wait()
		return out
	}
}
