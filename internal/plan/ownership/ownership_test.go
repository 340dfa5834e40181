package ownership_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/ownership"
)

func newHolder(namespace, id string) *infrav1.AzureCluster {
	c := &infrav1.AzureCluster{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "infrastructure", UID: "moves do not keep it"}}
	if id != "" {
		applied.Content{OwnerID: id}.Store(c)
	}
	return c
}

func TestValue(t *testing.T) {
	value := ownership.OwnerTagValue(newHolder("default", "a"), "c1")
	if want := "default/c1/"; !strings.HasPrefix(value, want) || len(value) != len(want)+16 {
		t.Errorf("people have to see who it is: %q", value)
	}
	moved := newHolder("default", "a")
	moved.UID = "another"
	if got := ownership.OwnerTagValue(moved, "c1"); got != value {
		t.Errorf("an object that was moved is the same owner, but: %q and %q", value, got)
	}
	for reason, other := range map[string]string{
		"another ID is another management cluster's": ownership.OwnerTagValue(newHolder("default", "b"), "c1"),
		"a copy in another namespace is another":     ownership.OwnerTagValue(newHolder("other", "a"), "c1"),
		"so is one under another name":               ownership.OwnerTagValue(newHolder("default", "a"), "c2"),
		"names do not run into each other":           ownership.OwnerTagValue(newHolder("default/c1", "a"), ""),
	} {
		if other == value || other[len(other)-16:] == value[len(value)-16:] && other[:len(other)-17] == value[:len(value)-17] {
			t.Errorf("%s: %q", reason, other)
		}
	}
	if got := ownership.OwnerTagValue(newHolder("default", ""), "c1"); got != "" {
		t.Errorf("owners without an ID cannot be distinguished: %q", got)
	}
	if got := ownership.OwnerTagValue(newHolder(strings.Repeat("n", 63), "a"), strings.Repeat("c", 253)); len(got) != 256 {
		t.Errorf("Azure takes 256 characters: %d", len(got))
	}
}
