package command

import (
	"errors"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/management"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/manifests"
)

// TestNothingToPlan checks the objects of a management cluster and of manifests with --live.
func TestNothingToPlan(t *testing.T) {
	tests := map[string]struct {
		reason    string
		namespace string
		objects   []client.Object
		want      string
	}{
		"no object":      {"the namespace may be misspelt", "taem-a", nil, "the namespace taem-a has no object of a cluster"},
		"all namespaces": {"it may be another cluster", "", nil, "no namespace has an object of a cluster"},
		"others": {"identities of all namespaces are read", "taem-a",
			[]client.Object{&infrav1.AzureClusterIdentity{}, &corev1.Namespace{}, &corev1.Secret{}},
			"the namespace taem-a has no object of a cluster"},
		"a Cluster":            {"it may need no change", "team-a", []client.Object{&corev1.Namespace{}, &clusterv1.Cluster{}}, ""},
		"a part of no Cluster": {"its report names the missing Cluster", "team-a", []client.Object{&infrav1.AzureMachine{}}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := checkScope(management.Scope{Namespace: test.namespace}, test.objects)
			if (err != nil) != (test.want != "") || err != nil && !strings.HasPrefix(err.Error(), test.want) {
				t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
			}
		})
	}
	live := &flags{files: []string{"f"}, live: true}
	if err := live.checkApplied([]client.Object{&corev1.Namespace{}}); err != nil {
		t.Errorf("labels of a Namespace decide which identities its clusters may use: %v", err)
	}
	if err := live.checkApplied(nil); !errors.Is(err, manifests.ErrNoCluster) {
		t.Errorf("the user wants to plan manifests, and there are none: %v", err)
	}
}
