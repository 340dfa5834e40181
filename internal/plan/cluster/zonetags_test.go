package cluster

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// TestZoneTags: the provider's tags come first, because without them the zone would not be the cluster's.
func TestZoneTags(t *testing.T) {
	in := plan.ClusterInput{
		Cluster:      &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Name: "c1"}},
		AzureCluster: &infrav1.AzureCluster{},
	}
	in.AzureCluster.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{}
	in.AzureCluster.Spec.NetworkSpec.APIServerLB.Type = infrav1.Internal
	own := slices.Sorted(maps.Keys(plan.BuildTags(in, "", "", nil)))
	if tags, leftOut := buildZoneTags(in); len(tags) != len(own) || len(leftOut) > 0 || IgnoredTags(in) != "" {
		t.Errorf("no additional tags: %v, %v, %q", tags, leftOut, IgnoredTags(in))
	}

	additional := infrav1.Tags{"Cost Center": "1", "cost(center)": "1", "1st": "1", "a:b": "1", "é": "1"}
	for i := range 16 {
		additional[fmt.Sprintf("tag_%02d", i)] = "1"
	}
	in.AzureCluster.Spec.AdditionalTags = additional
	tags, leftOut := buildZoneTags(in)
	want := slices.Clone(own)
	for i := range maxZoneTags - len(own) {
		want = append(want, fmt.Sprintf("tag_%02d", i))
	}
	if diff := cmp.Diff(slices.Sorted(slices.Values(want)), slices.Sorted(maps.Keys(tags))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(leftOut) != len(additional)+len(own)-maxZoneTags {
		t.Errorf("left out: %v", leftOut)
	}
	for _, name := range leftOut {
		if !strings.Contains(IgnoredTags(in), name) {
			t.Errorf("the message does not have %q: %s", name, IgnoredTags(in))
		}
	}
	in.AzureCluster.Spec.NetworkSpec.APIServerLB.Type = infrav1.Public
	if got := IgnoredTags(in); got != "" {
		t.Errorf("without a zone: %s", got)
	}
}
