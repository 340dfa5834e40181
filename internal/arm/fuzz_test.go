package arm_test

import (
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// FuzzID parses IDs from users and from Azure.
func FuzzID(f *testing.F) {
	for _, seed := range []string{
		"", "/", "//", "azure://", "/subscriptions/", "/subscriptions/s", "/subscriptions/s/resourceGroups/g",
		"/subscriptions/s/resourcegroups/g/",
		"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/n",
		"/subscriptions/s/resourceGroups/providers/providers/Microsoft.Network/virtualNetworks/providers",
		"azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/x/virtualMachines/0",
		"/providers/Microsoft.Authorization/roleDefinitions/r", "/subscriptions/s/providers/Microsoft.Authorization/roleAssignments/a",
		"/SUBSCRIPTIONS/s", "/subscriptions/\u212a/resourceGroups/ſ",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		// The text may be anything: users can write statuses and annotations.
		raw := arm.ID(text)
		_, _, _, _ = raw.Subscription(), raw.ResourceGroup(), raw.Name(), raw.ShortName()
		for id, n := raw, 0; id != ""; n++ {
			parent := id.Parent()
			if len(parent) >= len(id) {
				t.Fatalf("the parent of %q is %q", id, parent)
			}
			id = parent
		}
		id, err := arm.ParseID(text)
		if err != nil {
			return
		}
		if again, err := arm.ParseID(string(id)); err != nil || again != id {
			t.Errorf("%q is parsed to %q, and that to %q, %v", text, id, again, err)
		}
		if !id.Equal(id) || !id.IsWithin(id) || id.Type() == "" || id.Name() == "" {
			t.Errorf("%q has type %q and name %q, equals itself %v and is within itself %v", id, id.Type(), id.Name(), id.Equal(id),
				id.IsWithin(id))
		}
	})
}

// FuzzNames builds IDs from names and parses them again.
func FuzzNames(f *testing.F) {
	f.Add("group", "name", "child")
	f.Add("providers", "providers", "providers")
	f.Add("resourceGroups", "subscriptions", "Providers")
	f.Fuzz(func(t *testing.T, group, name, child string) {
		for _, part := range []string{group, name, child} {
			if part == "" || strings.Contains(part, "/") {
				return
			}
		}
		const subnets = "Microsoft.Network/virtualNetworks/subnets"
		network := arm.NewID("s", group, "Microsoft.Network/virtualNetworks", name)
		subnet := network.Child("subnets", child)
		got := []string{string(subnet.Parent()), subnet.Type(), subnet.Name(), subnet.ResourceGroup(), subnet.Subscription(),
			string(network.Parent()), network.Parent().Type(), network.Parent().ResourceGroup()}
		want := []string{string(network), subnets, child, group, "s", string(arm.ResourceGroupID("s", group)), arm.ResourceGroupType, group}
		if !slices.Equal(got, want) {
			t.Errorf("%s is parsed as %q, want %q", subnet, got, want)
		}
	})
}
