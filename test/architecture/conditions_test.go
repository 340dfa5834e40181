package architecture

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
)

// establishedConditionNames are the condition types and reasons that the established provider writes on the kinds that are here, or names
// in its API for them. Alerts, scripts and MachineHealthChecks look for them.
var establishedConditionNames = map[string][]string{
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
	for of, names := range establishedConditionNames {
		for _, name := range names {
			if !slices.Contains(have, name) {
				t.Errorf("%s: %s is no constant of %s, so what looks for it in clusters of today finds nothing after a migration", of, name, apiDir)
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

// TestBookListsReasons compares the reasons of conditions and events in the code with the tables of the pages about them: each reason is on
// a page, and each reason in the first column exists.
func TestBookListsReasons(t *testing.T) {
	files, err := readSource(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	exist := map[string]bool{clusterv1.PausedReason: true, clusterv1.InternalErrorReason: true}
	for name, reason := range conditionNames(files) {
		if strings.HasSuffix(name, "Reason") {
			exist[reason] = true
		}
	}
	for _, code := range identityCodes(files) {
		exist[code] = true
	}
	conditions, events := readReasons(t, "conditions.md", 1), readReasons(t, "events.md", 2)
	for reason := range exist {
		if !conditions[reason] && !events[reason] {
			t.Errorf("neither docs/book/conditions.md nor docs/book/events.md describes the reason %s", reason)
		}
	}
	for reason := range conditions {
		if !exist[reason] {
			t.Errorf("docs/book/conditions.md describes %s, which is no reason", reason)
		}
	}
}

// readReasons returns the words in back quotes in a column of the table "Reasons" of a page of the book, or of its only table.
func readReasons(t *testing.T, page string, column int) map[string]bool {
	t.Helper()
	content, err := os.ReadFile("../../docs/book/" + page)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	if _, after, ok := strings.Cut(text, "\n## Reasons\n"); ok {
		text, _, _ = strings.Cut(after, "\n## ")
	}
	out := map[string]bool{}
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 4 {
			continue
		}
		for _, match := range regexp.MustCompile("`([A-Z][A-Za-z]+)`").FindAllStringSubmatch(cells[column], -1) {
			out[match[1]] = true
		}
	}
	return out
}

// TestEventReasons makes sure that the reasons of events are constants of the API, which the pages about events list.
func TestEventReasons(t *testing.T) {
	files, err := readSource(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, finding := range checkEventReasons(files) {
		t.Error(finding)
	}
}

// TestCheckEventReasons checks one event of each form; it expects findings for texts and constants of the package.
func TestCheckEventReasons(t *testing.T) {
	files, err := readSource(fstest.MapFS{
		"internal/a/b.go": {Data: []byte("package a\nconst failed = \"Failed\"\n")},
		"internal/a/a.go": {Data: []byte("package a\nfunc f(reason string) {\n\tr.Eventf(o, nil, t, \"Text\", \"\", \"\")\n\tr.WarnOnce(c, o, failed, failed, \"\", nil)\n" +
			"\tr.WarnOnce(c, o, \"m\", infrav1.FailedReason, \"\", nil)\n\tr.Eventf(o, nil, t, reason, \"\", \"\")\n}\n")},
	})
	if err != nil {
		t.Fatal(err)
	}
	const rest = ": the reason of the event is no constant of api/v1beta1, so no page lists it. Declare it there"
	want := []string{"internal/a/a.go:3:22" + rest, "internal/a/a.go:4:27" + rest}
	if diff := cmp.Diff(want, checkEventReasons(files)); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
}
