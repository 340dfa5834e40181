package refused_test

import (
	"bytes"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// TestOneWarningPerCause takes a right away from the identity and then changes the tags of objects of all kinds with resources in Azure, so
// that Azure refuses a write of each resource with a text that names the resource. Each object has one Warning, however many of its
// resources have the cause and however often the requests are sent again.
func TestOneWarningPerCause(t *testing.T) {
	for name, test := range map[string]struct {
		reason  string
		actions []string
	}{
		"write": {"every resource is read and no write is accepted", []string{"*/read", "*/action"}},
		"read":  {"nothing can be read, so no state is known", []string{"Microsoft.Nothing/read"}},
	} {
		t.Run(name, func(t *testing.T) {
			options := virtual.Options{Azure: server.Options{Seed: 7, EnforceRBAC: true}}
			virtual.PlayWith(t, options, func(s *virtual.Scenario) {
				grant := func(actions ...string) {
					t.Helper()
					if err := s.Sim.Grant("10000000-0000-0000-0000-000000000001", s.Azure.ClientID, "/subscriptions/"+s.Azure.SubscriptionID, actions); err != nil {
						t.Fatal(err)
					}
				}
				grant("*")
				byObject := map[string][]string{}
				var mu sync.Mutex
				s.EventRecorded = func(event virtual.Event) {
					mu.Lock()
					defer mu.Unlock()
					if object := event.Kind + " " + event.Name; event.Type == corev1.EventTypeWarning {
						byObject[object] = append(byObject[object], event.Note)
					}
				}
				s.StartProvider()
				buildAllKinds(s)
				if len(byObject) > 0 {
					t.Errorf("everything is in order, and Warnings were emitted: %v", byObject)
				}
				grant(test.actions...)
				changeTags(s)
				virtual.WaitForSignal(nil, 3*time.Hour)
				mu.Lock()
				defer mu.Unlock()
				for _, object := range []string{"AzureCluster c1", "AzureMachine m1", "AzureMachinePool p1", "AzureManagedControlPlane aks",
					"AzureManagedMachinePool aks-pool0", "AzureASOManagedCluster docs", "AzureASOManagedControlPlane docs", "AzureASOManagedMachinePool docs-pool0"} {
					if got := byObject[object]; len(got) != 1 || !strings.Contains(strings.Join(got, ""), "AuthorizationFailed") {
						t.Errorf("%s: %s has %d Warnings, want one with AuthorizationFailed:\n%s", test.reason, object, len(got), strings.Join(got, "\n"))
					}
				}
			})
		})
	}
}

// buildAllKinds builds a cluster of each family, named c1, aks and docs.
func buildAllKinds(s *virtual.Scenario) {
	s.T.Helper()
	s.ApplyNetwork("c1", nil)
	s.WaitReady(&infrav1.AzureCluster{}, "c1")
	s.CopyInfrastructure("c1")
	s.ApplyMachine("c1", "m1", harness.Worker)
	s.WaitMachineProvisioned("m1")
	s.ApplyPool("c1", "p1", 1)
	s.WaitUntil("the pool has its scale set", virtual.ObjectMatches(s, &infrav1.AzureMachinePool{}, "p1", func(p *infrav1.AzureMachinePool) bool {
		return p.Status.Initialization.Provisioned != nil
	}))
	s.BuildAKSCluster("aks", 1)
	s.CreateASOCluster(s.BuildASOCluster("docs", "pool0"))
}

// changeTags changes a tag of each object's resources.
func changeTags(s *virtual.Scenario) {
	s.T.Helper()
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }
	tags := infrav1.Tags{"changed": "yes"}
	harness.ChangeObject(s.Stage, &infrav1.AzureCluster{ObjectMeta: named("c1")}, func(o *infrav1.AzureCluster) { o.Spec.AdditionalTags = tags })
	harness.ChangeObject(s.Stage, &infrav1.AzureMachine{ObjectMeta: named("m1")}, func(o *infrav1.AzureMachine) { o.Spec.AdditionalTags = tags })
	harness.ChangeObject(s.Stage, &infrav1.AzureMachinePool{ObjectMeta: named("p1")}, func(o *infrav1.AzureMachinePool) { o.Spec.AdditionalTags = tags })
	harness.ChangeObject(s.Stage, &infrav1.AzureManagedControlPlane{ObjectMeta: named("aks")},
		func(o *infrav1.AzureManagedControlPlane) { o.Spec.AdditionalTags = tags })
	harness.ChangeObject(s.Stage, &infrav1.AzureManagedMachinePool{ObjectMeta: named("aks-pool0")},
		func(o *infrav1.AzureManagedMachinePool) { o.Spec.AdditionalTags = tags })
	addTags := func(resources []runtime.RawExtension) {
		resources[0].Raw = bytes.Replace(resources[0].Raw, []byte(`"spec":{`), []byte(`"spec":{"tags":{"changed":"yes"},`), 1)
	}
	harness.ChangeObject(s.Stage, &infrav1.AzureASOManagedCluster{ObjectMeta: named("docs")},
		func(o *infrav1.AzureASOManagedCluster) { addTags(o.Spec.Resources) })
	harness.ChangeObject(s.Stage, &infrav1.AzureASOManagedControlPlane{ObjectMeta: named("docs")},
		func(o *infrav1.AzureASOManagedControlPlane) { addTags(o.Spec.Resources) })
	harness.ChangeObject(s.Stage, &infrav1.AzureASOManagedMachinePool{ObjectMeta: named("docs-pool0")},
		func(o *infrav1.AzureASOManagedMachinePool) { addTags(o.Spec.Resources) })
}
