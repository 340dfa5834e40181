package definition

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDecode(t *testing.T) {
	const scaleSet, loadBalancer = "Microsoft.Compute/virtualMachineScaleSets", "Microsoft.Network/loadBalancers"
	for name, test := range map[string]struct{ reason, resource, version, body, want string }{
		"number": {"az vmss create quotes ports", loadBalancer, "2025-05-01",
			`{"properties":{"inboundNatPools":[{"name":"1","properties":{"frontendPortRangeEnd":"50119"}}]}}`,
			`{"properties":{"inboundNatPools":[{"name":"1","properties":{"frontendPortRangeEnd":50119}}]}}`},
		"no number": {"a text that is no number stays, to be refused", loadBalancer, "2025-05-01",
			`{"properties":{"inboundNatPools":[{"properties":{"frontendPortRangeEnd":"many"}}]}}`,
			`{"properties":{"inboundNatPools":[{"properties":{"frontendPortRangeEnd":"many"}}]}}`},
		"boolean": {"az vmss create quotes primary", scaleSet, "2025-04-01", `{"properties":{"singlePlacementGroup":"True"}}`,
			`{"properties":{"singlePlacementGroup":true}}`},
		"no boolean": {"1 is none in Json.NET", scaleSet, "2025-04-01", `{"properties":{"singlePlacementGroup":"1"}}`,
			`{"properties":{"singlePlacementGroup":"1"}}`},
		"value": {"az vmss create writes manual", scaleSet, "2025-04-01", `{"properties":{"upgradePolicy":{"mode":"manual"}}}`,
			`{"properties":{"upgradePolicy":{"mode":"Manual"}}}`},
		"member": {"az vm create writes diskSizeGb", "Microsoft.Compute/virtualMachines", "2025-04-01",
			`{"properties":{"storageProfile":{"osDisk":{"diskSizeGb":"64"}}}}`, `{"properties":{"storageProfile":{"osDisk":{"diskSizeGB":64}}}}`},
		"twice": {"nothing is lost by a name that exists twice", "Microsoft.Compute/virtualMachines", "2025-04-01",
			`{"properties":{"storageProfile":{"osDisk":{"diskSizeGb":1,"diskSizeGB":2}}}}`,
			`{"properties":{"storageProfile":{"osDisk":{"diskSizeGb":1,"diskSizeGB":2}}}}`},
		"entries": {"names of entries are the caller's", "Microsoft.Compute/virtualMachines", "2025-04-01", `{"tags":{"True":"true","1":"1"}}`,
			`{"tags":{"True":"true","1":"1"}}`},
		"untold": {"no definition tells", "Microsoft.Unheard/of", "2025-04-01", `{"properties":{"a":"1"}}`, `{"properties":{"a":"1"}}`},
	} {
		t.Run(name, func(t *testing.T) {
			got := decodeJSON(t, test.body)
			Decode(test.resource, test.version, got)
			if diff := cmp.Diff(decodeJSON(t, test.want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
