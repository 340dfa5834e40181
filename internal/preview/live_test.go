package preview_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview"
)

// TestCloudOf finds the cloud of the objects of a plan. It reads Azure with the endpoint and the tokens of one cloud.
func TestCloudOf(t *testing.T) {
	named := func(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: "default", Name: name} }
	selfManaged := func(cloud string) client.Object {
		out := &infrav1.AzureCluster{ObjectMeta: named("one")}
		out.Spec.AzureEnvironment = cloud
		return out
	}
	managed := func(cloud string) client.Object {
		out := &infrav1.AzureManagedControlPlane{ObjectMeta: named("two")}
		out.Spec.AzureEnvironment = cloud
		return out
	}
	documents := func(cloud string) client.Object {
		out := &infrav1.AzureASOManagedCluster{ObjectMeta: named("three")}
		out.Spec.AzureEnvironment = cloud
		return out
	}
	const china, government = "AzureChinaCloud", "AzureUSGovernmentCloud"
	for name, test := range map[string]struct {
		reason      string
		objects     []client.Object
		want, fails string
	}{
		"none":       {"machines name no cloud", []client.Object{&infrav1.AzureMachine{}}, "", ""},
		"manifests":  {"an AKS cluster of manifests is in a cloud, too", []client.Object{documents(china)}, china, ""},
		"two of one": {"the default has a name", []client.Object{selfManaged(""), managed(infrav1.PublicCloud)}, infrav1.PublicCloud, ""},
		"two clouds": {"tokens of one are refused in the other", []client.Object{selfManaged(""), managed(government)}, "",
			"default/one is in AzurePublicCloud, and default/two in AzureUSGovernmentCloud."},
		"the last one": {"it counts like the first", []client.Object{managed(china), selfManaged(china), documents("")}, "",
			"default/two is in AzureChinaCloud, and default/three in AzurePublicCloud."},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := preview.CloudOf(test.objects)
			if got != test.want || (err == nil) != (test.fails == "") || err != nil && !strings.Contains(err.Error(), test.fails) {
				t.Errorf("%s: got %q, %v, want %q, %q", test.reason, got, err, test.want, test.fails)
			}
		})
	}
}
