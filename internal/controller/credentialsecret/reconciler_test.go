package credentialsecret

import (
	"maps"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestReconcile reconciles a Secret beside identities, and checks whether it has the finalizer and the label for clusterctl move
// afterwards.
func TestReconcile(t *testing.T) {
	const others = "others.example.com/theirs"
	user := identity.FinalizerKey(infrav1.ClusterFinalizer, storetest.Namespace, "c1")
	aks := identity.FinalizerKey(infrav1.ManagedControlPlaneFinalizer, storetest.Namespace, "c1")
	of := func(namespace string, finalizers ...string) *infrav1.AzureClusterIdentity {
		return &infrav1.AzureClusterIdentity{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "id", Finalizers: finalizers},
			Spec: infrav1.AzureClusterIdentitySpec{Type: infrav1.ServicePrincipal,
				ClientSecret: corev1.SecretReference{Namespace: storetest.Namespace, Name: "s"}},
		}
	}
	changed := func(object *infrav1.AzureClusterIdentity, change func(*infrav1.AzureClusterIdentitySpec)) *infrav1.AzureClusterIdentity {
		change(&object.Spec)
		return object
	}
	// documents are the objects of an AKS cluster, whose control plane names the Secret for all of them. Those that have begun have a finalizer.
	documents := func(begun ...string) []client.Object {
		cluster, pool := storetest.NewOwnedMeta("c1", "c1"), storetest.NewOwnedMeta("p1", "c1")
		infrastructure := &infrav1.AzureASOManagedCluster{ObjectMeta: cluster}
		controlPlane := &infrav1.AzureASOManagedControlPlane{ObjectMeta: cluster}
		controlPlane.Spec.Resources = []runtime.RawExtension{{Raw: []byte(`{"apiVersion":"containerservice.azure.com/v1api20240901","kind":"ManagedCluster",
			"metadata":{"name":"c1","annotations":{"serviceoperator.azure.com/credential-from":"s"}},"spec":{"location":"l","owner":{"name":"g"}}}`)}}
		machines := &infrav1.AzureASOManagedMachinePool{ObjectMeta: pool}
		machines.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1"}
		for kind, object := range map[string]client.Object{"cluster": infrastructure, "controlPlane": controlPlane, "pool": machines} {
			object.SetFinalizers([]string{others})
			if slices.Contains(begun, kind) {
				finalizer := infrav1.ASOManagedFinalizer
				if kind == "controlPlane" {
					finalizer = infrav1.ASOManagedControlPlaneFinalizer
				}
				object.SetFinalizers([]string{others, finalizer})
			}
		}
		owner := storetest.NewCluster("c1", "AzureASOManagedCluster", "c1")
		owner.Spec.ControlPlaneRef = owner.Spec.InfrastructureRef
		owner.Spec.ControlPlaneRef.Kind = "AzureASOManagedControlPlane"
		return []client.Object{owner, infrastructure, controlPlane, machines}
	}
	byIdentity := func(objects []client.Object) []client.Object {
		objects[1].(*infrav1.AzureASOManagedCluster).Spec.IdentityRef = &corev1.ObjectReference{Name: "id"}
		objects[2].(*infrav1.AzureASOManagedControlPlane).Spec.Resources = nil
		return objects
	}
	tests := map[string]struct {
		reason     string
		identities []*infrav1.AzureClusterIdentity
		documents  []client.Object
		// gated is without the kinds with documents.
		gated   bool
		tenancy identity.Tenancy
		allows  string
		// held and deleting are how the Secret is before.
		held, deleting, moved bool
		labels                map[string]string
		want, writes, moves   bool
		event                 string
	}{
		"unreferenced": {reason: "most Secrets are not of identities"},
		"not in use": {reason: "Secrets of unused identities keep no finalizer and no label",
			identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, others)}},
		"comes into use": {reason: "a cluster holds the identity",
			identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, user)}, want: true, writes: true, moves: true},
		"comes into use by AKS": {reason: "as any other", identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, aks)},
			want: true, writes: true, moves: true},
		"in use": {reason: "nothing changes", identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, user)},
			held: true, moves: true, labels: map[string]string{moveLabelPrefix + "move": "true"}, want: true},
		"in use by one of two": {reason: "the other one does not matter",
			identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, user), of("far")}, held: true, moves: true,
			labels: map[string]string{moveLabelPrefix + "move": "true"}, want: true},
		"last user goes": {reason: "the finalizer goes with it", identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace)},
			held: true, writes: true},
		"identity goes": {reason: "no other controller would remove the finalizer", held: true, writes: true},
		"identity names another": {reason: "it is that one's now", held: true, writes: true,
			identities: []*infrav1.AzureClusterIdentity{changed(of(storetest.Namespace, user),
				func(s *infrav1.AzureClusterIdentitySpec) { s.ClientSecret.Name = "t" })}},
		"identity without a secret": {reason: "a workload identity reads none", held: true, writes: true,
			identities: []*infrav1.AzureClusterIdentity{changed(of(storetest.Namespace, user),
				func(s *infrav1.AzureClusterIdentitySpec) { s.Type = infrav1.WorkloadIdentity })}},
		"identity with a file": {reason: "the file wins over the Secret", held: true, writes: true,
			identities: []*infrav1.AzureClusterIdentity{changed(of(storetest.Namespace, user), func(s *infrav1.AzureClusterIdentitySpec) {
				s.Type, s.CertPath = infrav1.ServicePrincipalCertificate, "/c"
			})}},
		"of others": {reason: "an identity that may not use a Secret cannot block its deletion",
			identities: []*infrav1.AzureClusterIdentity{of("far", user)}},
		"of others, allowed": {reason: "its owner allows it", identities: []*infrav1.AzureClusterIdentity{of("far", user)},
			allows: "far", want: true, writes: true},
		"of others, no longer allowed": {reason: "its owner changed his mind", identities: []*infrav1.AzureClusterIdentity{of("far", user)},
			held: true, writes: true},
		"of others, trusted": {reason: "every namespace may use it", identities: []*infrav1.AzureClusterIdentity{of("far", user)},
			tenancy: identity.Trusted, want: true, writes: true},
		"moved": {reason: "clusterctl moves it away while the identity still exists",
			identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, user)}, moved: true},
		"used by objects that move": {reason: "clusterctl moves every identity of a namespace, which is of no use without its credential",
			identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, user)}, held: true, want: true, writes: true, moves: true},
		"moves already": {reason: "its label is its owner's",
			identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, user)},
			labels:     map[string]string{moveLabelPrefix + "move-hierarchy": ""}, held: true, want: true, moves: true},
		"of others that move": {reason: "clusterctl moves one namespace, and this one is the Secret's",
			identities: []*infrav1.AzureClusterIdentity{of("far", user)}, allows: "far", want: true, writes: true},
		"of objects that move, not in use": {reason: "Secrets of unused identities keep no finalizer and no label",
			identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, others)}},
		"deleted in use": {reason: "it stays, and an event names its users",
			identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, user)}, held: true, deleting: true, want: true,
			event: "AzureClusterIdentity ns/id"},
		"deleted before it was held": {reason: "the API server refuses new finalizers then",
			identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace, user)}, deleting: true},
		"deleted and free": {reason: "now it goes", identities: []*infrav1.AzureClusterIdentity{of(storetest.Namespace)},
			held: true, deleting: true, writes: true},
		"of documents that have not begun": {reason: "there is nothing in Azure", documents: documents()},
		"of documents": {reason: "they are deleted in Azure with it", documents: documents("cluster", "controlPlane", "pool"),
			want: true, writes: true, moves: true},
		"of a pool's Cluster": {reason: "a pool asks as the others of its Cluster do", documents: documents("pool"), held: true,
			want: true, writes: true, moves: true},
		"of documents that are gone": {reason: "the last of them releases it", documents: documents(), held: true, writes: true},
		"of documents with an identity": {reason: "they ask as that", documents: byIdentity(documents("cluster", "controlPlane", "pool")),
			held: true, writes: true},
		"of documents without gate": {reason: "no controller would remove the finalizer again", documents: documents("cluster"), gated: true},
		"of documents, deleted": {reason: "it stays, and an event names its users", documents: documents("cluster", "pool"), held: true,
			deleting: true, want: true, event: "AzureASOManagedCluster ns/c1, AzureASOManagedMachinePool ns/p1"},
		"of documents, moved": {reason: "clusterctl takes it away before them", documents: documents("cluster"), held: true,
			moved: true, writes: true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			secret := &corev1.Secret{ObjectMeta: storetest.NewMeta("s")}
			secret.Finalizers, secret.Labels = []string{others}, test.labels
			secret.Annotations = map[string]string{infrav1.IdentityNamespacesAnnotation: test.allows}
			if test.moved {
				secret.Annotations["clusterctl.cluster.x-k8s.io/delete-for-move"] = ""
			}
			if test.held {
				secret.Finalizers = append(secret.Finalizers, infrav1.CredentialFinalizer)
			}
			if test.deleting {
				storetest.MarkDeleting(secret)
				secret.Finalizers = slices.DeleteFunc(secret.Finalizers, func(f string) bool { return f == infrav1.CredentialFinalizer && !test.held })
			}
			objects := append([]client.Object{secret}, test.documents...)
			for _, object := range test.identities {
				objects = append(objects, object)
			}
			store := storetest.NewClient(t, objects...)
			key := client.ObjectKeyFromObject(secret)
			read := func() *corev1.Secret {
				stored := &corev1.Secret{}
				if err := store.Get(t.Context(), key, stored); err != nil {
					t.Fatal(err)
				}
				return stored
			}
			before := read()
			recorder := events.NewFakeRecorder(10)
			r := &Reconciler{Client: store, Recorder: recorder, Identities: identity.New(store, identity.Options{Tenancy: test.tenancy}),
				ASOResources: !test.gated}
			for _, object := range test.documents[min(1, len(test.documents)):] { // the Cluster is first
				if woken := r.mapASOObject(t.Context(), object); test.held && !slices.Contains(woken, ctrl.Request{NamespacedName: key}) {
					t.Errorf("%s: an event of %T leads to no reconciliation", test.reason, object)
				}
			}
			if _, err := r.Reconcile(t.Context(), ctrl.Request{NamespacedName: key}); err != nil {
				t.Fatal(err)
			}
			after := read()
			if got := slices.Contains(after.Finalizers, infrav1.CredentialFinalizer); got != test.want ||
				!slices.Contains(after.Finalizers, others) {
				t.Errorf("%s: finalizers %q", test.reason, after.Finalizers)
			}
			if got := hasMoveLabel(after); got != test.moves || test.labels != nil && !maps.Equal(after.Labels, test.labels) {
				t.Errorf("%s: labels %q", test.reason, after.Labels)
			}
			if (before.ResourceVersion != after.ResourceVersion) != test.writes {
				t.Errorf("%s: written is %t", test.reason, !test.writes)
			}
			recorded := ""
			select {
			case recorded = <-recorder.Events:
			default:
			}
			if (recorded != "") != (test.event != "") || !strings.Contains(recorded, test.event) {
				t.Errorf("%s: events %q", test.reason, recorded)
			}
			if woken := r.mapSecret(t.Context(), before); (test.held || test.want) && len(woken) == 0 {
				t.Errorf("%s: an event of the Secret leads to no reconciliation", test.reason)
			}
		})
	}
}
