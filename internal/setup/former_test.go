package setup

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
)

// TestRecordFormer starts a manager in installations of every age.
func TestRecordFormer(t *testing.T) {
	const managers = "capz-system"
	lease := func(annotations map[string]string) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: managers, Name: leaderElectionID, Annotations: annotations},
			Spec:       coordinationv1.LeaseSpec{HolderIdentity: new("capz-controller-manager-1")},
		}
	}
	marked := map[string]string{infrav1.FormerRecordedAnnotation: "true"}
	identityIn := func(namespace string, kind infrav1.IdentityType) client.Object {
		return &infrav1.AzureClusterIdentity{
			ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "id"},
			Spec: infrav1.AzureClusterIdentitySpec{Type: kind, TenantID: "tenant", ClientID: "client-of-" + namespace,
				ClientSecret: corev1.SecretReference{Name: "secret", Namespace: namespace}},
		}
	}
	operator := func(namespace, name string, more map[string][]byte) client.Object {
		data := map[string][]byte{"AZURE_SUBSCRIPTION_ID": []byte("sub"), "AZURE_TENANT_ID": []byte("tenant"),
			"AZURE_CLIENT_ID": []byte("client-of-" + name)}
		maps.Copy(data, more)
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}, Data: data}
	}
	documents := &infrav1.AzureASOManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Namespace: "d", Name: "c"}}
	documents.Spec.Resources = []runtime.RawExtension{{Raw: []byte(`{"apiVersion":"containerservice.azure.com/v1api20231001","kind":"ManagedCluster","metadata":{"name":"c","annotations":{"serviceoperator.azure.com/credential-from":"named"}}}`)}}
	world := []client.Object{
		identityIn("a", infrav1.WorkloadIdentity), identityIn("b", infrav1.UserAssignedMSI), identityIn("c", infrav1.ServicePrincipal),
		identityIn("f", infrav1.WorkloadIdentity),
		&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "f", Name: infrav1.WorkloadIdentityServiceAccount}},
		documents, operator("d", "named", nil), operator("d", "aso-credential", map[string][]byte{"AZURE_CLIENT_SECRET": []byte("s3cret")}),
		operator("e", "aso-credential", nil),
	}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "azureclusteridentities"}, "", nil)
	tests := map[string]struct {
		reason     string
		lease      *coordinationv1.Lease
		record     *corev1.ConfigMap
		without    bool // leader election
		namespace  string
		refused    error
		unwritable bool
		recorded   []string
		marked     bool
	}{
		"new installation": {reason: "nothing was in use", marked: true},
		"upgrade": {reason: "the lease is of the established provider, and namespace f was prepared before", lease: lease(nil),
			recorded: []string{"client-of-a", "client-of-b", "client-of-named"}, marked: true},
		"later start": {reason: "it is decided once", lease: lease(marked), marked: true},
		"ended in between": {reason: "the first record counts", lease: lease(nil),
			record: &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: managers, Name: identity.FormerRecordName}}, marked: true},
		"one namespace": {reason: "the manager has no rights to others", lease: lease(nil), namespace: "b",
			recorded: []string{"client-of-b"}, marked: true},
		"restricted":             {reason: "it starts, and tries again at the next start", lease: lease(nil), refused: forbidden},
		"no right to the record": {reason: "it starts, and tries again at the next start", lease: lease(nil), unwritable: true},
		"no leader election":     {reason: "there is no Lease with the record", lease: lease(nil), without: true},
		"API server is broken": {reason: "clusters must not become unready, so the manager ends and is started again", lease: lease(nil),
			refused: apierrors.NewInternalError(context.DeadlineExceeded)},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			builder := fake.NewClientBuilder().WithScheme(newScheme()).WithObjects(world...)
			if test.lease != nil {
				builder.WithObjects(test.lease)
			}
			if test.record != nil {
				builder.WithObjects(test.record)
			}
			c := interceptor.NewClient(builder.Build(), interceptor.Funcs{
				List: func(ctx context.Context, c client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
					if _, ok := list.(*infrav1.AzureClusterIdentityList); ok && test.refused != nil {
						return test.refused
					}
					return c.List(ctx, list, options...)
				},
				Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
					if _, ok := object.(*corev1.ConfigMap); ok && test.unwritable {
						return apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, object.GetName(), nil)
					}
					return c.Create(ctx, object, options...)
				},
			})
			o := &Options{LeaderElect: !test.without, LeaderElectionNamespace: managers, Namespace: test.namespace}
			for range 2 {
				if err := o.recordFormer(t.Context(), c, logr.Discard()); (err != nil) != (test.refused != nil &&
					!apierrors.IsForbidden(test.refused)) {
					t.Fatalf("%s: %v", test.reason, err)
				}
			}
			record, stored := &corev1.ConfigMap{}, &coordinationv1.Lease{}
			if err := client.IgnoreNotFound(c.Get(t.Context(), client.ObjectKey{Namespace: managers, Name: identity.FormerRecordName},
				record)); err != nil {
				t.Fatal(err)
			}
			if err := client.IgnoreNotFound(c.Get(t.Context(), client.ObjectKey{Namespace: managers, Name: leaderElectionID}, stored)); err != nil {
				t.Fatal(err)
			}
			var recorded []string
			for _, value := range record.Data {
				_, rest, _ := strings.Cut(value, `"clientID":"`)
				id, _, _ := strings.Cut(rest, `"`)
				recorded = append(recorded, id)
				if strings.Contains(value, "s3cret") {
					t.Errorf("the record has a secret: %s", value)
				}
			}
			slices.Sort(recorded)
			if !slices.Equal(recorded, test.recorded) {
				t.Errorf("%s: recorded %v, want %v", test.reason, recorded, test.recorded)
			}
			if got := stored.Annotations[infrav1.FormerRecordedAnnotation] != ""; got != test.marked {
				t.Errorf("%s: the lease is marked %t, want %t", test.reason, got, test.marked)
			}
			if test.lease != nil && (stored.Spec.HolderIdentity == nil || *stored.Spec.HolderIdentity != *test.lease.Spec.HolderIdentity) {
				t.Errorf("%s: the lease changed hands", test.reason)
			}
		})
	}
}
