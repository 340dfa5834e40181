package authorization

import "testing"

func TestMatch(t *testing.T) {
	tests := map[string]struct {
		reason, pattern, action string
		want                    bool
	}{
		"everything": {"an owner's", "*", "Microsoft.Network/virtualNetworks/write", true},
		"exact":      {"case does not matter", "microsoft.network/virtualnetworks/WRITE", "Microsoft.Network/virtualNetworks/write", true},
		"other verb": {"reading is not writing", "Microsoft.Network/virtualNetworks/read", "Microsoft.Network/virtualNetworks/write",
			false},
		"over slashes": {"a star stands for several parts", "*/read", "Microsoft.Network/virtualNetworks/subnets/read", true},
		"in the middle": {"as Contributor's exceptions have it", "Microsoft.Authorization/*/Write",
			"Microsoft.Authorization/roleAssignments/write", true},
		"namespace": {"a service", "Microsoft.Network/*", "Microsoft.Compute/disks/read", false},
		"not a prefix": {"without a star nothing follows", "Microsoft.Network/virtualNetworks", "Microsoft.Network/virtualNetworks/read",
			false},
		"two stars": {"each stands for something of its own", "Microsoft.*/disks/*", "Microsoft.Compute/disks/write", true},
		"end after a star": {"the text after the star has to match", "Microsoft.Network/*/join/action",
			"Microsoft.Network/virtualNetworks/subnets/join", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := matchAny([]string{test.pattern}, test.action); got != test.want {
				t.Errorf("%s: %q matches %q: %v", test.reason, test.pattern, test.action, got)
			}
		})
	}
}

func TestCovers(t *testing.T) {
	const group = "/subscriptions/s/resourceGroups/a"
	tests := map[string]struct {
		reason, assigned, scope string
		want                    bool
	}{
		"tenant":       {"the root is above all", "", group, true},
		"subscription": {"inherited by groups", "/subscriptions/s", group, true},
		"same":         {"case does not matter", "/subscriptions/S/resourcegroups/A", group, true},
		"resource":     {"inherited by resources", group, group + "/providers/Microsoft.Network/virtualNetworks/v", true},
		"sibling":      {"a name that begins alike is another", group, group + "b", false},
		"above":        {"nothing goes up", group, "/subscriptions/s", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := coversScope(test.assigned, test.scope); got != test.want {
				t.Errorf("%s: %q covers %q: %v", test.reason, test.assigned, test.scope, got)
			}
		})
	}
}
