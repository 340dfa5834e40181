package tenancy_test

import (
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// spellings are ways to write an ID that Azure, a proxy or a reader of IDs may take for the ID itself.
var spellings = map[string]func(id string) string{
	"in capitals": func(id string) string {
		return strings.Replace(strings.ToUpper(id), "/SUBSCRIPTIONS", "/subscriptions", 1)
	},
	"with a slash at the end":          func(id string) string { return id + "/" },
	"with two slashes at the end":      func(id string) string { return id + "//" },
	"with an empty segment":            func(id string) string { return strings.Replace(id, "/theirs/", "//theirs/", 1) },
	"with a segment of one dot":        func(id string) string { return strings.Replace(id, "/theirs/", "/theirs/./", 1) },
	"out of the own group by dots":     func(id string) string { return strings.Replace(id, "/theirs/", "/k1/../theirs/", 1) },
	"with an escaped slash":            func(id string) string { return strings.Replace(id, "/theirs/", "/k1%2f..%2ftheirs/", 1) },
	"with escaped dots":                func(id string) string { return strings.Replace(id, "/theirs/", "/k1/%2e%2e/theirs/", 1) },
	"with an escaped letter":           func(id string) string { return strings.Replace(id, "/theirs/", "/%74heirs/", 1) },
	"with a backslash":                 func(id string) string { return strings.Replace(id, "/theirs/", `/k1\..\theirs/`, 1) },
	"with a query":                     func(id string) string { return id + "?api-version=2024-01-01" },
	"with a fragment":                  func(id string) string { return id + "#" },
	"with a tab in it":                 func(id string) string { return strings.Replace(id, "/theirs/", "/theirs\t/", 1) },
	"with a second provider behind it": func(id string) string { return id + "/providers/Microsoft.Authorization/locks/l" },
}

// naming has an object of each kind name a resource of others by an ID.
var naming = map[string]func(w *world, spell func(string) string){
	"AzureCluster": func(w *world, spell func(string) string) {
		inNetwork(func(w *world, s *infrav1.AzureClusterSpec) {
			s.NetworkSpec.Subnets = infrav1.Subnets{{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "n", Role: infrav1.SubnetNode,
				PrivateEndpoints: infrav1.PrivateEndpoints{{Name: "p",
					PrivateLinkServiceConnections: []infrav1.PrivateLinkServiceConnection{{
						PrivateLinkServiceID: spell(w.expandID(foreignPath("Microsoft.Storage/storageAccounts", "theirs"))), GroupIDs: []string{"blob"}}}}}}}}
		})(w)
	},
	"AzureMachine": func(w *world, spell func(string) string) {
		inMachine(func(w *world, s *infrav1.AzureMachineSpec) {
			s.ManagedIdentities = userAssigned(spell(w.expandID(admin)))
		})(w)
	},
	"AzureMachinePool": func(w *world, spell func(string) string) {
		inPool(func(w *world, s *infrav1.AzureMachinePoolSpec) {
			s.ManagedIdentities = userAssigned(spell(w.expandID(admin)))
		})(w)
	},
	"AzureManagedControlPlane": func(w *world, spell func(string) string) {
		inControlPlane(func(w *world, s *infrav1.AzureManagedControlPlaneSpec) {
			s.KubeletUserAssignedIdentity = spell(w.expandID(admin))
		})(w)
	},
	"AzureManagedMachinePool": func(w *world, spell func(string) string) {
		laterPool(func(w *world, p *infrav1.AzureManagedMachinePool) {
			p.Spec.EnableNodePublicIP, p.Spec.NodePublicIPPrefixID = new(true),
				new(spell(w.expandID(foreignPath("Microsoft.Network/publicIPPrefixes", "p"))))
		})(w)
	},
	"AzureASOManagedCluster": func(w *world, spell func(string) string) {
		inManifests(func(w *world) string {
			return "apiVersion: compute.azure.com/v1api20240302\nkind: Disk\nmetadata:\n  name: stolen\nspec:\n  location: eastus\n  owner: " +
				"{name: d1}\n  creationData: {createOption: Copy, sourceResourceReference: {armId: " + quoteText(spell(w.expandID(secret))) + "}}"
		})(w)
	},
	"AzureASOManagedControlPlane": func(w *world, spell func(string) string) {
		replaceManifests(func(c *harness.ASOCluster) *infrav1.AzureASOManagedResources {
			return &c.ControlPlane.Spec.AzureASOManagedResources
		},
			`"identity":{"type":"SystemAssigned"}`, func(w *world) string {
				return `"identity":{"type":"UserAssigned","userAssignedIdentities":[{"reference":{"armId":` + quoteText(
					spell(w.expandID(admin))) + `}}]}`
			})(w)
	},
	"AzureASOManagedMachinePool": func(w *world, spell func(string) string) {
		replaceManifests(func(c *harness.ASOCluster) *infrav1.AzureASOManagedResources {
			return &c.Pools[0].Spec.AzureASOManagedResources
		},
			`"vmSize"`, func(w *world) string {
				return `"proximityPlacementGroupReference":{"armId":` + quoteText(
					spell(w.expandID(foreignPath("Microsoft.Compute/proximityPlacementGroups", "p")))) + `},"vmSize"`
			})(w)
	},
}

// quoteText returns a text as JSON and YAML have it.
func quoteText(text string) string {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err) // A text always marshals.
	}
	return string(raw)
}

// refusal is the text in the status of an object after a refusal: a denial, or the reason of a spec that is refused as
// a whole.
var refusal = regexp.MustCompile(`is not the Cluster's|leads to another path|is not an ID|"reason":"(InvalidConfiguration|NotSupported)"`)

// TestSpellings lets objects of every kind name a resource of others in every spelling, with an identity that is lent.
func TestSpellings(t *testing.T) {
	for _, kind := range slices.Sorted(maps.Keys(naming)) {
		t.Run(kind, func(t *testing.T) {
			for _, name := range slices.Sorted(maps.Keys(spellings)) {
				t.Run(name, func(t *testing.T) {
					checkHeld(t, kind, refusal, func(w *world) { naming[kind](w, spellings[name]) })
				})
			}
		})
	}
}

// TestVariants lets objects of every kind try to reach resources of others by further fields, with an identity that is lent.
func TestVariants(t *testing.T) {
	for _, kind := range slices.Sorted(maps.Keys(variants)) {
		t.Run(kind, func(t *testing.T) {
			for name, try := range variants[kind] {
				if try.message == nil {
					try.message = refusal
				}
				t.Run(name, func(t *testing.T) { checkHeld(t, kind, try.message, try.do) })
			}
		})
	}
}

// checkHeld has a tenant try something, and waits until the status of the object has a text. Nothing of others is changed, and nothing that exists in
// Azure names it.
func checkHeld(t *testing.T, kind string, message *regexp.Regexp, do func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, nil)
		w.PutAsUser(foreignPath("Microsoft.Network/virtualNetworks", "hub"), "2024-05-01",
			map[string]any{"location": "eastus",
				"properties": map[string]any{"addressSpace": map[string]any{"addressPrefixes": []any{"172.16.0.0/16"}}}})
		ofOthers := func() []string {
			return slices.DeleteFunc(w.Azure.ListResources(), func(id string) bool { return !strings.Contains(id, "theirs") })
		}
		before := ofOthers()
		w.startManager()
		do(w)
		of := emptyObjects()[kind]
		if kind == "AzureManagedMachinePool" {
			of.name = "k1-pool1"
		}
		for deadline := time.Now().Add(time.Hour); ; virtual.WaitForSignal(w.Kubernetes.Changed, time.Second) {
			w.ReadObject(of.object, of.name)
			if status := harness.EncodeStatus(of.object); message.MatchString(status) {
				break
			} else if time.Now().After(deadline) {
				t.Fatalf("the status does not have %q: %s", message, status)
			}
		}
		virtual.WaitForSignal(nil, 20*time.Minute)
		if diff := cmp.Diff(before, ofOthers()); diff != "" {
			t.Errorf("resources of others (-before +after):\n%s", diff)
		}
		for _, resource := range w.Sim.State() {
			raw, err := json.Marshal(resource)
			if err != nil {
				t.Fatal(err)
			}
			if id, _ := resource["id"].(string); !strings.Contains(id, "/theirs") && strings.Contains(strings.ToLower(string(raw)), "theirs") {
				t.Errorf("it was created: %s", raw)
			}
		}
	})
}

// TestCounts compares the counts in the table of attempts with the variants that are tried.
func TestCounts(t *testing.T) {
	page, err := os.ReadFile("../../docs/design/tenancy-attempts.md")
	if err != nil {
		t.Fatal(err)
	}
	inBook := func(test, kind string, tried int) {
		row := regexp.MustCompile(`(\d+) (?:spellings|fields)[^|]* \| ` + "`test/tenancy " + test + "/" + kind + "`").FindSubmatch(page)
		if row == nil || string(row[1]) != strconv.Itoa(tried) {
			t.Errorf("%s of %s: %d are tried, and the book has the row %q", test, kind, tried, row)
		}
	}
	for kind := range naming {
		inBook("TestSpellings", kind, len(spellings))
	}
	for kind, tried := range variants {
		inBook("TestVariants", kind, len(tried))
	}
	if len(spellings) < 10 {
		t.Errorf("%d spellings are tried, want at least 10 of each kind", len(spellings))
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(above)), slices.Sorted(maps.Keys(naming))); diff != "" {
		t.Errorf("kinds (-want), and those that are tried (+got):\n%s", diff)
	}
}
