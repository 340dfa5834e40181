package backup

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

type labelSet = map[string]string

// definitionWith returns a definition of the provider with labels beside that of the provider.
func definitionWith(labels labelSet) *apiextensionsv1.CustomResourceDefinition {
	out := &apiextensionsv1.CustomResourceDefinition{ObjectMeta: metav1.ObjectMeta{Name: "azuremachines", Labels: labelSet{
		"cluster.x-k8s.io/provider": "infrastructure-azure"}}}
	out.Spec.Group = "infrastructure.cluster.x-k8s.io"
	for key, value := range labels {
		out.Labels[key] = value
	}
	return out
}

// TestRestoreContracts removes the labels of contracts that the established provider did not have.
func TestRestoreContracts(t *testing.T) {
	both := labelSet{"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta1"}
	former := labelSet{"cluster.x-k8s.io/v1beta1": "v1beta1"}
	for name, test := range map[string]struct {
		reason    string
		contracts map[string]labelSet
		want      labelSet
	}{
		"label of this provider":    {"Cluster API would read a status that the established provider does not write", map[string]labelSet{"azuremachines": former}, former},
		"label of the former":       {"a newer series of the established provider may have the contract", map[string]labelSet{"azuremachines": both}, both},
		"backup of a first version": {"it has no labels, and no established provider that it moves from has the contract", nil, former},
	} {
		t.Run(name, func(t *testing.T) {
			got := definitionWith(both)
			(&Backup{Contracts: test.contracts}).RestoreContracts(got)
			if diff := cmp.Diff(definitionWith(test.want).Labels, got.Labels); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}

// TestCollectContracts holds that a backup that is made again after an interrupted upgrade keeps the labels before it.
func TestCollectContracts(t *testing.T) {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{clientgoscheme.AddToScheme, infrav1.AddToScheme, apiextensionsv1.AddToScheme} {
		if err := add(scheme); err != nil {
			t.Fatal(err)
		}
	}
	stored := definitionWith(labelSet{"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta1"})
	earlier := map[string]labelSet{"azuremachines": {"cluster.x-k8s.io/v1beta1": "v1beta1"}}
	both := map[string]labelSet{"azuremachines": {"cluster.x-k8s.io/v1beta1": "v1beta1", "cluster.x-k8s.io/v1beta2": "v1beta1"}}
	for name, test := range map[string]struct {
		reason  string
		earlier *Backup
		want    map[string]labelSet
	}{
		"first backup":  {"the labels are those of the established provider", nil, both},
		"repetition":    {"the upgrade has added a label", &Backup{From: "v1.26.0", Contracts: earlier}, earlier},
		"other version": {"the labels are those of another series", &Backup{From: "v1.20.0", Contracts: earlier}, both},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Collect(t.Context(), fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored.DeepCopy()).Build(), "v1.26.0", test.earlier)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, got.Contracts, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
