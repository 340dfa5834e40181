package webhook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// TestManifestsStayWhereTheyAre changes where the resources of an AzureASOManagedCluster are, which other kinds refuse, too.
func TestManifestsStayWhereTheyAre(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		old    infrav1.AzureASOManagedClusterSpec
		new    infrav1.AzureASOManagedClusterSpec
		empty  bool
		want   []string
	}{
		"subscription": {reason: "the first AKS cluster would run on, and no object would show it",
			old: infrav1.AzureASOManagedClusterSpec{SubscriptionID: "a"}, new: infrav1.AzureASOManagedClusterSpec{SubscriptionID: "b"},
			want: []string{"spec.subscriptionID: FieldValueForbidden"}},
		"subscription, before there is anything": {reason: "a mistake can be corrected", empty: true,
			old: infrav1.AzureASOManagedClusterSpec{SubscriptionID: "a"}, new: infrav1.AzureASOManagedClusterSpec{SubscriptionID: "b"}},
		"subscription, named later": {reason: "it may be the one that the credential had",
			new: infrav1.AzureASOManagedClusterSpec{SubscriptionID: "b"}},
		"cloud": {reason: "resources cannot move between clouds", new: infrav1.AzureASOManagedClusterSpec{AzureEnvironment: "AzureChinaCloud"},
			want: []string{"spec.azureEnvironment: FieldValueForbidden"}},
		"cloud, by its name": {reason: "it is the default", new: infrav1.AzureASOManagedClusterSpec{AzureEnvironment: "AzurePublicCloud"}},
		"identity": {reason: "a Secret is no AzureClusterIdentity",
			new:  infrav1.AzureASOManagedClusterSpec{IdentityRef: &corev1.ObjectReference{Kind: "Secret", Name: "x"}},
			want: []string{"spec.identityRef.kind: FieldValueNotSupported"}},
		"identity, as it was": {reason: "a stored value may stay",
			old: infrav1.AzureASOManagedClusterSpec{IdentityRef: &corev1.ObjectReference{Kind: "Secret", Name: "x"}},
			new: infrav1.AzureASOManagedClusterSpec{IdentityRef: &corev1.ObjectReference{Kind: "Secret", Name: "x"}}},
	} {
		old, changed := &infrav1.AzureASOManagedCluster{Spec: test.old}, &infrav1.AzureASOManagedCluster{Spec: test.new}
		if !test.empty {
			old.Annotations = map[string]string{infrav1.AppliedAnnotation: `{"applied":{"c1":[""]}}`}
		}
		var got []string
		for _, err := range validateUpdate(t, asoClusters(managedLookup{}, plan.Features{ASOAPI: true}), old, changed) {
			got = append(got, err.Field+": "+string(err.Type))
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, test.reason, diff)
		}
	}
}
