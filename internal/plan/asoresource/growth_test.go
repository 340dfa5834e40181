package asoresource

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// referencesEach is how many documents each agent pool of newManyManifests names. With 482 documents that is 9,120 references.
const referencesEach = 38

// sizes are numbers of documents up to the maximum of spec.resources.
var sizes = []int{50, 200, 500}

// newManyManifests returns so many documents of one object: half of them agent pools that name the other half. The owners alternate
// between names and armIds, and the identity is that of another namespace, so that every armId is compared with the documents.
func newManyManifests(t testing.TB, count int) Input {
	t.Helper()
	groups := (count - 2) / 2
	owners := []string{"{name: g}", "{armId: " + string(groupID) + "}"}
	documents := []string{groupManifest, aksManifest}
	for i := range groups {
		documents = append(documents,
			fmt.Sprintf(`{apiVersion: network.azure.com/v20250501, kind: ApplicationSecurityGroup, metadata: {name: asg%d}, spec: {owner: %s, location: eastus}}`, i, owners[i%2]))
	}
	owners = []string{"{name: mc}", "{armId: " + string(aksID) + "}"}
	for i := range count - len(documents) {
		var references []string
		for j := range referencesEach {
			references = append(references, fmt.Sprintf(`{group: network.azure.com, kind: ApplicationSecurityGroup, name: asg%d}`, (i+j)%groups))
		}
		documents = append(documents,
			fmt.Sprintf(`{apiVersion: containerservice.azure.com/v20251001, kind: ManagedClustersAgentPool, metadata: {name: p%d}, spec: {owner: %s, mode: System, vmSize: Standard_D2s_v3, networkProfile: {applicationSecurityGroupsReferences: [%s]}}}`,
				i, owners[i%2], strings.Join(references, ", ")))
	}
	in := newInput(t, documents...)
	in.replaceManifests(true, keepManifests)
	if got := len(in.Manifests()); got != count {
		t.Fatalf("%d documents, want %d", got, count)
	}
	return in
}

// growthStages are the computations from the documents of an object in one reconciliation. Each starts from the
// documents as they are read.
var growthStages = map[string]struct {
	reason string
	do     func(in Input) error
}{
	"plan": {"a reconciliation asks for facts, checks and plans", func(in Input) error {
		in.replaceManifests(true, keepManifests)
		for _, id := range ListNeededFacts(in) {
			in.Facts[id.Key()] = json.RawMessage(nil)
		}
		if errs := CheckManifests(in); len(errs) > 0 {
			return errs.ToAggregate()
		}
		_, err := BuildPlan(in)
		return err
	}},
	"deletion": {"deletion computes the same IDs", func(in Input) error {
		in.replaceManifests(true, keepManifests)
		_, err := BuildDeletePlan(in, false)
		return err
	}},
}

// TestAllocationsGrowLinearly counts the allocations of both stages, of which each ID, body and lookup takes some. Ten times as many
// documents take ten times as many: a user's documents must not delay the objects of others.
func TestAllocationsGrowLinearly(t *testing.T) {
	const slack = 1.25
	for name, stage := range growthStages {
		t.Run(name, func(t *testing.T) {
			perDocument := 0.0
			for _, size := range sizes {
				in := newManyManifests(t, size)
				got := testing.AllocsPerRun(1, func() {
					if err := stage.do(in); err != nil {
						t.Fatal(err)
					}
				}) / float64(size)
				t.Logf("%d documents: %.0f allocations each", size, got)
				if perDocument == 0 {
					perDocument = got
				}
				if got > slack*perDocument {
					t.Errorf("%s: %d documents take %.0f allocations each, %d take %.0f", stage.reason, size, got, sizes[0], perDocument)
				}
			}
		})
	}
}

// BenchmarkDocuments measures both stages.
//
//	go test ./internal/plan/asoresource -run '^$' -bench Documents -benchmem
func BenchmarkDocuments(b *testing.B) {
	for name, stage := range growthStages {
		for _, size := range sizes {
			b.Run(fmt.Sprintf("%s/%d", name, size), func(b *testing.B) {
				in := newManyManifests(b, size)
				b.ReportAllocs()
				for b.Loop() {
					if err := stage.do(in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// TestOwnersByID checks that the IDs of documents are computed in the end, whatever their owners lead to. An armId is allowed to name only
// what documents name without an armId.
func TestOwnersByID(t *testing.T) {
	vnet := func(name, owner string) string {
		return fmt.Sprintf(`{apiVersion: network.azure.com/v20250501, kind: VirtualNetwork, metadata: {name: %s}, spec: {owner: %s, location: eastus}}`, name, owner)
	}
	subnet := func(name, owner string) string {
		return fmt.Sprintf(`{apiVersion: network.azure.com/v20250501, kind: VirtualNetworksSubnet, metadata: {name: %s}, spec: {owner: %s, addressPrefix: 10.0.0.0/24}}`, name, owner)
	}
	extension := func(name, owner string) string {
		return fmt.Sprintf(`{apiVersion: kubernetesconfiguration.azure.com/v20241101, kind: Extension, metadata: {name: %s}, spec: {owner: {group: kubernetesconfiguration.azure.com, kind: Extension, name: %s}, extensionType: microsoft.flux}}`, name, owner)
	}
	long := []string{groupManifest}
	for i := range 40 {
		long = append(long, extension(fmt.Sprint("e", i), fmt.Sprint("e", i+1)))
	}
	tests := map[string]struct {
		reason    string
		documents []string
		bound     bool
		want      []string
	}{
		"below an armId": {"a resource below one with an armId is refused for the armId of its owner",
			[]string{vnet("v", "{armId: /subscriptions/s/resourceGroups/other}"), subnet("first", "{name: v}")}, true,
			[]string{"spec.resources[0].spec.owner.armId: Forbidden", "spec.resources[0].spec.owner.armId: Forbidden"}},
		"below its own child": {"an armId may name existing resources only if that is allowed",
			[]string{vnet("v", "{armId: /subscriptions/s/resourceGroups/other}"), subnet("first", "{name: v}"),
				subnet("second", "{armId: /subscriptions/s/resourceGroups/other/providers/Microsoft.Network/virtualNetworks/v}")}, true,
			[]string{"spec.resources[0].spec.owner.armId: Forbidden", "spec.resources[0].spec.owner.armId: Forbidden",
				"spec.resources[2].spec.owner.armId: Forbidden"}},
		"below an armId at home": {"the group is a document's",
			[]string{groupManifest, vnet("v", "{armId: "+string(groupID)+"}"), subnet("first", "{name: v}"),
				subnet("second", "{armId: "+string(groupID)+"/providers/Microsoft.Network/virtualNetworks/v}")}, true,
			[]string{"/subscriptions/s/resourceGroups/g", "/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v",
				"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/first",
				"/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/virtualNetworks/v/subnets/second"}},
		"own identity": {"an identity of the namespace may use existing resources",
			[]string{vnet("v", "{armId: /subscriptions/s/resourceGroups/other}"), subnet("first", "{name: v}")}, false,
			[]string{"/subscriptions/s/resourceGroups/other/providers/Microsoft.Network/virtualNetworks/v",
				"/subscriptions/s/resourceGroups/other/providers/Microsoft.Network/virtualNetworks/v/subnets/first"}},
		"circle": {"each is the other's owner", []string{extension("a", "b"), extension("b", "a")}, true,
			[]string{"spec.resources[0].spec.owner: Invalid value", "spec.resources[1].spec.owner: Invalid value"}},
		"long chain": {"a resource is below few others", long, true,
			[]string{"/subscriptions/s/resourceGroups/g", "spec.resources[9].spec.owner: Invalid value"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := newInput(t, test.documents...)
			in.replaceManifests(test.bound, keepManifests)
			for i, want := range test.want {
				id, err := in.ResourceID(in.Manifests()[i])
				got := string(id)
				if err != nil {
					got = err.Error()
				}
				if !strings.HasPrefix(got, want) {
					t.Errorf("%s: document %d: got %s, want %s", test.reason, i, got, want)
				}
			}
			if _, err := BuildPlan(in); err != nil {
				t.Errorf("plan: %v", err)
			}
			if _, err := BuildDeletePlan(in, false); err != nil {
				t.Errorf("deletion: %v", err)
			}
		})
	}
}

// TestLongID checks that a text with very many segments is no ID: taking it apart costs its length times its segments.
func TestLongID(t *testing.T) {
	in := newInput(t, groupManifest,
		`{apiVersion: containerservice.azure.com/v20251001, kind: ManagedCluster, metadata: {name: mc}, spec: {owner: {name: g}, location: eastus, dnsPrefix: x,
		addonProfiles: {omsagent: {enabled: true, config: {logAnalyticsWorkspaceResourceID: "/subscriptions/s`+strings.Repeat("/a/b",
			250_000)+`"}}}}}`,
		`{apiVersion: network.azure.com/v20250501, kind: NatGateway, metadata: {name: nat}, spec: {owner: {armId: "/subscriptions/s`+strings.Repeat("/a/b", 250_000)+`"}}}`)
	if errs := CheckManifests(in); len(errs) != 1 || len(errs[0].Error()) > 500 {
		t.Errorf("%d errors, want one that is short", len(errs))
	}
	if _, err := BuildPlan(in); err != nil {
		t.Error(err)
	}
	if _, err := arm.ParseID("/subscriptions/s/resourceGroups/g/providers/" + strings.Repeat("a/", 3000) + "b"); err == nil ||
		len(err.Error()) > 500 {
		t.Error("a long ID is no ID, and its error is short")
	}
}
