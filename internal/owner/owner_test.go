package owner_test

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/owner"
)

func TestOwners(t *testing.T) {
	type references = []metav1.OwnerReference
	clusterOf := func(version, name string) metav1.OwnerReference {
		return metav1.OwnerReference{APIVersion: version, Kind: "Cluster", Name: name}
	}
	for name, test := range map[string]struct {
		reason string
		owners references
		want   string
	}{
		"none":           {"the reference comes later", nil, ""},
		"Cluster":        {"a Cluster owns it", references{clusterOf("cluster.x-k8s.io/v1beta2", "c")}, "c"},
		"former version": {"Cluster API stores the version with which it made the reference", references{clusterOf("cluster.x-k8s.io/v1beta1", "c")}, "c"},
		"another group":  {"a tool has a kind of this name", references{clusterOf("postgresql.cnpg.io/v1", "db")}, ""},
		"another one first": {"a tool owns it beside Cluster API",
			references{clusterOf("postgresql.cnpg.io/v1", "db"), clusterOf("cluster.x-k8s.io/v1beta2", "c")}, "c"},
		"another kind": {"a Machine is no Cluster", references{{APIVersion: "cluster.x-k8s.io/v1beta2", Kind: "Machine", Name: "m"}}, ""},
		"no version":   {"the group is not known", references{clusterOf("a/b/c", "c"), clusterOf("", "c")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			object := &metav1.ObjectMeta{OwnerReferences: test.owners}
			if got := owner.FindName(object, "Cluster"); got != test.want {
				t.Errorf("%s: got %q", test.reason, got)
			}
			for _, name := range []string{"c", "db", "m"} {
				if got := owner.HasCluster(object, name); got != (name == test.want) {
					t.Errorf("%s: Cluster %s owns it: %t", test.reason, name, got)
				}
			}
		})
	}
}
