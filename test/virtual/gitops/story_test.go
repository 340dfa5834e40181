package gitops_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/sim/server"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual/gitops"
)

// phases are the results of kstatus, and what Argo CD may show meanwhile.
var phases = map[string][]string{
	"Current": {"Healthy", "Suspended"}, "InProgress": {"Progressing", "Suspended"}, "Failed": {"Degraded"}, "Terminating": {"Progressing"},
}

// TestHealthOfAllKinds creates clusters of all kinds, invalidates their credential, pauses and deletes them. The scenario itself compares
// the health of each revision of each object in Argo CD and Flux with kstatus; the test makes sure that each kind had each phase.
func TestHealthOfAllKinds(t *testing.T) {
	before := gitops.CountHealth()
	virtual.PlayWith(t, virtual.Options{Complete: true, AtOnce: true, Azure: server.Options{Seed: 7, Throttle: harness.Unlimited}},
		func(s *virtual.Scenario) {
			s.CreateIdentity()
			s.StartProvider()
			player := &harness.PoolPlayer{Client: s.Kubernetes, Namespace: s.Namespace}
			s.Meanwhile = func() { player.PlayOnce(s.T.Context()) }
			documents := s.BuildASOCluster("c2", "pool0")
			s.BuildCluster("c1", 1)
			s.ApplyPool("c1", "pool", 1)
			owner := &clusterv1.Cluster{}
			s.ReadObject(owner, "c1")
			good := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Name: "good", Namespace: s.Namespace}}
			good.Spec.Template.Spec = s.AzureMachine("c1", "unused").Spec
			s.CreateObject(good)
			template := &infrav1.AzureMachineTemplate{ObjectMeta: metav1.ObjectMeta{Name: "template", Namespace: s.Namespace}}
			template.Spec.Template.Spec = s.AzureMachine("c1", "unused").Spec
			template.Spec.Template.Spec.VMSize = "Standard_Nonexistent"
			template.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Cluster", Name: "c1", UID: owner.UID}}
			s.CreateObject(template)
			for _, each := range withoutStatus(s.Namespace) {
				s.CreateObject(each)
			}
			s.BuildAKSCluster("aks1", 1)
			s.CreateASOCluster(documents)
			s.WaitReady(&infrav1.AzureMachinePool{}, "pool")
			for _, secret := range []string{"wrong", s.Azure.ClientSecret} {
				for name, key := range map[string]string{harness.IdentityName: "clientSecret", harness.OperatorSecret: "AZURE_CLIENT_SECRET"} {
					harness.ChangeObject(s.Stage, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}},
						func(o *corev1.Secret) { o.Data[key] = []byte(secret) })
				}
				virtual.WaitForSignal(nil, 2*time.Hour)
			}
			for _, paused := range []bool{true, false} {
				for _, name := range []string{"c1", "aks1", "c2"} {
					harness.ChangeObject(s.Stage, &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: name}},
						func(c *clusterv1.Cluster) { c.Spec.Paused = new(paused) })
				}
				virtual.WaitForSignal(nil, time.Minute)
			}
			pruneAll(s)
		})
	logHealth(t, before)
}

// played is the finalizer that the harness puts on objects of Cluster API, which does not run.
const played = "integration-test/played"

// pruneAll deletes the credentials, then all objects of all kinds at once, as a GitOps tool prunes them without any order. Everything goes,
// in Kubernetes and in Azure.
func pruneAll(s *virtual.Scenario) {
	// Machines of pools are first, because their pool deletes those that remain.
	lists := append([]client.ObjectList{&corev1.SecretList{}, &infrav1.AzureMachinePoolMachineList{}}, virtual.CountedKinds()...)
	lists = append(lists, &clusterv1.MachineList{}, &clusterv1.MachinePoolList{}, &clusterv1.ClusterList{})
	each := func(do func(client.Object) error) {
		for _, list := range lists {
			if err := s.Client.List(s.T.Context(), list); err != nil {
				s.T.Fatal(err)
			}
			if err := meta.EachListItem(list, func(item runtime.Object) error { return do(item.(client.Object)) }); err != nil {
				s.T.Fatal(err)
			}
		}
	}
	each(func(object client.Object) error { return client.IgnoreNotFound(s.Client.Delete(s.T.Context(), object)) })
	virtual.WaitForSignal(nil, time.Hour)
	each(func(object client.Object) error {
		if slices.Equal(object.GetFinalizers(), []string{played}) {
			return nil
		}
		if _, is := object.(*corev1.Secret); is && len(object.GetOwnerReferences()) > 0 {
			return nil // A control plane that is not deleted yet publishes it again. Kubernetes' garbage collector deletes it.
		}
		s.T.Errorf("%T %s is left with the finalizers %q", object, object.GetName(), object.GetFinalizers())
		return nil
	})
	for _, group := range []string{"c1", "aks1", "c2"} {
		if _, exists := s.FindResource("resourceGroups/" + group); exists {
			s.T.Errorf("the resource group %s is left in Azure", group)
		}
	}
}

// without are the phases that a kind does not have in the story.
var without = map[string][]string{
	// It has no Azure resources of its own: the credential of its cluster does not matter to it.
	"AzureManagedCluster": {"Failed", "Terminating"},
	// Its pool shows the failure.
	"AzureMachinePoolMachine": {"Failed"},
	// Nothing delays its deletion.
	"AzureMachineTemplate": {"Terminating"},
}

// logHealth prints how many revisions had each health since the count before, by kind and phase. It fails the test for a health that is wrong,
// for a phase that a kind did not have, and for a failure that changes its message again and again.
func logHealth(t *testing.T, before map[gitops.ObjectHealth]int) {
	t.Helper()
	var lines []string
	seen, seenWithout := map[string]map[string]int{}, map[string]bool{}
	for health, n := range gitops.CountHealth() {
		if n -= before[health]; n == 0 {
			continue
		}
		if health.ArgoCD == "" {
			seenWithout[health.Kind] = true
			continue // The scenario has compared it.
		}
		lines = append(lines, fmt.Sprintf("%-28s kstatus %-11s Argo CD %-11s Flux %-10s %4d", health.Kind, health.KStatus, health.ArgoCD,
			health.Flux, n))
		if !slices.Contains(phases[health.KStatus], health.ArgoCD) {
			t.Errorf("wrong: %+v", health)
		}
		if seen[health.Kind] == nil {
			seen[health.Kind] = map[string]int{}
		}
		seen[health.Kind][health.KStatus] += n
	}
	for _, object := range withoutStatus("") {
		if kind := reflect.TypeOf(object).Elem().Name(); !seenWithout[kind] {
			t.Errorf("no %s was compared", kind)
		}
	}
	slices.Sort(lines)
	t.Log("\n" + strings.Join(lines, "\n"))
	for _, list := range virtual.CountedKinds() {
		kind := strings.TrimSuffix(reflect.TypeOf(list).Elem().Name(), "List")
		for phase := range phases {
			if seen[kind][phase] == 0 && !slices.Contains(without[kind], phase) {
				t.Errorf("no %s was in the phase %s", kind, phase)
			}
		}
		if n := seen[kind]["Failed"]; n > 8 {
			t.Errorf("%d revisions of %ss are Failed. An object needs one", n, kind)
		}
	}
}
