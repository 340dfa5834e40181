package asoresources_test

import (
	"testing"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore/cloud"
	"github.com/Azure/azure-sdk-for-go/sdk/azcore/fake"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/asoresources"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity"
	"sigs.k8s.io/cluster-api-provider-azure/internal/identity/access"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/lent"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestLentIdentity plans resource manifests with identities of the own and of another namespace. The access decides which of them are
// lent: with trusted tenants, none is.
func TestLentIdentity(t *testing.T) {
	of := func(namespace string, grants *lent.Grants) *access.Access {
		c, err := client.New(&fake.TokenCredential{}, cloud.AzurePublic, client.Options{Version: "test"})
		if err != nil {
			t.Fatal(err)
		}
		stored := &infrav1.AzureClusterIdentity{}
		stored.Namespace = namespace
		return &access.Access{Resolved: &identity.Resolved{Identity: stored}, Client: c, SubscriptionID: "s", LentGrants: grants}
	}
	for name, test := range map[string]struct {
		access *access.Access
		want   bool
	}{
		"own":              {of(storetest.Namespace, nil), false},
		"lent":             {of("other", &lent.Grants{}), true},
		"other's, trusted": {of("other", nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			object := &infrav1.AzureASOManagedCluster{ObjectMeta: storetest.NewMeta("c")}
			members := &asoresources.Members{Cluster: &clusterv1.Cluster{ObjectMeta: storetest.NewMeta("c")}, Infrastructure: object}
			in, err := members.LoadPlanInput(t.Context(), storetest.NewClient(t, object), reconcile.Session{Access: test.access}, nil,
				asoresources.ClusterKind, object)
			if err != nil || in.UsesLentIdentity() != test.want {
				t.Errorf("lent: %t, %v, want %t", in.UsesLentIdentity(), err, test.want)
			}
		})
	}
}
