package alerts_test

import (
	"net/http"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
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
	"updating": {minutes: 370, raised: []string{`capz_objects{`, `reason="Updating"`},
		trouble: func(r *recording) {
			r.AddFault(fault.Rule{Method: http.MethodPut, Type: "Microsoft.Network/networkSecurityGroups", Kind: fault.Stuck})
			addRule(r)
		}, correct: func(r *recording) { r.Sim.ClearFaults() }},
	// In the following stories nothing is wrong, so no alert fires.
	"once-for-all": {minutes: 60, raised: nil,
		trouble: func(r *recording) {
			// Somebody changes the tags of many resources of a type once.
			names := []string{"a", "b", "c", "d", "e", "f", "g"}
			for _, name := range names {
				r.ApplyMachine("c1", name, harness.Worker)
			}
			r.play(30)
			for _, name := range names {
				r.PatchResource("Microsoft.Network/networkInterfaces/"+name+"-nic", map[string]any{"tags": map[string]any{
					infrav1.ClusterTagKey("c1"): "owned", "Name": "other"}})
			}
			r.play(30)
			if repaired := r.sum(`capz_drift_repaired_total{`); repaired < float64(len(names)) {
				r.T.Errorf("%v repairs, so the story does not show that the alert about repeated ones leaves them out", repaired)
			}
		}, correct: func(*recording) {}},
	"stopped-by-annotation": {minutes: 8 * 60, raised: []string{`capz_objects{`, `state="Stopped"`},
		trouble: func(r *recording) {
			applyPool(r, 2)
			r.ApplyAKSCluster("aks1", 2)
			r.play(45)
			annotateClusters(r, infrav1.StopAnnotation, "true")
		}, correct: func(r *recording) { annotateClusters(r, infrav1.StopAnnotation, "") }},
	"rollout": {minutes: 0, raised: nil,
		trouble: func(r *recording) {
			applyPool(r, 20)
			r.play(45)
			harness.ChangeObject(r.Stage, &infrav1.AzureMachinePool{ObjectMeta: metav1.ObjectMeta{Name: "pool"}}, func(p *infrav1.AzureMachinePool) {
				p.Spec.Template.VMSize = "Standard_D4s_v3"
			})
			begun := time.Now()
			r.play(5)
			for r.sum(`capz_objects{`, `kind="AzureMachinePool"`, `state="Reconciling"`) > 0 && time.Since(begun) < 6*time.Hour {
				r.play(1)
			}
			if took := time.Since(begun); took < 70*time.Minute || took >= 6*time.Hour {
				r.T.Errorf("the rollout took %s, so it does not show that the alert about waiting objects leaves rollouts out", took)
			}
		}, correct: func(*recording) {}},
	"observed": {minutes: 120, raised: []string{`capz_objects{`, `state="Observed"`},
		trouble: func(r *recording) {
			r.ApplyNetwork("c2", func(c *infrav1.AzureCluster) { c.Annotations = map[string]string{infrav1.ObserveAnnotation: "true"} })
			machine := r.AzureMachine("c2", "c2-control-plane-0")
			machine.Annotations = map[string]string{infrav1.ObserveAnnotation: "true"}
			defaults.FillAzureMachine(machine, r.Azure.SubscriptionID)
			r.CreateMachine(machine, harness.ControlPlane, "")
		}, correct: func(r *recording) {
			for _, object := range []client.Object{&infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c2"}},
				&infrav1.AzureMachine{ObjectMeta: metav1.ObjectMeta{Name: "c2-control-plane-0"}}} {
				harness.ChangeObject(r.Stage, object, func(o client.Object) { o.SetAnnotations(nil) })
			}
			r.WaitReady(&infrav1.AzureCluster{}, "c2")
			r.CopyInfrastructure("c2")
		}},
	"paused": {minutes: 120, raised: []string{`capz_objects{`, `state="Paused"`},
		trouble: func(r *recording) {
			pauseCluster(r, true)
			template := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: r.Namespace, Name: "late"}}
			owner := &clusterv1.Cluster{}
			r.ReadObject(owner, "c1")
			template.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: owner.Name, UID: owner.UID}}
			template.Spec.Template.Spec = r.AzureMachine("c1", "late").Spec
			if err := r.Client.Create(r.T.Context(), template); err != nil {
				r.T.Fatal(err)
			}
		}, correct: func(r *recording) { pauseCluster(r, false) }},
	"refused": {minutes: 90, raised: nil,
		trouble: func(r *recording) {
			r.Refuse = func(verb string, _ runtime.Object) error {
				if verb == "patch status" {
					return apierrors.NewInternalError(http.ErrServerClosed)
				}
				return nil
			}
			r.ApplyMachine("c1", "late", harness.Worker)
			addRule(r)
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
					t.Errorf("%q is not above %v: %v", story.raised, before, r.describe("capz_objects{"))
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

// TestStopped records a manager that stops for an hour, then a replica for half an hour that is up and does not get the lease, and then a leader.
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
		r.up, r.follows = true, true
		r.play(30)
		r.follows = false
		s.StartProvider()
		r.play(60)
		if got := r.sum(`capz_objects{`, `state="Ready"`); got < 1 {
			t.Errorf("%v objects are Ready in the end", got)
		}
	})
	r.write(t, "stopped")
}

// addRule changes the spec of an existing cluster: Azure replaces a security group as a whole.
func addRule(r *recording) {
	harness.ChangeObject(r.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
		group := &c.Spec.NetworkSpec.Subnets[0].SecurityGroup
		group.SecurityRules = append(group.SecurityRules, infrav1.SecurityRule{Name: "late", Description: "late", Priority: 3000, Protocol: "Tcp",
			Direction: infrav1.SecurityRuleDirectionInbound, Action: infrav1.SecurityRuleActionAllow,
			Source: new("10.1.0.0/16"), SourcePorts: new("*"), Destination: new("*"), DestinationPorts: new("8080")})
	})
}

// applyPool makes a pool of cluster c1, and plays Cluster API's part for its Machines.
func applyPool(r *recording, replicas int32) {
	player := &harness.PoolPlayer{Client: r.Client, Namespace: r.Namespace, Joined: func(vm client.Object) bool {
		return time.Since(vm.GetCreationTimestamp().Time) > 4*time.Minute
	}}
	r.Meanwhile = func() { player.PlayOnce(r.T.Context()) }
	r.ApplyPool("c1", "pool", replicas)
}

func annotateClusters(r *recording, name, value string) {
	for _, cluster := range []string{"c1", "aks1"} {
		harness.ChangeObject(r.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: cluster}}, func(c *clusterv1.Cluster) {
			if c.Annotations == nil {
				c.Annotations = map[string]string{}
			}
			if c.Annotations[name] = value; value == "" {
				delete(c.Annotations, name)
			}
		})
	}
}

func pauseCluster(r *recording, paused bool) {
	harness.ChangeObject(r.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *clusterv1.Cluster) { c.Spec.Paused = new(paused) })
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
