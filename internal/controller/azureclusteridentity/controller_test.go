package azureclusteridentity

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	dto "github.com/prometheus/client_model/go"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/events"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/cluster-api/util/conditions"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

func newServicePrincipal(name string, secret corev1.SecretReference) *infrav1.AzureClusterIdentity {
	return &infrav1.AzureClusterIdentity{ObjectMeta: storetest.NewMeta(name), Spec: infrav1.AzureClusterIdentitySpec{
		Type: infrav1.ServicePrincipal, TenantID: "11111111-1111-1111-1111-111111111111", ClientID: "22222222-2222-2222-2222-222222222222",
		ClientSecret: secret,
	}}
}

func TestIdentitiesOfSecret(t *testing.T) {
	k := &Kind{Client: storetest.NewClient(t,
		newServicePrincipal("near", corev1.SecretReference{Name: "s"}),
		newServicePrincipal("named", corev1.SecretReference{Namespace: storetest.Namespace, Name: "s"}),
		newServicePrincipal("elsewhere", corev1.SecretReference{Namespace: "secrets", Name: "s"}), newServicePrincipal("other",
			corev1.SecretReference{Name: "t"}))}
	tests := map[string]struct {
		reason, namespace, name string
		want                    []string
	}{
		"own namespace": {"a reference without a namespace means the identity's own", storetest.Namespace, "s",
			[]string{"ns/named", "ns/near"}},
		"other namespace": {"an identity may name one", "secrets", "s", []string{"ns/elsewhere"}},
		"unreferenced":    {"most Secrets are not of identities", storetest.Namespace, "u", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, request := range k.mapSecret(t.Context(),
				&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: test.namespace, Name: test.name}}) {
				got = append(got, request.String())
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

func TestReconcile(t *testing.T) {
	secret := func(data map[string][]byte) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: storetest.NewMeta("s"), Data: data}
	}
	paused := newServicePrincipal("id", corev1.SecretReference{Name: "s"})
	paused.Annotations = map[string]string{clusterv1.PausedAnnotation: ""}
	tests := map[string]struct {
		reason   string
		identity *infrav1.AzureClusterIdentity
		secret   *corev1.Secret
		want     metav1.ConditionStatus
		cause    string
		trusted  bool
	}{
		"whole": {"a credential can be made of it", newServicePrincipal("id", corev1.SecretReference{Name: "s"}),
			secret(map[string][]byte{"clientSecret": []byte("x")}), metav1.ConditionTrue, infrav1.ReadyReason, false},
		"trusted": {"it works, and a condition reports that the manager trusts tenants",
			newServicePrincipal("id", corev1.SecretReference{Name: "s"}),
			secret(map[string][]byte{"clientSecret": []byte("x")}), metav1.ConditionTrue, infrav1.ReadyReason, true},
		"no Secret": {"it has to be made where it is named", newServicePrincipal("id", corev1.SecretReference{Name: "s"}), nil,
			metav1.ConditionFalse,
			string(identity.SecretNotFound), false},
		"no key": {"the Secret exists without the required key", newServicePrincipal("id", corev1.SecretReference{Name: "s"}),
			secret(map[string][]byte{"password": []byte("x")}), metav1.ConditionFalse, string(identity.SecretKeyMissing), false},
		"paused": {"nothing is found out about an identity that is left alone", paused, nil, metav1.ConditionUnknown, clusterv1.PausedReason,
			false},
		"deleted": {"no object can use it any more", storetest.MarkDeleting(newServicePrincipal("id", corev1.SecretReference{Name: "s"})), nil,
			"", "",
			false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			objects := []client.Object{test.identity}
			if test.secret != nil {
				objects = append(objects, test.secret)
			}
			store := storetest.NewClient(t, objects...)
			tenancy := map[bool]identity.Tenancy{true: identity.Trusted, false: identity.Isolated}[test.trusted]
			r := reconcile.NewLocalRunner(reconcile.Services{
				Client: store, Recorder: func(string) events.EventRecorder { return events.NewFakeRecorder(10) }, Now: time.Now, Resync: time.Hour,
			}, &Kind{Client: store, Identities: identity.New(store, identity.Options{Tenancy: tenancy})})
			request := ctrl.Request{NamespacedName: client.ObjectKeyFromObject(test.identity)}
			// The reconciliation that writes the Paused condition ends with it.
			if _, err := r.Reconcile(t.Context(), request); err != nil {
				t.Fatal(err)
			}
			result, err := r.Reconcile(t.Context(), request)
			if err != nil {
				t.Fatal(err)
			}
			stored := &infrav1.AzureClusterIdentity{}
			if err := store.Get(t.Context(), client.ObjectKeyFromObject(test.identity), stored); err != nil {
				t.Fatal(err)
			}
			if trusted := conditions.IsFalse(stored, infrav1.TenantsIsolatedCondition); trusted != test.trusted ||
				trusted != conditions.Has(stored, infrav1.TenantsIsolatedCondition) {
				t.Errorf("%s: the condition about tenants is %v", test.reason, conditions.Get(stored, infrav1.TenantsIsolatedCondition))
			}
			got := conditions.Get(stored, infrav1.ReadyCondition)
			if got == nil {
				got = &metav1.Condition{}
			}
			if got.Status != test.want || got.Reason != test.cause {
				t.Errorf("%s: %s %s %s", test.reason, got.Status, got.Reason, got.Message)
			}
			if (result.RequeueAfter > 0) != (test.want == metav1.ConditionFalse) {
				t.Errorf("%s: again in %s", test.reason, result.RequeueAfter)
			}
		})
	}
	families, err := ctrlmetrics.Registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	reconciled := false
	for _, family := range families {
		of := slices.ContainsFunc(family.GetMetric(), func(metric *dto.Metric) bool {
			return slices.ContainsFunc(metric.GetLabel(), func(label *dto.LabelPair) bool { return label.GetValue() == "AzureClusterIdentity" })
		})
		reconciled = reconciled || of && family.GetName() == "capz_reconciliation_duration_seconds"
		if of && family.GetName() == "capz_time_to_ready_seconds" {
			t.Error("the time until an identity is ready is counted, at each reconciliation anew")
		}
	}
	if !reconciled {
		t.Error("no reconciliation of an identity is counted")
	}
}
