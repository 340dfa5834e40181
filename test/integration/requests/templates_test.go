package requests_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azurejson"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/azuremachinetemplate"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// otherSecret is a second client secret of the cluster's application.
const otherSecret = "second-secret"

// templates is a world with the two controllers of AzureMachineTemplates, and counts their reconciliations.
type templates struct {
	*world
	reconciled atomic.Int64
}

// withTemplates runs a test in virtual time. The identity, AzureCluster c1 and Cluster c1 exist, unless before removes them; nil removes
// nothing. The Cluster owns the template t1, as Cluster API has it, and nothing else of the template names the Cluster.
func withTemplates(t *testing.T, before, test func(w *templates)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &templates{world: &world{Scenario: virtual.NewWith(t,
			server.Options{Locations: []string{"eastus"}, Seed: 7, Principals: []server.Principal{
				{ClientID: server.DefaultClientID, Secret: server.DefaultSecret}, {ClientID: server.DefaultClientID, Secret: otherSecret},
			}})}}
		w.StartManager(w.registerControllers)
		w.ApplyNetwork("c1", nil)
		template := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "t1"}}
		template.Spec.Template.Spec = w.AzureMachine("c1", "t1").Spec
		w.CreateObject(template)
		if before != nil {
			before(w)
		}
		cluster := &clusterv1.Cluster{}
		w.ReadObject(cluster, "c1")
		harness.ChangeObject(w.Stage, template, func(o *infrav1.AzureMachineTemplate) {
			o.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: cluster.Name,
				UID: cluster.UID}}
		})
		test(w)
	})
}

func (w *templates) registerControllers(ctx context.Context, m *virtual.Manager) error {
	counting := countingClient{m.GetClient(), &w.reconciled}
	options := controller.Options{SkipNameValidation: new(true)}
	secrets := &azurejson.Reconciler{Client: counting, Recorder: &events.FakeRecorder{}, Access: m.Gate, Facts: m.Facts,
		Secrets: m.GetClient(), Now: m.Services.Now}
	if err := secrets.SetupWithManager(ctx, m, options, azurejson.Kinds{}); err != nil {
		return err
	}
	return (&azuremachinetemplate.Reconciler{Client: counting, Recorder: &events.FakeRecorder{}, Access: m.Gate,
		Facts: m.Facts}).SetupWithManager(ctx, m, options)
}

// countingClient counts reads of templates. A reconciliation of a template begins with reading it.
type countingClient struct {
	client.Client
	reads *atomic.Int64
}

func (c countingClient) Get(ctx context.Context, key client.ObjectKey, object client.Object, options ...client.GetOption) error {
	if _, is := object.(*infrav1.AzureMachineTemplate); is {
		c.reads.Add(1)
	}
	return c.Client.Get(ctx, key, object, options...)
}

// waitAzureJSON waits until the azure.json of the template has a client secret, and the template the capacity of its nodes.
func (w *templates) waitAzureJSON(secret string) {
	w.T.Helper()
	w.WaitUntil("azure.json and capacity are written", func() bool { return w.isWritten(secret) })
}

func (w *templates) isWritten(secret string) bool {
	w.T.Helper()
	stored, template := &corev1.Secret{}, &infrav1.AzureMachineTemplate{}
	key := client.ObjectKey{Namespace: w.Namespace, Name: "t1-azure-json"}
	if err := w.Kubernetes.Get(w.T.Context(), key, stored); err != nil {
		return false
	}
	w.ReadObject(template, "t1")
	return strings.Contains(string(stored.Data["azure.json"]), secret) && len(template.Status.Capacity) > 0
}

func (w *templates) rotateSecret() {
	harness.ChangeObject(w.Stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}}, func(s *corev1.Secret) {
		s.Data["clientSecret"] = []byte(otherSecret)
	})
}

// TestTemplatesOutsideOfAClusterClass checks that templates as users write them, without the label of their Cluster, follow the objects
// that they depend on. No retry is near: each case ends within a second of virtual time, and a failed reconciliation is repeated after a
// minute.
func TestTemplatesOutsideOfAClusterClass(t *testing.T) {
	cluster := func() *clusterv1.Cluster { return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}} }
	remove := func(w *templates, object client.Object, name string) {
		w.ReadObject(object, name)
		if err := w.Kubernetes.Delete(w.T.Context(), object); err != nil {
			w.T.Fatal(err)
		}
	}
	tests := map[string]struct {
		reason string
		// before is done before the Cluster owns the template, and may be nil. change is done afterwards.
		before, change func(w *templates)
		secret         string
	}{
		"Secret": {reason: "a rotated client secret has to reach the machines", change: func(w *templates) { w.rotateSecret() },
			secret: otherSecret},
		"identity": {reason: "the identity may name another Secret", change: func(w *templates) {
			w.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "other"},
				Data: map[string][]byte{"clientSecret": []byte(otherSecret)}})
			harness.ChangeObject(w.Stage, &infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Name: harness.IdentityName}},
				func(i *infrav1.AzureClusterIdentity) { i.Spec.ClientSecret.Name = "other" })
		}, secret: otherSecret},
		"AzureCluster": {reason: "the cluster may use another identity", change: func(w *templates) {
			second := w.NewIdentity()
			second.Name, second.Spec.ClientSecret.Name = "second", "second"
			w.CreateObject(second)
			w.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: "second"},
				Data: map[string][]byte{"clientSecret": []byte(otherSecret)}})
			harness.ChangeObject(w.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
				func(c *infrav1.AzureCluster) { c.Spec.IdentityRef.Name = "second" })
		}, secret: otherSecret},
		"unpaused Cluster": {reason: "new machines need the azure.json that was deleted while the Cluster was paused",
			change: func(w *templates) {
				harness.ChangeObject(w.Stage, cluster(), func(c *clusterv1.Cluster) { c.Spec.Paused = new(true) })
				remove(w, &corev1.Secret{}, "t1-azure-json")
				virtual.WaitForSignal(nil, time.Hour)
				harness.ChangeObject(w.Stage, cluster(), func(c *clusterv1.Cluster) { c.Spec.Paused = nil })
			}, secret: server.DefaultSecret},
		"AzureCluster that comes late": {reason: "users create objects in any order",
			before: func(w *templates) { remove(w, &infrav1.AzureCluster{}, "c1") },
			change: func(w *templates) { w.CreateObject(w.AzureCluster("c1")) }, secret: server.DefaultSecret},
		"identity that comes late": {reason: "users create objects in any order",
			before: func(w *templates) { remove(w, &infrav1.AzureClusterIdentity{}, harness.IdentityName) },
			change: func(w *templates) { w.CreateObject(w.NewIdentity()) }, secret: server.DefaultSecret},
		"Secret that comes late": {reason: "users create objects in any order",
			before: func(w *templates) { remove(w, &corev1.Secret{}, harness.IdentityName) },
			change: func(w *templates) { w.CreateCredential(otherSecret) }, secret: otherSecret},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			withTemplates(t, test.before, func(w *templates) {
				if test.before == nil {
					w.waitAzureJSON(server.DefaultSecret)
				} else if virtual.WaitForSignal(nil, 10*time.Second); w.isWritten(server.DefaultSecret) {
					t.Fatalf("azure.json and capacity are written without what they are made of")
				}
				test.change(w)
				begun := time.Now()
				w.waitAzureJSON(test.secret)
				if took := time.Since(begun); took > 5*time.Second {
					t.Errorf("%s: the template followed after %s, so that a retry helped", test.reason, took)
				}
			})
		})
	}
}

// TestTemplatesAreLeftAlone counts the reconciliations of a template while others write objects that it does not depend on, as
// controllers do all the time while a cluster is made.
func TestTemplatesAreLeftAlone(t *testing.T) {
	withTemplates(t, nil, func(w *templates) {
		w.waitAzureJSON(server.DefaultSecret)
		virtual.WaitForSignal(nil, time.Hour)
		before, mark := w.reconciled.Load(), w.Azure.MarkRequests()
		for i := range 20 {
			harness.ChangeStatus(w.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *clusterv1.Cluster) {
				c.Status.Workers = &clusterv1.WorkersStatus{Replicas: new(int32(i))}
			})
			harness.ChangeObject(w.Stage, &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}}, func(c *infrav1.AzureCluster) {
				metav1.SetMetaDataAnnotation(&c.ObjectMeta, infrav1.AppliedAnnotation, fmt.Sprintf(`{"inventory":{"object":"%d"}}`, i))
			})
			w.CreateObject(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: fmt.Sprintf("bootstrap-%d", i)}})
			virtual.WaitForSignal(nil, time.Minute)
		}
		if got := w.reconciled.Load() - before; got > 0 {
			t.Errorf("the template was reconciled %d times although nothing changed that it depends on", got)
		}
		if requests := w.Azure.RequestsSince(mark); len(requests) > 0 {
			t.Errorf("Azure was asked %v", requests)
		}
		w.rotateSecret()
		w.waitAzureJSON(otherSecret)
		virtual.WaitForSignal(nil, time.Minute)
		// One controller writes azure.json, and sees its own write. The other one sees the capacity that it wrote before.
		if got := w.reconciled.Load() - before; got > 3 {
			t.Errorf("a rotated secret led to %d reconciliations, want at most 3", got)
		}
	})
}
