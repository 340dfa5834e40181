package types_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

func TestRowsAreSound(t *testing.T) {
	version := regexp.MustCompile(`^20\d\d-\d\d-\d\d$`)
	for _, row := range types.TableRows() {
		t.Run(row.Name, func(t *testing.T) {
			if !version.MatchString(row.APIVersion) {
				t.Errorf("api-version %q", row.APIVersion)
			}
			if row.DeleteRank == 0 {
				t.Error("no delete rank: it would be deleted before all others")
			}
			if len(row.ChildLists) > 0 && !row.SendsIfMatch {
				t.Error("a shared list is carried over without If-Match, so writes of others could be lost")
			}
			// The parent of a cluster extension is the cluster.
			child := strings.Count(row.Name, "/") > 1 || row.Name == types.ClusterExtension
			if row.SerialLevel > 0 && !child {
				t.Error("a top-level resource shares no document")
			}
			if row.DeletedWithParent && !child {
				t.Error("a top-level resource has no parent except the group")
			}
			for _, path := range slices.Concat(row.SharedLists, row.ChildLists, row.PreservedPaths, row.PreservedOnceSet) {
				if !strings.HasPrefix(path, "properties.") && !strings.HasPrefix(path, "sku.") {
					t.Errorf("carry path %q", path)
				}
			}
		})
	}
}

// TestPathsAreInOneSpellingColumn checks that each path is in exactly one column about its spelling, and that enumerations come from
// the SDK's models.
func TestPathsAreInOneSpellingColumn(t *testing.T) {
	for _, row := range types.TableRows() {
		t.Run(row.Name, func(t *testing.T) {
			if fold := slices.Sorted(slices.Values(row.CaseInsensitivePaths)); len(slices.Compact(fold)) != len(row.CaseInsensitivePaths) {
				t.Errorf("a path is an enumeration, or listed twice: %v", fold)
			}
			for _, path := range row.CaseInsensitiveKeys {
				if !slices.Contains(row.FreeFormPaths, path) {
					t.Errorf("%s is not a map", path)
				}
			}
			for _, path := range row.CaseInsensitivePaths {
				if slices.Contains(row.FreeFormPaths, path) {
					t.Errorf("%s is a map, whose keys may fold, and not text", path)
				}
			}
			if row.Taggable != slices.Contains(row.FreeFormPaths, "tags") && row.Name != types.UserAssignedIdentity {
				t.Errorf("taggable is %t, and the model has the tags: %v", row.Taggable, row.FreeFormPaths)
			}
		})
	}
}

func TestDeleteRanks(t *testing.T) {
	// Earlier types use later ones.
	orders := [][]string{
		{types.RoleAssignment, types.VirtualMachineExtension, types.VirtualMachine, types.NetworkInterface, types.InboundNATRule,
			types.LoadBalancer, types.PublicIPAddress, types.ResourceGroup},
		{types.NetworkInterface, types.Subnet, types.NATGateway, types.VirtualNetwork, types.NetworkSecurityGroup},
		{types.BastionHost, types.Subnet}, {types.PrivateEndpoint, types.Subnet}, {types.NATGateway, types.PublicIPAddress},
		{types.BastionHost, types.PublicIPAddress},
		{types.VirtualMachine, types.Disk}, {types.VirtualMachine, types.AvailabilitySet},
		{types.VirtualMachine, types.UserAssignedIdentity},
		{types.VirtualNetworkLink, types.PrivateDNSZone}, {types.VirtualNetworkLink, types.VirtualNetwork},
		{types.Subnet, types.RouteTable},
		{types.FleetMember, types.ManagedCluster}, {types.ClusterExtension, types.ManagedCluster},
		{types.AgentPool, types.ManagedCluster, types.Subnet}, {types.ManagedCluster, types.UserAssignedIdentity},
	}
	rank := map[string]int{}
	for _, row := range types.TableRows() {
		rank[row.Name] = row.DeleteRank
	}
	for _, order := range orders {
		for i := 1; i < len(order); i++ {
			if rank[order[i-1]] >= rank[order[i]] {
				t.Errorf("%s uses %s, so it must be deleted first", order[i-1], order[i])
			}
		}
	}
}

func TestSerialKey(t *testing.T) {
	vnet := arm.NewID("s", "g", types.VirtualNetwork, "v")
	for _, id := range []arm.ID{vnet, vnet.Child("subnets", "a"), vnet.Child("virtualNetworkPeerings", "p")} {
		row, err := types.ForID(id)
		if err != nil {
			t.Fatal(err)
		}
		if got := row.SerialKey(id); got != vnet {
			t.Errorf("%s: serial key %s, want the network", id, got)
		}
	}
}

func TestForID(t *testing.T) {
	if row, err := types.ForID(arm.ID("/subscriptions/s/resourcegroups/g/providers/MICROSOFT.NETWORK/VIRTUALNETWORKS/v")); err != nil ||
		row.Name != types.VirtualNetwork {
		t.Errorf("types are not case-sensitive: got %q, %v", row.Name, err)
	}
	if _, err := types.ForID(arm.NewID("s", "g", "Microsoft.Unheard/of", "x")); err == nil ||
		!strings.Contains(err.Error(), "Microsoft.Unheard/of") {
		t.Errorf("an unknown type must be refused by name, got %v", err)
	}
	if got, want := types.ListPath(arm.NewID("s", "g", types.NetworkInterface, "n")),
		"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/networkInterfaces"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestDefinitionRowsHideSecrets: types without a row get their write-only paths from the definition; these are neither compared nor
// shown.
func TestDefinitionRowsHideSecrets(t *testing.T) {
	row, err := types.ForID(arm.ID("/subscriptions/s/resourceGroups/g/providers/Microsoft.ContainerService/managedClusters/c/providers/Microsoft.KubernetesConfiguration/fluxConfigurations/f"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"properties.configurationProtectedSettings", "properties.azureBlob.accountKey",
		"properties.azureBlob.servicePrincipal.clientSecret"} {
		if !slices.Contains(row.WriteOnlyPaths, path) {
			t.Errorf("%s is compared: %v", path, row.WriteOnlyPaths)
		}
	}
	if slices.Contains(row.WriteOnlyPaths, "properties.gitRepository.url") {
		t.Error("a property that Azure returns is not compared")
	}
}
