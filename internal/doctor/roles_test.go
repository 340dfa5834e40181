package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/overlay"
	azureroles "sigs.k8s.io/cluster-api-provider-azure/templates/azure-roles"
)

const subscription = "00000000-0000-0000-0000-000000000001"

// puts returns the writes of new resources in a group. A resource may be followed by its body.
func puts(resources ...string) (out []overlay.Write) {
	for _, resource := range resources {
		id, body, _ := strings.Cut(resource, " ")
		if body == "" {
			body = `{"location":"eastus"}`
		}
		out = append(out, overlay.Write{Method: "PUT", ID: arm.ID("/subscriptions/" + subscription + "/resourceGroups/c1/providers/" + id), Body: []byte(body)})
	}
	return out
}

// TestChooseRoles chooses the roles of plans. Each role is chosen by one of them.
func TestChooseRoles(t *testing.T) {
	const (
		network  = "Microsoft.Network/virtualNetworks/v"
		balancer = "Microsoft.Network/loadBalancers/l"
		machine  = "Microsoft.Compute/virtualMachines/m"
		aks      = "Microsoft.ContainerService/managedClusters/c1"
	)
	tests := map[string]struct {
		reason string
		writes []overlay.Write
		want   []string
	}{
		"AKS":               {"the network is the cluster's own", puts(network, aks), []string{"aks"}},
		"AKS in a network":  {"the cluster joins a network that exists", puts(aks + ` {"a":"/x/virtualNetworks/v/subnets/s"}`), []string{"aks-brought-network"}},
		"AKS, identity":     {"the cluster uses an identity that exists", puts(aks + ` {"a":{"/x/userAssignedIdentities/i":{}}}`), []string{"aks-brought-network"}},
		"AKS, no network":   {"AKS makes one, with its own permissions", puts(aks), []string{"aks"}},
		"extension":         {"extensions have a role of their own", puts(network, aks, "Microsoft.KubernetesConfiguration/extensions/e"), []string{"aks", "aks-add-ons"}},
		"fleet":             {"members of a fleet have the role of the extensions", puts(network, aks, "Microsoft.ContainerService/fleets/f/members/m"), []string{"aks", "aks-add-ons"}},
		"machines":          {"the network is the cluster's own", puts(network, balancer, machine), []string{"self-managed"}},
		"own subnet":        {"subnets are created in a network that exists", puts(network+"/subnets/s", balancer), []string{"self-managed"}},
		"brought network":   {"no network is created", puts(balancer, machine), []string{"self-managed-brought-network"}},
		"private":           {"the API server has a name in a private zone", puts(network, balancer, "Microsoft.Network/privateDnsZones/z"), []string{"self-managed", "self-managed-private"}},
		"bastion":           {"the bastion host is in the same role", puts(network, balancer, "Microsoft.Network/bastionHosts/b"), []string{"self-managed", "self-managed-private"}},
		"pool":              {"scale sets are machine pools", puts(network, balancer, "Microsoft.Compute/virtualMachineScaleSets/p"), []string{"self-managed", "self-managed-machine-pools"}},
		"assignment":        {"identities of machines get roles", puts(network, machine, "Microsoft.Authorization/roleAssignments/r"), []string{"self-managed", "self-managed-machine-identities"}},
		"encryption set":    {"machines refer to a resource that exists", puts(network, machine+` {"a":"/x/diskEncryptionSets/d"}`), []string{"self-managed", "self-managed-brought-machine-resources"}},
		"other deployments": {"only new resources count", []overlay.Write{{Method: "DELETE", ID: puts(machine)[0].ID}}, nil},
	}
	unused := map[string]bool{}
	files, err := azureroles.Files.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		unused[strings.TrimSuffix(file.Name(), ".json")] = true
	}
	for name, test := range tests {
		got := findNeeds(subscription, test.writes, nil).roles
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s: %s (-want +got):\n%s", name, test.reason, diff)
		}
		for _, role := range got {
			delete(unused, role)
			if read, err := readRole(role); err != nil || len(read.Actions) == 0 {
				t.Errorf("%s: role %s: %v", name, role, err)
			}
		}
	}
	if len(unused) > 0 {
		t.Errorf("no plan needs the roles %v", unused)
	}
}

func TestMissingActions(t *testing.T) {
	tests := map[string]struct {
		reason      string
		permissions []permission
		missing     bool
	}{
		"equal":         {"spelling does not count", []permission{{Actions: []string{"microsoft.network/loadbalancers/WRITE"}}}, false},
		"all":           {"as Owner", []permission{{Actions: []string{"*"}}}, false},
		"provider":      {"a star stands for slashes, too", []permission{{Actions: []string{"Microsoft.Network/*"}}}, false},
		"inner star":    {"a star may be anywhere", []permission{{Actions: []string{"*/loadBalancers/*"}}}, false},
		"other verb":    {"as Reader", []permission{{Actions: []string{"*/read"}}}, true},
		"except":        {"as Contributor for role assignments", []permission{{Actions: []string{"*"}, NotActions: []string{"Microsoft.Network/*/write"}}}, true},
		"except in one": {"another role grants it", []permission{{Actions: []string{"*"}, NotActions: []string{"*/write"}}, {Actions: []string{"*"}}}, false},
		"beginning":     {"a prefix is no pattern", []permission{{Actions: []string{"Microsoft.Network/loadBalancers"}}}, true},
		"overlap":       {"the ends of a pattern do not overlap", []permission{{Actions: []string{"Microsoft.Network/loadBalancers/write*write"}}}, true},
		"none":          {"no role", nil, true},
		"many stars":    {"a pattern from outside takes little time", []permission{{Actions: []string{strings.Repeat("*a", 10000)}}}, true},
	}
	for name, test := range tests {
		if got := len(missingActions([]string{"Microsoft.Network/loadBalancers/write"}, test.permissions)) > 0; got != test.missing {
			t.Errorf("%s: %s: missing is %t", name, test.reason, got)
		}
	}
}

// TestIsAtOrAbove checks that assignments of other scopes do not count.
func TestIsAtOrAbove(t *testing.T) {
	const end = "/providers/Microsoft.Authorization/roleAssignments/r"
	counted := []string{"/subscriptions/a" + end, end, "/providers/Microsoft.Management/managementGroups/m" + end, "/SUBSCRIPTIONS/A" + end}
	for _, id := range append(slices.Clone(counted), "/subscriptions/ab"+end, "/subscriptions/a/resourceGroups/g"+end, "/subscriptions/a") {
		if got := isAtOrAbove(id, "/subscriptions/a"); got != slices.Contains(counted, id) {
			t.Errorf("%s counts: %t", id, got)
		}
	}
}
