package plan_test

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func TestMade(t *testing.T) {
	const (
		group = "/subscriptions/s/resourceGroups/g"
		vnet  = group + "/providers/Microsoft.Network/virtualNetworks/v"
		cp    = vnet + "/subnets/cp"
		nodes = vnet + "/subnets/nodes"
	)
	there := func(id arm.ID, state arm.State) arm.Result {
		return arm.Result{ID: id, State: state, Owned: true, Observed: json.RawMessage(`{}`)}
	}
	for name, test := range map[string]struct {
		reason  string
		before  string
		planned []arm.ID
		results []arm.Result
		want    string
		subnet  bool // nodes was made
	}{
		"refused": {reason: "what was never there can be corrected", planned: []arm.ID{group, nodes},
			results: []arm.Result{{ID: group, State: arm.Failed}, {ID: nodes, State: arm.Blocked}}},
		"first": {reason: "one resource says where all are", planned: []arm.ID{group, vnet, nodes},
			results: []arm.Result{there(group, arm.Ready), there(vnet, arm.Updating), {ID: nodes, State: arm.Failed}}, want: `["/resourceGroups/g"]`},
		"subnets": {reason: "each has a range of its own", planned: []arm.ID{group, cp, nodes},
			results: []arm.Result{there(group, arm.Ready), there(cp, arm.Ready), there(nodes, arm.Updating)}, subnet: true,
			want: `["/resourceGroups/g","/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/cp","/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"]`},
		"brought": {reason: "what users brought is theirs", planned: []arm.ID{group, nodes},
			results: []arm.Result{{ID: group, State: arm.Foreign, Observed: json.RawMessage(`{}`)}, {ID: nodes, State: arm.Foreign, Observed: json.RawMessage(`{}`)}}},
		"not read": {reason: "no answer says nothing", before: `["/resourceGroups/g"]`, planned: []arm.ID{group},
			results: []arm.Result{{ID: group, State: arm.Waiting}}, want: `["/resourceGroups/g"]`},
		"going": {reason: "a subnet that the spec wants no more is there until it is gone", before: `["/resourceGroups/g","/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"]`,
			planned: []arm.ID{group}, results: []arm.Result{there(group, arm.Ready), {ID: nodes, State: arm.Deleting}}, subnet: true,
			want: `["/resourceGroups/g","/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"]`},
		"gone": {reason: "one of its name may be made with another range", before: `["/resourceGroups/g","/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/nodes"]`,
			planned: []arm.ID{group}, results: []arm.Result{there(group, arm.Ready)}, want: `["/resourceGroups/g"]`},
		"unreadable": {reason: "it is written anew", before: "text", planned: []arm.ID{group}, results: []arm.Result{there(group, arm.Ready)}, want: `["/resourceGroups/g"]`},
	} {
		t.Run(name, func(t *testing.T) {
			azureCluster := &infrav1.AzureCluster{}
			azureCluster.Annotations = map[string]string{plan.MadeAnnotation: test.before}
			g := &arm.Graph{}
			for _, id := range test.planned {
				g.Add(arm.Node{ID: id})
			}
			got := plan.Made(plan.ClusterInput{AzureCluster: azureCluster, SubscriptionID: "s"}, g, arm.Outcome{Results: test.results})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			azureCluster.Annotations[plan.MadeAnnotation] = got
			if in := plan.InAzure(azureCluster); in != (test.want != "") {
				t.Errorf("%s: in Azure is %t", test.reason, in)
			}
			if made := plan.MadeSubnet(azureCluster, "Nodes"); made != test.subnet {
				t.Errorf("%s: the subnet was made is %t", test.reason, made)
			}
		})
	}
}
