package identity

import (
	"context"
	"testing"

	corev1 "k8s.io/api/core/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	armclient "sigs.k8s.io/cluster-api-provider-azure/internal/arm/client"
)

// TestClients tests that reads are shared only by identities with the same credential.
func TestClients(t *testing.T) {
	ctx := context.Background()
	owner := identityOf(nil)
	twin := identityOf(nil)
	twin.Name = "twin"
	claimer := identityOf(func(s *infrav1.AzureClusterIdentitySpec) { s.ClientSecret.Namespace = "claimer" })
	claimer.Name = "claimer"
	provider := New(newKubernetes(t, owner, twin, claimer,
		secretOf("ids", map[string][]byte{"clientSecret": []byte(password)}),
		secretOf("claimer", map[string][]byte{"clientSecret": []byte("guessed")})), Options{Tenancy: Trusted})
	clients := NewClients(armclient.Options{})
	clientOf := func(name string) *armclient.Client {
		t.Helper()
		resolved, err := provider.Resolve(ctx, &corev1.ObjectReference{Name: name, Namespace: "ids"}, "clusters", "")
		if err != nil {
			t.Fatal(err)
		}
		client, err := clients.ClientFor(resolved)
		if err != nil {
			t.Fatal(err)
		}
		return client
	}
	first := clientOf("id")
	if clientOf("id") != first || clientOf("twin") != first {
		t.Error("objects with the same credential have different clients")
	}
	if first.CacheScope() == clientOf("claimer").CacheScope() {
		t.Error("who claims a client ID with another secret shares reads with its owner")
	}
}
