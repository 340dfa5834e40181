package alerts_test

import (
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// stories have a cluster c1 with its control plane and a worker in order, then trouble, and then the correction. Each lists series that the trouble
// raises above zero; they are back at zero in the end.
var stories = map[string]struct {
	trouble, correct func(r *recording)
	// minutes is how long the trouble lasts.
	minutes int
	raised  []string
}{
	"credential": {minutes: 90, raised: []string{`capz_objects{`, `state="Stalled"`},
		trouble: func(r *recording) { setSecret(r, "wrong") }, correct: func(r *recording) { setSecret(r, r.Azure.ClientSecret) }},
	"hanging": {minutes: 150, raised: []string{`capz_objects{`, `state="Reconciling"`},
		trouble: func(r *recording) {
			r.AddFault(fault.Rule{Method: http.MethodPut, Type: "Microsoft.Compute/virtualMachines", Kind: fault.Stuck})
			r.ApplyMachine("c1", "late", harness.Worker)
		}, correct: func(r *recording) { r.Sim.ClearFaults() }},
	"deletion": {minutes: 90, raised: []string{`capz_objects{`, `state="Deleting"`},
		trouble: func(r *recording) {
			r.AddFault(fault.Rule{Method: http.MethodDelete, Type: "Microsoft.Compute/virtualMachines", Kind: fault.Status, Status: 409,
				Code: "ScopeLocked", Message: "The scope is locked.", Count: -1})
			machine := &infrav1.AzureMachine{}
			r.ReadObject(machine, "c1-md-0-0")
			if err := r.Client.Delete(r.T.Context(), machine); err != nil {
				r.T.Fatal(err)
			}
		}, correct: func(r *recording) { r.Sim.ClearFaults() }},
	"forgotten": {minutes: 150, raised: []string{`capz_azure_operation_oldest_age_seconds{`},
		trouble: func(r *recording) {
			// Azure does not end the deletion of a VM, and refuses the identity later.
			r.AddFault(fault.Rule{Method: http.MethodDelete, Type: "Microsoft.Compute/virtualMachines", Kind: fault.Stuck})
			machine := &infrav1.AzureMachine{}
			r.ReadObject(machine, "c1-md-0-0")
			if err := r.Client.Delete(r.T.Context(), machine); err != nil {
				r.T.Fatal(err)
			}
			r.play(5)
			for _, id := range []string{"*/virtualmachines/c1-md-0-0", "*/operations/*"} {
				r.AddFault(fault.Rule{Method: http.MethodGet, ID: id, Kind: fault.Token, Count: -1})
			}
		}, correct: func(r *recording) {
			// Azure still refuses the identity.
			machine := &infrav1.AzureMachine{}
			r.ReadObject(machine, "c1-md-0-0")
			machine.Finalizers = nil
			if err := r.Client.Update(r.T.Context(), machine); err != nil {
				r.T.Fatal(err)
			}
		}},
	"throttled": {minutes: 60, raised: []string{`capz_objects{`, `state="Reconciling"`},
		trouble: func(r *recording) {
			r.AddFault(fault.Rule{Method: http.MethodPut, Kind: fault.Status, Status: 429, Code: "SubscriptionRequestsThrottled",
				Message: "Too many requests.", RetryAfter: 300, Count: -1})
			r.ApplyMachine("c1", "late", harness.Worker)
			// The requests of the second one are held back, because Azure throttles those of the first.
			r.play(1)
			r.ApplyMachine("c1", "later", harness.Worker)
		}, correct: func(r *recording) { r.Sim.ClearFaults() }},
	"drift": {minutes: 75, raised: []string{`capz_objects_drifted{`},
		trouble: func(r *recording) {
			// The provider reports sizes and does not change them, so drift that is found often is no contest with another program.
			for range 6 {
				for _, size := range []string{"Standard_D4s_v3", "Standard_D2s_v3"} {
					resize(r, "c1-control-plane-0", size)
					resize(r, "c1-md-0-0", size)
					r.play(11)
				}
			}
			resize(r, "c1-md-0-0", "Standard_D4s_v3")
		}, correct: func(r *recording) { resize(r, "c1-md-0-0", "Standard_D2s_v3") }},
	"contest": {minutes: 0, raised: nil,
		trouble: func(r *recording) {
			for range 8 {
				r.PatchResource("Microsoft.Network/virtualNetworks/c1-vnet", map[string]any{"tags": map[string]any{
					infrav1.ClusterTagKey("c1"): "owned", "Name": "other"}})
				r.play(15)
			}
		}, correct: func(*recording) {}},
	"refused": {minutes: 45, raised: nil,
		trouble: func(r *recording) {
			r.Refuse = func(verb string, _ runtime.Object) error {
				if verb == "patch status" {
					return apierrors.NewInternalError(http.ErrServerClosed)
				}
				return nil
			}
			r.ApplyMachine("c1", "late", harness.Worker)
		}, correct: func(r *recording) { r.Refuse = nil }},
}

// play plays a story in which Azure takes as long as it really does, and a manager counts its work.
func play(t *testing.T, story func(s *virtual.Scenario)) {
	virtual.PlayWith(t, virtual.Options{Complete: true, Azure: server.Options{Seed: 7}}, func(s *virtual.Scenario) {
		s.CreateIdentity()
		s.Metrics = true
		story(s)
	})
}

// TestStories plays each story after the other, because the metrics are those of the process.
func TestStories(t *testing.T) {
	for name, story := range stories {
		t.Run(name, func(t *testing.T) {
			r := &recording{series: map[string][]string{}}
			play(t, func(s *virtual.Scenario) {
				r.Scenario, r.up = s, true
				s.StartProvider()
				s.BuildCluster("c1", 1)
				r.play(20)
				before := r.sum(story.raised...)
				story.trouble(r)
				r.play(story.minutes)
				if len(story.raised) > 0 && r.sum(story.raised...) <= before {
					t.Errorf("%q is not above %v", story.raised, before)
				}
				story.correct(r)
				r.play(150)
				if got := r.sum(story.raised...); len(story.raised) > 0 && got != 0 {
					t.Errorf("%q is %v in the end: %v", story.raised, got, r.describe("capz_objects{"))
				}
			})
			r.write(t, name)
		})
	}
}

// TestStopped records a manager that stops, and another one that starts an hour later. In between a replica runs that is not the leader.
func TestStopped(t *testing.T) {
	r := &recording{series: map[string][]string{}}
	play(t, func(s *virtual.Scenario) {
		r.Scenario, r.up = s, true
		manager := s.StartProvider()
		s.ApplyNetwork("c1", nil)
		s.WaitReady(&infrav1.AzureCluster{}, "c1")
		r.play(20)
		manager.StopManager()
		r.up = false
		r.play(60)
		r.up = true
		s.StartProvider()
		r.play(60)
		if got := r.sum(`capz_objects{`, `state="Ready"`); got < 1 {
			t.Errorf("%v objects are Ready in the end", got)
		}
	})
	r.write(t, "stopped")
}

func setSecret(r *recording, secret string) {
	harness.ChangeObject(r.Stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}, func(o *corev1.Secret) {
		o.Data = map[string][]byte{"clientSecret": []byte(secret)}
	})
}

// resize plays a user who gives a VM another size.
func resize(r *recording, vm, size string) {
	r.PatchResource("Microsoft.Compute/virtualMachines/"+vm, map[string]any{"properties": map[string]any{
		"hardwareProfile": map[string]any{"vmSize": size}}})
	virtual.WaitForSignal(nil, time.Minute)
}
