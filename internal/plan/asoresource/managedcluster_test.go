package asoresource

import (
	"strings"
	"testing"
)

// TestValuesOfTheClusterCannotDiffer lets the Cluster set its CIDR blocks, which a resource manifest may repeat and not contradict, and
// each manifest its own version of Azure's API.
func TestValuesOfTheClusterCannotDiffer(t *testing.T) {
	two := `spec.resources[0].spec.networkProfile.podCidrs: Invalid value: `
	for name, test := range map[string]struct {
		reason, network, want string
		// second is a second block for pods in the Cluster.
		second string
	}{
		"second block":                  {"it would be ignored", "{networkPlugin: azure}", two, "fd00::/64"},
		"second block, in the manifest": {"the manifest asks for both families", "{ipFamilies: [IPv4, IPv6], podCidrs: [10.2.0.0/16, 'fd00::/64']}", "", "fd00::/64"},
		"second block, another one":     {"the two values contradict each other", "{podCidrs: [10.2.0.0/16, 'fd01::/64']}", two, "fd00::/64"},
		"nothing":                       {"the Cluster has the value", "{networkPlugin: azure}", "", ""},
		"the same":                      {"it may be repeated", "{serviceCidr: 10.1.0.0/16, podCidr: 10.2.0.0/16}", "", ""},
		"other service": {"the two values contradict each other", "{serviceCidr: 10.9.0.0/16}",
			`spec.resources[0].spec.networkProfile.serviceCidr: Invalid value: "10.9.0.0/16": differs from "10.1.0.0/16", the value of spec.clusterNetwork.services of the Cluster`, ""},
		"other pods": {"the two values contradict each other", "{podCidr: 10.9.0.0/16}",
			`spec.resources[0].spec.networkProfile.podCidr: Invalid value: "10.9.0.0/16": differs from "10.2.0.0/16", the value of spec.clusterNetwork.pods of the Cluster`, ""},
	} {
		in := newInput(t,
			`{apiVersion: containerservice.azure.com/v20251001, kind: ManagedCluster, metadata: {name: mc}, spec: {owner: {name: g}, location: eastus, networkProfile: `+test.network+`}}`)
		in.ServiceCIDRs, in.PodCIDRs = []string{"10.1.0.0/16"}, []string{"10.2.0.0/16"}
		if test.second != "" {
			in.PodCIDRs = append(in.PodCIDRs, test.second)
		}
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
