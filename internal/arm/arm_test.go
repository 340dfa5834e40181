package arm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

func TestID(t *testing.T) {
	group := arm.ResourceGroupID("sub", "rg")
	vnet := arm.NewID("sub", "rg", "Microsoft.Network/virtualNetworks", "v")
	subnet := vnet.Child("subnets", "s")
	role := group.Extension("Microsoft.Authorization/roleAssignments", "guid")

	type parts struct{ Subscription, Group, Type, Name, Parent, Short string }
	tests := map[string]struct {
		id   arm.ID
		want parts
	}{
		"subscription": {arm.SubscriptionID("sub"),
			parts{"sub", "", "Microsoft.Resources/subscriptions", "sub", "", "subscriptions/sub"}},
		"resource group": {group, parts{"sub", "rg", arm.ResourceGroupType, "rg", "", "resourceGroups/rg"}},
		"top level":      {vnet, parts{"sub", "rg", "Microsoft.Network/virtualNetworks", "v", string(group), "virtualNetworks/v"}},
		"child":          {subnet, parts{"sub", "rg", "Microsoft.Network/virtualNetworks/subnets", "s", string(vnet), "subnets/s"}},
		"extension": {role, parts{"sub", "rg", "Microsoft.Authorization/roleAssignments", "guid", string(group),
			"roleAssignments/guid"}},
		"tags": {vnet.Extension("Microsoft.Resources/tags", "default"), parts{"sub", "rg", "Microsoft.Resources/tags", "default", string(vnet),
			"virtualNetworks/v/tags"}},
		"other casing": {arm.ID("/subscriptions/sub/RESOURCEGROUPS/rg"),
			parts{"sub", "rg", arm.ResourceGroupType, "rg", "", "resourceGroups/rg"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := parts{test.id.Subscription(), test.id.ResourceGroup(), test.id.Type(), test.id.Name(), string(test.id.Parent()),
				test.id.ShortName()}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			parsed, err := arm.ParseID("azure://" + string(test.id) + "/")
			if err != nil || parsed != test.id {
				t.Errorf("ParseID gave %q, %v", parsed, err)
			}
		})
	}
	if !subnet.IsWithin(vnet) || vnet.IsWithin(subnet) || arm.ID(string(vnet)+"2").IsWithin(vnet) {
		t.Error("Within must follow whole segments")
	}
	if !subnet.Equal(arm.ID(strings.ToUpper(string(subnet)))) {
		t.Error("IDs are equal without regard to case")
	}
}

func TestParseIDRefuses(t *testing.T) {
	for _, s := range []string{"", "vnet", "/resourceGroups/rg", "/subscriptions/sub/resourceGroups",
		"/subscriptions/sub//resourceGroups/rg", "/subscriptions/s/resourceGroups/rg/providers/Microsoft.Network"} {
		if id, err := arm.ParseID(s); err == nil {
			t.Errorf("ParseID(%q) gave %q, want an error", s, id)
		}
	}
}

func TestGraphValidate(t *testing.T) {
	vnet := arm.NewID("sub", "rg", "Microsoft.Network/virtualNetworks", "v")
	nsg := arm.NewID("sub", "rg", "Microsoft.Network/networkSecurityGroups", "n")
	subnet := vnet.Child("subnets", "s")
	body := map[string]any{"properties": map[string]any{"networkSecurityGroup": map[string]any{"id": strings.ToUpper(string(nsg))}}}

	tests := map[string]struct {
		reason string
		nodes  []arm.Node
		want   string
	}{
		"sound": {
			reason: "the parent is an implied edge and the security group a declared one",
			nodes:  []arm.Node{{ID: vnet}, {ID: nsg}, {ID: subnet, Body: body, After: []arm.ID{nsg}}},
		},
		"twice": {
			reason: "a plan with two versions of a resource is a bug",
			nodes:  []arm.Node{{ID: vnet}, {ID: arm.ID(strings.ToLower(string(vnet)))}},
			want:   "twice",
		},
		"missing target": {
			reason: "an edge to a missing node would never be satisfied",
			nodes:  []arm.Node{{ID: subnet, After: []arm.ID{nsg}}},
			want:   "not in the plan",
		},
		"cycle": {
			reason: "the parent is an implied edge, so this is a cycle",
			nodes:  []arm.Node{{ID: vnet, After: []arm.ID{subnet}}, {ID: subnet}},
			want:   "cycle",
		},
		"undeclared reference": {
			reason: "Azure would answer InvalidResourceReference on a bad day",
			nodes:  []arm.Node{{ID: nsg}, {ID: subnet, Body: body}},
			want:   "mentions " + string(nsg) + " without coming after it",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var g arm.Graph
			g.Add(test.nodes...)
			err := g.Validate()
			if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%s: got %v, want %q", test.reason, err, test.want)
			}
		})
	}
}

func TestTopologicalOrder(t *testing.T) {
	var g arm.Graph
	group := arm.ResourceGroupID("sub", "rg")
	vnet := arm.NewID("sub", "rg", "Microsoft.Network/virtualNetworks", "v")
	nsg := arm.NewID("sub", "rg", "Microsoft.Network/networkSecurityGroups", "n")
	g.Add(arm.Node{ID: vnet.Child("subnets", "s"), After: []arm.ID{nsg}}, arm.Node{ID: vnet}, arm.Node{ID: nsg}, arm.Node{ID: group})
	nodes, err := g.TopologicalOrder()
	if err != nil {
		t.Fatal(err)
	}
	var got []arm.ID
	for _, node := range nodes {
		got = append(got, node.ID)
	}
	if diff := cmp.Diff([]arm.ID{group, vnet, nsg, vnet.Child("subnets", "s")}, got); diff != "" {
		t.Error(diff)
	}
}

func TestErrorMessage(t *testing.T) {
	vm := arm.NewID("s", "g", "Microsoft.Compute/virtualMachines", "m")
	set := string(arm.NewID("s", "keys", "Microsoft.Compute/diskEncryptionSets", "e"))
	for name, test := range map[string]struct {
		reason string
		err    arm.Error
		want   string
	}{
		"details": {
			reason: "the cause is often in the details",
			err: arm.Error{Method: "PUT", ID: vm, Status: 409, Code: "OperationNotAllowed", Message: "quota",
				Details: []arm.Detail{{Code: "QuotaExceeded", Message: "limit 10"}}, RequestID: "r-1"},
			want: "PUT virtualMachines/m: OperationNotAllowed: quota [QuotaExceeded: limit 10]",
		},
		"tracking of AKS": {
			reason: "the message would differ after each try",
			err: arm.Error{Method: "PUT", ID: vm, Status: 500, Code: "InternalServerError", RequestID: "r-1",
				Message: "Internal server error. Correlation ID: 0b0c3d1e-11aa-4c5e-9f00-1234567890ab, Operation ID: " +
					"0b0c3d1e-11aa-4c5e-9f00-1234567890ac, Timestamp: 2025-01-15T17:16:51Z."},
			want: "PUT virtualMachines/m: InternalServerError: Internal server error.",
		},
		"time to wait": {
			reason: "it decreases with each try, and the header has it",
			err: arm.Error{Method: "PUT", ID: vm, Status: 429, Code: "TooManyRequests",
				Message: "The request is being throttled as the limit has been reached. Please try again after '17' seconds."},
			want: "PUT virtualMachines/m: TooManyRequests: The request is being throttled as the limit has been reached.",
		},
		"IDs that matter": {
			reason: "the user needs to know which principal lacks which right",
			err: arm.Error{Method: "PUT", ID: vm, Status: 403, Code: "AuthorizationFailed",
				Message: "The client '0b0c3d1e-11aa-4c5e-9f00-1234567890ab' with object id '0b0c3d1e-11aa-4c5e-9f00-1234567890ac' does not have " +
					"authorization."},
			want: "PUT virtualMachines/m: AuthorizationFailed: The client '0b0c3d1e-11aa-4c5e-9f00-1234567890ab' with object id " +
				"'0b0c3d1e-11aa-4c5e-9f00-1234567890ac' does not have authorization.",
		},
		"target": {
			reason: "compute names the missing resource only in the target",
			err: arm.Error{Method: "PUT", ID: vm, Status: 404, Code: "NotFound",
				Message: "The entity was not found in this Azure location.", Target: set},
			want: "PUT virtualMachines/m: NotFound: The entity was not found in this Azure location. (about " + set + ")",
		},
		"target in the message": {
			reason: "it appears once",
			err: arm.Error{Method: "PUT", ID: vm, Status: 400, Code: "InvalidParameter",
				Message: "The value of parameter vmSize is invalid.", Target: "vmSize"},
			want: "PUT virtualMachines/m: InvalidParameter: The value of parameter vmSize is invalid.",
		},
		"target is the resource": {
			reason: "the message already names the request",
			err:    arm.Error{Method: "PUT", ID: vm, Status: 400, Code: "BadRequest", Message: "No.", Target: strings.ToLower(string(vm))},
			want:   "PUT virtualMachines/m: BadRequest: No.",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.err.Error()); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
