package restored_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// TestOwnersChangedDuringPause changes the owner references of everything that the provider creates in Kubernetes while the Clusters are
// paused, as a backup with Velero or an upgrade does. The objects are stable, and their owners are right again long before their next sync.
func TestOwnersChangedDuringPause(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		change func(owners []metav1.OwnerReference) []metav1.OwnerReference
	}{
		"removed": {reason: "Velero restores objects without owners", change: func([]metav1.OwnerReference) []metav1.OwnerReference { return nil }},
		"outdated": {reason: "the API version may be removed", change: func(owners []metav1.OwnerReference) []metav1.OwnerReference {
			for i := range owners {
				owners[i].APIVersion = strings.Replace(owners[i].APIVersion, infrav1.GroupVersion.String(), infrav1.GroupVersion.Group+"/v1alpha1", 1)
			}
			return owners
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				want, before, mark := providerOwners(w), w.Azure.ListResources(), w.Azure.MarkRequests()
				if len(want) < 5 {
					t.Fatalf("the provider owns only %d objects: %v", len(want), want)
				}
				w.pauseClusters(true)
				for _, object := range w.TakeSnapshot() {
					if _, ours := want[kindOf(w.Scenario, object)+" "+object.GetName()]; !ours {
						continue
					}
					original := object.DeepCopyObject().(client.Object)
					object.SetOwnerReferences(test.change(object.GetOwnerReferences()))
					if err := w.Kubernetes.Patch(t.Context(), object, client.MergeFrom(original)); err != nil {
						t.Fatal(err)
					}
				}
				w.pauseClusters(false)
				if diff := cmp.Diff(want, providerOwners(w)); diff != "" {
					t.Errorf("%s (-want +got):\n%s", test.reason, diff)
				}
				requireUnchanged(w, before, mark)
			})
		})
	}
}

// pauseClusters pauses all Clusters, or ends the pause, and waits until the objects have followed.
func (w *world) pauseClusters(paused bool) {
	w.T.Helper()
	for _, name := range []string{"c1", "aks1", "c2"} {
		cluster := &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: w.Namespace, Name: name}}
		harness.ChangeObject(w.Stage, cluster, func(c *clusterv1.Cluster) { c.Spec.Paused = &paused })
	}
	w.AdvanceClock(time.Minute)
}

// providerOwners returns the owners of the provider's kinds, of objects that the provider creates.
func providerOwners(w *world) map[string][]string {
	out := map[string][]string{}
	for _, object := range w.TakeSnapshot() {
		kind := kindOf(w.Scenario, object)
		if kind != "Secret" && kind != "ConfigMap" && kind != "AzureMachinePoolMachine" {
			continue
		}
		for _, owner := range object.GetOwnerReferences() {
			if strings.HasPrefix(owner.Kind, "Azure") {
				out[kind+" "+object.GetName()] = append(out[kind+" "+object.GetName()], owner.APIVersion+" "+owner.Kind+" "+owner.Name)
			}
		}
	}
	return out
}
