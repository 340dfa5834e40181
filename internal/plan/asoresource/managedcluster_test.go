package asoresource

import (
	"strings"
	"testing"
)

// TestValuesOfTheClusterCannotDiffer lets the Cluster set its CIDR blocks, which a resource manifest may repeat and not contradict, and
// each manifest its own version of Azure's API.
func TestValuesOfTheClusterCannotDiffer(t *testing.T) {
	for name, test := range map[string]struct{ reason, network, want string }{
		"nothing":  {"the Cluster has the value", "{networkPlugin: azure}", ""},
		"the same": {"it may be repeated", "{serviceCidr: 10.1.0.0/16, podCidr: 10.2.0.0/16}", ""},
		"other service": {"the two values contradict each other", "{serviceCidr: 10.9.0.0/16}",
			`spec.resources[0].spec.networkProfile.serviceCidr: Invalid value: "10.9.0.0/16": differs from "10.1.0.0/16", the value of spec.clusterNetwork.services of the Cluster`},
		"other pods": {"the two values contradict each other", "{podCidr: 10.9.0.0/16}",
			`spec.resources[0].spec.networkProfile.podCidr: Invalid value: "10.9.0.0/16": differs from "10.2.0.0/16", the value of spec.clusterNetwork.pods of the Cluster`},
	} {
		in := newInput(t,
			`{apiVersion: containerservice.azure.com/v20251001, kind: ManagedCluster, metadata: {name: mc}, spec: {owner: {name: g}, location: eastus, networkProfile: `+test.network+`}}`)
		in.ServiceCIDR, in.PodCIDR = "10.1.0.0/16", "10.2.0.0/16"
		got := ""
		if errs := CheckManifests(in); len(errs) > 0 {
			got = errs.ToAggregate().Error()
		}
		if test.want == "" && got != "" || !strings.HasPrefix(got, test.want) {
			t.Errorf("%s: %s: got %s", name, test.reason, got)
		}
	}
	in := newInput(t, groupManifest, strings.Replace(aksManifest, "v20251001", "v20251002preview", 1))
	if got := APIVersions(in.Set)["Microsoft.ContainerService/managedClusters"]; got != "2025-10-02-preview" {
		t.Errorf("want the document's version, got %q", got)
	}
}
