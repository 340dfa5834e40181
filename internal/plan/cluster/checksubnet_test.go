package cluster

import (
	"fmt"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// TestMessagesQuoteFewRanges checks that the errors about many ranges do not each quote all ranges of the network: together they would need
// more memory than the manager has.
func TestMessagesQuoteFewRanges(t *testing.T) {
	in := plan.ClusterInput{SubscriptionID: "s", AzureCluster: &infrav1.AzureCluster{}}
	network := &in.AzureCluster.Spec.NetworkSpec
	subnet := infrav1.SubnetSpec{}
	subnet.Name, subnet.Role = "s", infrav1.SubnetCluster
	for i := range 1000 {
		network.Vnet.CIDRBlocks = append(network.Vnet.CIDRBlocks, fmt.Sprintf("2001:db8:aaaa:bbbb:cccc:dddd:eeee:%04x/128", i))
		subnet.CIDRBlocks = append(subnet.CIDRBlocks, fmt.Sprintf("10.%d.%d.0/24", i/256, i%256))
	}
	network.Subnets = infrav1.Subnets{subnet}
	errs := checkSubnets(in)
	if len(errs) != 1000 {
		t.Errorf("%d errors, want one for each range of the subnet", len(errs))
	}
	for _, err := range errs {
		if len(err.Detail) > 1000 {
			t.Fatalf("%s has a message of %d bytes", err.Field, len(err.Detail))
		}
	}
}
