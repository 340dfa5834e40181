package book_test

import (
	"reflect"
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
)

// notShown are the fields that no manifest has, with the reason. One that ends in a dot is for all below.
var notShown = map[string]string{
	"AzureCluster.bastionSpec.azureBastion.publicIP.dnsName":                               "as that of a NAT gateway",
	"AzureCluster.bastionSpec.azureBastion.publicIP.ipTags[].":                             "as those of the API server",
	"AzureCluster.bastionSpec.azureBastion.subnet.id":                                      "written by the established provider; custom-vnet.md tells",
	"AzureCluster.bastionSpec.azureBastion.subnet.natGateway.":                             "refused: Azure lets the subnet of a bastion host have none",
	"AzureCluster.bastionSpec.azureBastion.subnet.privateEndpoints[].":                     "as those of other subnets",
	"AzureCluster.bastionSpec.azureBastion.subnet.routeTable.":                             "as those of other subnets",
	"AzureCluster.bastionSpec.azureBastion.subnet.securityGroup.id":                        "written by the established provider; custom-vnet.md tells",
	"AzureCluster.bastionSpec.azureBastion.subnet.securityGroup.securityRules[].action":    "as those of other subnets",
	"AzureCluster.bastionSpec.azureBastion.subnet.securityGroup.securityRules[].sources[]": "as those of other subnets",
	"AzureCluster.bastionSpec.azureBastion.subnet.securityGroup.tags{}":                    "as those of other subnets",
	"AzureCluster.bastionSpec.azureBastion.subnet.serviceEndpoints[].":                     "as those of other subnets",
	"AzureCluster.failureDomains{}.attributes{}":                                           "Cluster API keeps them; nothing here has any",
	"AzureCluster.identityRef.fieldPath":                                                   "no part of a reference to an identity",
	"AzureCluster.identityRef.namespace":                                                   "identities.md shows it",
	"AzureCluster.identityRef.resourceVersion":                                             "no part of a reference to an identity",
	"AzureCluster.identityRef.uid":                                                         "no part of a reference to an identity",
	"AzureCluster.networkSpec.apiServerLB.frontendIPsCount":                                "the API server has one",
	"AzureCluster.networkSpec.apiServerLB.id":                                              "written by the established provider; custom-vnet.md tells",
	"AzureCluster.networkSpec.controlPlaneOutboundLB.frontendIPs[].":                       "they follow their number",
	"AzureCluster.networkSpec.controlPlaneOutboundLB.id":                                   "written by the established provider; custom-vnet.md tells",
	"AzureCluster.networkSpec.nodeOutboundLB.frontendIPs[].":                               "they follow their number",
	"AzureCluster.networkSpec.nodeOutboundLB.id":                                           "written by the established provider; custom-vnet.md tells",
	"AzureCluster.networkSpec.subnets[].id":                                                "written by the established provider; custom-vnet.md tells",
	"AzureCluster.networkSpec.subnets[].natGateway.id":                                     "written by the established provider; custom-vnet.md tells",
	"AzureCluster.networkSpec.subnets[].natGateway.ip.ipTags[].":                           "as those of the API server",
	"AzureCluster.networkSpec.subnets[].routeTable.id":                                     "written by the established provider; custom-vnet.md tells",
	"AzureCluster.networkSpec.subnets[].securityGroup.id":                                  "written by the established provider; custom-vnet.md tells",
	"AzureCluster.networkSpec.vnet.id":                                                     "written by the established provider; custom-vnet.md tells",
	"AzureCluster.networkSpec.vnet.tags{}":                                                 "written by the established provider; custom-vnet.md tells",
	"AzureMachine.dataDisks[].managedDisk.securityProfile.":                                "as that of the OS disk",
	"AzureMachine.providerID":                                                              "the provider writes it",
	"AzureMachine.roleAssignmentName":                                                      "an older name; vm-identities.md tells",
	"AzureMachine.systemAssignedIdentityRole.name":                                         "made at random for each machine; vm-identities.md tells",
}

// TestBookShowsEveryField compares the manifests with the types: every field that users set is in one of them.
func TestBookShowsEveryField(t *testing.T) {
	t.Parallel()
	shown := map[string]bool{}
	for _, object := range shownObjects(t) {
		kind, template := strings.CutSuffix(object.GetKind(), "Template")
		spec, _ := object.Object["spec"].(map[string]any)
		if template {
			outer, _ := spec["template"].(map[string]any)
			spec, _ = outer["spec"].(map[string]any)
		}
		markPaths(shown, kind, spec)
	}
	fields := append(fieldtest.LeafPaths("AzureCluster", reflect.TypeFor[infrav1.AzureClusterSpec]()),
		fieldtest.LeafPaths("AzureMachine", reflect.TypeFor[infrav1.AzureMachineSpec]())...)
	used := map[string]bool{}
	for _, field := range fields {
		reason := ""
		for known := range notShown {
			if known == field || strings.HasSuffix(known, ".") && strings.HasPrefix(field, known) {
				reason = known
			}
		}
		switch {
		case shown[field] && reason != "":
			t.Errorf("%s is shown, and in the table of those that are not", field)
		case !shown[field] && reason == "":
			t.Errorf("no manifest of the book shows %s", field)
		}
		used[reason] = true
	}
	for known := range notShown {
		if !used[known] {
			t.Errorf("%s is in the table and is no field", known)
		}
	}
	t.Logf("%d fields", len(fields))
}

// markPaths marks every path of a value as fieldtest writes paths. A key may be that of a field or of a map.
func markPaths(shown map[string]bool, path string, value any) {
	shown[path] = true
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			markPaths(shown, path+"."+key, inner)
			markPaths(shown, path+"{}", inner)
		}
	case []any:
		for _, inner := range v {
			markPaths(shown, path+"[]", inner)
		}
	}
}
