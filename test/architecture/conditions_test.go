package architecture

import (
	"maps"
	"os"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// known are the condition types and reasons that the established provider writes on the kinds that are here, or names in
// its API for them. Alerts, scripts and MachineHealthChecks look for them.
var known = map[string][]string{
	"AzureCluster": {
		"NetworkInfrastructureReady", "ResourceGroupReady", "VNetReady", "SecurityGroupsReady", "RouteTablesReady", "PublicIPsReady",
		"NATGatewaysReady", "SubnetsReady", "VnetPeeringReady", "LoadBalancersReady", "PrivateDNSZoneReady", "PrivateDNSLinkReady",
		"PrivateDNSRecordReady", "PrivateEndpointsReady", "BastionHostReady",
	},
	"AzureMachine": {
		"VMRunning", "DisksReady", "PublicIPsReady", "InboundNATRulesReady", "NetworkInterfacesReady", "AvailabilitySetReady",
		"RoleAssignmentReady", "BootstrapSucceeded", "VMIdentitiesReady",
	},
	"AzureManagedControlPlane": {
		"ResourceGroupReady", "VNetReady", "SubnetsReady", "ManagedClusterRunning", "PrivateEndpointsReady", "FleetReady",
		"AKSExtensionsReady", "AzureResourceAvailable",
	},
	"AzureManagedMachinePool": {"AgentPoolsReady"},
	"reasons": {
		"Creating", "Updating", "Deleting", "Deleted", "Failed", "DeletionFailed",
		"VMCreating", "VMUpdating", "VMDeleting", "VMDeleted", "VMProvisionFailed",
		"WaitingForClusterInfrastructure", "WaitingForBootstrapData", "UserAssignedIdentityMissing", "InvalidConfiguration",
		"NamespaceNotAllowedByIdentity", "ExternallyManagedControlPlane",
	},
}

func TestKnownConditionNames(t *testing.T) {
	files, err := readSource(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	have := slices.Collect(maps.Values(conditionNames(files)))
	for of, names := range known {
		for _, name := range names {
			if !slices.Contains(have, name) {
				t.Errorf("%s: %s is no constant of %s, so what looks for it in clusters of today finds nothing after a takeover", of, name, apiDir)
			}
		}
	}
	for _, finding := range checkReported(files) {
		t.Error(finding)
	}
}

func TestCheckReported(t *testing.T) {
	files, err := readSource(fstest.MapFS{
		"api/v1beta1/a.go": {
			Data: []byte("package v1beta1\nconst (\n\tAReason = \"A\"\n\tBReason = \"B\"\n\tCCondition = \"C\"\n\tOther = \"D\"\n)\n")},
		"internal/a/a.go":      {Data: []byte("package a\nimport infrav1 \"" + module + "/api/v1beta1\"\nvar _ = infrav1.AReason\n")},
		"internal/a/a_test.go": {Data: []byte("package a\nimport infrav1 \"" + module + "/api/v1beta1\"\nvar _ = infrav1.CCondition\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"api/v1beta1.BReason is never reported: report it as its comment describes, or remove it",
		"api/v1beta1.CCondition is never reported: report it as its comment describes, or remove it",
	}
	if diff := cmp.Diff(want, checkReported(files)); diff != "" {
		t.Errorf("reasons that only tests use count as reported (-want +got):\n%s", diff)
	}
}
