package azuremachine

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/storetest"
)

// TestLoad creates and deletes the objects of a machine in any order; it expects that a reconciliation has all that it needs, or waits with
// a message.
func TestLoad(t *testing.T) {
	azureMachine := func(owner string) *infrav1.AzureMachine {
		object := &infrav1.AzureMachine{ObjectMeta: storetest.NewMeta("m")}
		object.Labels = map[string]string{clusterv1.ClusterNameLabel: "c1"}
		if owner != "" {
			object.OwnerReferences = []metav1.OwnerReference{{APIVersion: clusterv1.GroupVersion.String(), Kind: "Machine", Name: owner, UID: "u"}}
		}
		return object
	}
	machine := func(labels map[string]string) *clusterv1.Machine {
		object := &clusterv1.Machine{ObjectMeta: storetest.NewMeta("of-m")}
		object.Labels, object.Spec.ClusterName = labels, "c1"
		return object
	}
	ofCluster := map[string]string{clusterv1.ClusterNameLabel: "c1"}
	cluster, azureCluster := storetest.NewCluster("c1", "AzureCluster", "network"),
		&infrav1.AzureCluster{ObjectMeta: storetest.NewOwnedMeta("network", "c1")}
	type found struct{ machine, cluster, azureCluster string }
	whole := &found{"of-m", "c1", "network"}
	tests := map[string]struct {
		reason string
		object *infrav1.AzureMachine
		others []client.Object
		want   *found
		// waits is a part of the message about the missing owner.
		waits string
	}{
		"whole": {"all objects exist", azureMachine("of-m"), []client.Object{machine(ofCluster), cluster, azureCluster}, whole, ""},
		"not owned yet": {"Cluster API sets the owner", azureMachine(""), []client.Object{machine(ofCluster), cluster, azureCluster},
			nil, "no Machine owns the AzureMachine"},
		"Machine without a label": {"Cluster API sets that, too", azureMachine("of-m"), []client.Object{machine(nil), cluster, azureCluster},
			nil, "it has no label cluster.x-k8s.io/cluster-name"},
		"no Cluster": {"objects come in any order", azureMachine("of-m"), []client.Object{machine(ofCluster), azureCluster}, nil,
			"Cluster c1, to which Machine of-m belongs, does not exist"},
		"no AzureCluster": {"objects come in any order", azureMachine("of-m"), []client.Object{machine(ofCluster), cluster}, nil,
			"AzureCluster network, to which Cluster c1 refers in spec.infrastructureRef, does not exist"},
		"deleted": {"the remaining objects are used", storetest.MarkDeleting(azureMachine("of-m")),
			[]client.Object{machine(ofCluster), cluster, azureCluster}, whole, ""},
		"deleted after its Machine": {"its own labels name its cluster", storetest.MarkDeleting(azureMachine("of-m")),
			[]client.Object{cluster, azureCluster}, &found{"m", "c1", "network"}, ""},
		"deleted after its Cluster": {"the AzureCluster is found by the Cluster's name", storetest.MarkDeleting(azureMachine("of-m")),
			[]client.Object{machine(ofCluster), azureCluster}, whole, ""},
		"deleted after all": {"the reconciliation reports the remaining resources, or removes the finalizer",
			storetest.MarkDeleting(azureMachine("of-m")), nil,
			&found{"m", "c1", ""}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			k := &Kind{Client: storetest.NewClient(t, append(test.others, test.object)...)}
			in, _, err := k.Load(t.Context(), test.object)
			if (err == nil) != (test.waits == "") || err != nil && !strings.Contains(err.Error(), test.waits) {
				t.Fatalf("%s: got the error %v, want %q", test.reason, err, test.waits)
			}
			if in == nil || test.want == nil {
				if (in == nil) != (test.want == nil) {
					t.Errorf("%s: got %v", test.reason, in)
				}
				return
			}
			if got := (found{storetest.NameOf(in.machine), storetest.NameOf(in.cluster), storetest.NameOf(in.azureCluster)}); got != *test.want {
				t.Errorf("%s: got %v, want %v", test.reason, got, *test.want)
			}
		})
	}
}
