package cluster

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func TestFailureDomains(t *testing.T) {
	zones := []string{"3", "1", "2"}
	domains := func(controlPlane ...bool) []clusterv1.FailureDomain {
		out := []clusterv1.FailureDomain{{Name: "1"}, {Name: "2"}, {Name: "3"}}
		for i := range out {
			out[i].ControlPlane = new(controlPlane[i])
		}
		return out
	}
	type asked = map[string]infrav1.FailureDomainSpec
	tests := map[string]struct {
		reason string
		zones  []string
		// offered are the zones of the control plane's size.
		offered []string
		spec    asked
		want    []clusterv1.FailureDomain
	}{
		"nothing known": {"there is no template yet, or its size is unknown or has no zones", zones, nil, nil, domains(true, true, true)},
		"everywhere":    {"the size is offered in all zones", zones, zones, nil, domains(true, true, true)},
		"not in one": {"a machine would be refused there; workers may be of another size, so the zone is listed", zones,
			[]string{"1", "2"}, nil, domains(true, true, false)},
		"excluded by the spec": {"a zone that the spec excludes stays excluded, offered or not", zones, []string{"1", "2"}, asked{"1": {}},
			domains(false, true, false)},
		"asked for": {"the spec cannot make Azure offer a size", zones, []string{"1", "2"}, asked{"3": {ControlPlane: true}},
			domains(true, true, false)},
		"nothing left": {"the refusal of the machine gives the reason, and the zones of the spec stay", zones, []string{"3"}, asked{"3": {}},
			domains(true, true, false)},
		"spec allows none": {"the control plane is externally managed", zones, []string{"1"}, asked{"1": {}, "2": {}, "3": {}},
			domains(false, false, false)},
		"region without zones": {"there is nothing to choose from", nil, nil, nil, nil},
		"attributes": {"they are the user's, also of a zone that control planes cannot use", []string{"1", "2"}, []string{"1"},
			asked{"2": {ControlPlane: true, Attributes: map[string]string{"rack": "b"}}},
			[]clusterv1.FailureDomain{{Name: "1", ControlPlane: new(true)},
				{Name: "2", ControlPlane: new(false), Attributes: map[string]string{"rack": "b"}}}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := plan.ClusterInput{AzureCluster: &infrav1.AzureCluster{},
				Facts: plan.ClusterFacts{Zones: test.zones, ControlPlaneZones: test.offered}}
			in.AzureCluster.Spec.FailureDomains = test.spec
			if diff := cmp.Diff(test.want, FailureDomains(in)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
