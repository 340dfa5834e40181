package pool_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// newStoredPool returns a pool whose scale set Azure has, as its first plan sent it.
func newStoredPool(t *testing.T, change func(*pool.Input)) pool.Input {
	t.Helper()
	in := readInput(t, "default")
	if change != nil {
		change(&in)
	}
	return storeScaleSet(t, in)
}

// storeScaleSet returns a pool whose scale set Azure has, as the first plan of in sent it.
func storeScaleSet(t *testing.T, in pool.Input) pool.Input {
	t.Helper()
	graph, err := pool.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	applied.Content{Applied: pool.LastApplied(in).PathsBefore(graph)}.Store(in.AzureMachinePool)
	stored, _ := graph.DecodedBody(graph.Node(pool.ScaleSetID(in)))
	tags, _ := stored.(map[string]any)["tags"].(map[string]any)
	in.PoolFacts.ScaleSetExists = true
	in.PoolFacts.BootstrapDataHash, _ = tags[infrav1.CustomDataHashTag].(string)
	if in.PoolFacts.ScaleSet, err = json.Marshal(stored); err != nil {
		t.Fatal(err)
	}
	return in
}

// readSentBody returns the body that a plan sends for the scale set, and its node.
func readSentBody(t *testing.T, in pool.Input) (map[string]any, *arm.Node) {
	t.Helper()
	graph, err := pool.BuildPlan(in)
	if err != nil {
		t.Fatal(err)
	}
	node := graph.Node(pool.ScaleSetID(in))
	body, err := graph.DecodedBody(node)
	if err != nil {
		t.Fatal(err)
	}
	return body.(map[string]any), node
}

var extensionOfUser = infrav1.VMExtension{Name: "agent", Publisher: "Contoso", Version: "1.0"}

// TestNewTemplate finds out whether VMs of the spec differ from those of the scale set in more than bootstrap data and tags.
func TestNewTemplate(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		change func(*pool.Input)
		// want is for a pool that was made here, migrated for the first plan of one that the established provider made.
		want, migrated bool
	}{
		"same": {"nothing was changed", func(*pool.Input) {}, false, false},
		"bootstrap data": {"VMs are brought to the latest model in place",
			func(in *pool.Input) { in.BootstrapData, in.Capacity = []byte("other"), new(4) }, false, false},
		"tags": {"VMs are brought to the latest model in place",
			func(in *pool.Input) { in.AzureMachinePool.Spec.AdditionalTags = infrav1.Tags{"a": "b"} }, false, false},
		"capacity": {"it is no part of the template", func(in *pool.Input) { in.Capacity = new(4) }, false, false},
		"size": {"VMs are restarted for it", func(in *pool.Input) { in.AzureMachinePool.Spec.Template.VMSize = "Standard_D4s_v3" },
			true, true},
		"disk": {"VMs are made anew for it",
			func(in *pool.Input) { in.AzureMachinePool.Spec.Template.OSDisk.DiskSizeGB = new(int32(256)) }, true, false},
		"extension": {"VMs would be changed in place", func(in *pool.Input) {
			in.AzureMachinePool.Spec.Template.VMExtensions = append(in.AzureMachinePool.Spec.Template.VMExtensions,
				infrav1.VMExtension{Name: "x", Publisher: "Contoso", Version: "1.0"})
		}, true, false},
		"extension gone": {"it would be removed from VMs", func(in *pool.Input) { in.AzureMachinePool.Spec.Template.VMExtensions = nil }, true,
			false},
		"held": {"the template waits, and is still another one", func(in *pool.Input) {
			in.AzureMachinePool.Spec.Template.VMSize, in.KeepTemplate = "Standard_D4s_v3", true
		}, true, true},
	} {
		t.Run(name, func(t *testing.T) {
			in := newStoredPool(t, func(in *pool.Input) {
				in.AzureMachinePool.Spec.Template.VMExtensions = []infrav1.VMExtension{extensionOfUser}
			})
			test.change(&in)
			for annotation, want := range map[string]bool{`{"migration":{}}`: test.want, "": test.migrated} {
				found := applied.ReadDifferences(nil)
				if annotation != "" {
					found = applied.ReadDifferences(map[string]string{infrav1.AppliedAnnotation: annotation})
				}
				got, err := pool.ChangesTemplate(in, found)
				if err != nil {
					t.Fatal(err)
				}
				if got != want {
					t.Errorf("%s: another template: %t, migrated %t", test.reason, got, annotation == "")
				}
			}
		})
	}
}

// TestHoldTemplate keeps the template of a scale set as it is while another one waits. The pool still gets larger, with the bootstrap data
// of the moment. What the stored template has of earlier plans stays recorded and in Azure, and goes once the new template is applied.
func TestHoldTemplate(t *testing.T) {
	in := newStoredPool(t, func(in *pool.Input) {
		in.AzureMachinePool.Spec.Template.VMExtensions = []infrav1.VMExtension{extensionOfUser}
	})
	recorded := pool.LastApplied(in).AppliedPaths(pool.ScaleSetID(in))
	const agent = "properties.virtualMachineProfile.extensionProfile.extensions[agent]"
	if !slices.ContainsFunc(recorded, func(path string) bool { return strings.HasSuffix(path, "extensions[agent]") }) {
		t.Fatalf("the extension is not recorded: %v", recorded)
	}
	template := &in.AzureMachinePool.Spec.Template
	template.VMExtensions, template.VMSize,
		template.OSDisk.DiskSizeGB = []infrav1.VMExtension{{Name: "next", Publisher: "Contoso", Version: "1.0"}}, "Standard_D4s_v3",
		new(int32(256))

	in.KeepTemplate = true
	body, node := readSentBody(t, in)
	if diff := cmp.Diff(map[string]any{"name": "Standard_D2s_v3", "tier": "Standard"}, body["sku"]); diff != "" {
		t.Errorf("sku (-want +got):\n%s", diff)
	}
	if properties := body["properties"].(map[string]any); properties["virtualMachineProfile"] != nil {
		t.Errorf("a template is sent: %v", properties["virtualMachineProfile"])
	}
	if len(node.OwnedPaths) > 0 {
		t.Errorf("properties of the stored template are removed: %v", node.OwnedPaths)
	}
	graph, _ := pool.BuildPlan(in)
	state := pool.LastApplied(in).PathsAfter(graph,
		arm.Outcome{Results: []arm.Result{{ID: node.ID, State: arm.Ready, Owned: true, Observed: in.PoolFacts.ScaleSet}}})
	applied.Content{Applied: state}.Store(in.AzureMachinePool)
	if kept := pool.LastApplied(in).AppliedPaths(node.ID); !slices.Equal(slices.DeleteFunc(kept, func(path string) bool { return path == "" }),
		recorded) {
		t.Errorf("recorded are %v, and were %v", kept, recorded)
	}

	in.Capacity, in.BootstrapData = new(4), []byte("renewed")
	body, _ = readSentBody(t, in)
	want := map[string]any{"osProfile": map[string]any{"customData": "cmVuZXdlZA=="}}
	if diff := cmp.Diff(want, body["properties"].(map[string]any)["virtualMachineProfile"]); diff != "" {
		t.Errorf("template with VMs that are added (-want +got):\n%s", diff)
	}
	if got := body["sku"].(map[string]any)["capacity"]; got != json.Number("4") {
		t.Errorf("capacity %v", got)
	}

	in.KeepTemplate = false
	body, node = readSentBody(t, in)
	if !slices.Contains(node.OwnedPaths, agent) || body["sku"].(map[string]any)["name"] != "Standard_D4s_v3" {
		t.Errorf("the new template is not applied whole: owned %v, sku %v", node.OwnedPaths, body["sku"])
	}
}
