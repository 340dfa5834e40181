package identity

import (
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func answersOf(names ...string) (*answers, []*infrav1.AzureClusterIdentity) {
	var out []*infrav1.AzureClusterIdentity
	for _, name := range names {
		out = append(out, &infrav1.AzureClusterIdentity{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name}})
	}
	return newAnswers(), out
}

// TestManyCredentials lets a tenant change a Secret again and again; it expects that the answers about other identities still arrive.
func TestManyCredentials(t *testing.T) {
	a, identities := answersOf("tenant", "other")
	for n := range 3 * maxKept {
		key := fmt.Sprintf("credential %d", n)
		a.addUser(identities[0], "AzurePublicCloud", key)
		a.record(key, nil)
	}
	a.addUser(identities[1], "AzurePublicCloud", "another")
	a.record("another", nil)
	if _, answered := a.last("another"); !answered {
		t.Error("the answer about another identity is not known")
	}
	if len(a.refusals) != 2 {
		t.Errorf("%d answers are kept of two identities", len(a.refusals))
	}
	a.record("of nobody", nil)
	a.forget(types.NamespacedName{Namespace: "ns", Name: "tenant"})
	if len(a.refusals) != 1 {
		t.Errorf("%d answers are kept of one identity", len(a.refusals))
	}
}

// TestUnusedEnvironment lets an identity get an answer in a cloud that no object uses any more; it expects that the answer counts for an
// hour.
func TestUnusedEnvironment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, identities := answersOf("shared")
		user := types.NamespacedName{Namespace: "ns", Name: "shared"}
		a.addUser(identities[0], "AzureChinaCloud", "china")
		a.record("china", nil)
		for range 7 {
			a.addUser(identities[0], "AzurePublicCloud", "public")
			<-time.After(10 * time.Minute)
		}
		if got := a.environments(user); !slices.Equal(got, []string{"AzurePublicCloud"}) {
			t.Errorf("the identity is used in %q", got)
		}
		if _, answered := a.last("china"); answered {
			t.Error("the answer of a cloud that nothing uses is kept")
		}
	})
}
