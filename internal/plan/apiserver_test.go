package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func TestInternalAPIServerFrontends(t *testing.T) {
	private := func(name, address string) infrav1.FrontendIP {
		return infrav1.FrontendIP{Name: name, FrontendIPClass: infrav1.FrontendIPClass{PrivateIPAddress: address}}
	}
	brought := plan.VNetFact{Exists: true, Subnets: map[string][]string{"cp": {"172.16.0.0/24"}}}
	none := plan.VNetFact{}
	for name, test := range map[string]struct {
		reason    string
		off       bool
		lb        infrav1.LBType
		cidr      string
		network   plan.VNetFact
		frontends []infrav1.FrontendIP
		want      []infrav1.FrontendIP
	}{
		"stored without the gate": {"its name is that of defaulting", false, infrav1.Public, "10.0.0.0/16", none, nil,
			[]infrav1.FrontendIP{private("lb-frontEnd-internal-ip", "10.0.0.100")}},
		"unnamed": {"as defaulting calls it", false, infrav1.Public, "10.0.0.0/16", none,
			[]infrav1.FrontendIP{private("", "10.0.0.7")}, []infrav1.FrontendIP{private("lb-frontEnd-internal-ip", "10.0.0.7")}},
		"named": {"it is the user's", false, infrav1.Public, "10.0.0.0/16", none,
			[]infrav1.FrontendIP{private("mine", "10.0.0.7")}, []infrav1.FrontendIP{private("mine", "10.0.0.7")}},
		"gate off": {"there is no frontend beside the public one", true, infrav1.Public, "10.0.0.0/16", none, nil, nil},
		"internal": {"it has its own frontends", false, infrav1.Internal, "10.0.0.0/16", none,
			[]infrav1.FrontendIP{private("f", "10.0.0.7")}, nil},
		"elsewhere": {"the gate's address is not in the subnet", false, infrav1.Public, "10.9.0.0/16", none, nil, nil},
		"elsewhere, user's address": {"it is refused, not passed over", false, infrav1.Public, "10.9.0.0/16", none,
			[]infrav1.FrontendIP{private("mine", "10.0.0.100")}, []infrav1.FrontendIP{private("mine", "10.0.0.100")}},
		"brought elsewhere": {"Azure's range counts, also when defaulting went by another one", false, infrav1.Public, "10.0.0.0/16",
			brought, []infrav1.FrontendIP{private("lb-frontEnd-internal-ip", "10.0.0.100")}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			azureCluster := &infrav1.AzureCluster{}
			azureCluster.Spec.NetworkSpec = infrav1.NetworkSpec{
				Subnets: infrav1.Subnets{{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "cp", Role: infrav1.SubnetControlPlane,
					CIDRBlocks: []string{test.cidr}}}},
				APIServerLB: &infrav1.LoadBalancerSpec{Name: "lb", LoadBalancerClassSpec: infrav1.LoadBalancerClassSpec{Type: test.lb},
					FrontendIPs: test.frontends},
			}
			in := plan.ClusterInput{AzureCluster: azureCluster, Features: plan.Features{APIServerILB: !test.off}}
			if diff := cmp.Diff(append([]infrav1.FrontendIP{}, test.want...),
				append([]infrav1.FrontendIP{}, plan.InternalAPIServerFrontends(in, test.network)...)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
