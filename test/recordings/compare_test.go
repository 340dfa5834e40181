package recordings

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// known are the differences between a PUT and the next GET of a finished resource that the rules do not explain. Each
// is a PUT that the engine would send once and then remember as Azure's normalisation.
var known = []string{
	// The recording contradicts itself: both PUTs were answered with eastus, and the GET shows westus2.
	"Test_MySQLServerWithKubernetesReferenceUserAssignedIdentity userAssignedIdentities/asotest-mi-anmdii location",
}

// TestWhatWasPutIsFoundAgain takes every PUT that Azure accepted of the namespaces that clusters use, and the next GET
// that shows the resource as finished: the comparison must not find a difference.
func TestWhatWasPutIsFoundAgain(t *testing.T) {
	type share struct{ pairs, same int }
	shares := map[string]*share{}
	var differences []string
	all := recordings(t)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		exchanges := all[name]
		for i, put := range exchanges {
			id := arm.ID(put.Path)
			if put.Method != "PUT" || put.Status/100 != 2 || !relevant(id.Type()) {
				continue
			}
			got := finished(exchanges[i+1:], id)
			if got == "" {
				continue
			}
			row, err := types.ForID(id)
			if err != nil {
				row = types.Type{Name: id.Type(), Put: types.PutReplaces, Taggable: true}
			}
			if strings.EqualFold(id.Type(), "Microsoft.Authorization/roleDefinitions") {
				// CustomRole or BuiltInRole; plans have none.
				row.CaseInsensitivePaths = append(slices.Clip(row.CaseInsensitivePaths), "properties.type")
			}
			want := compare.Desired{Type: row, Body: decode(t, put.Body)}
			found := compare.Diff(want, decode(t, got))
			if again := compare.Diff(want, compare.MergeBody(want, decode(t, got))); len(again) > 0 {
				t.Errorf("%s: a PUT of %s would not be found again: %v", name, id.ShortName(), again)
			}
			key := strings.ToLower(id.Type())
			if shares[key] == nil {
				shares[key] = &share{}
			}
			shares[key].pairs++
			if len(found) == 0 {
				shares[key].same++
			}
			for _, difference := range found {
				differences = append(differences, name+" "+id.ShortName()+" "+difference.Path)
			}
		}
	}
	pairs, same := 0, 0
	for _, key := range slices.Sorted(maps.Keys(shares)) {
		t.Logf("%-70s %3d of %3d", key, shares[key].same, shares[key].pairs)
		pairs += shares[key].pairs
		same += shares[key].same
	}
	t.Logf("%d of %d pairs agree (%.1f %%)", same, pairs, 100*float64(same)/float64(pairs))
	if sets := shares["microsoft.compute/virtualmachinescalesets"]; sets == nil || sets.pairs < 5 {
		t.Error("the recordings of scale sets were not read")
	}
	if pairs < 600 {
		t.Errorf("only %d pairs were found, so the recordings were not read as they should be", pairs)
	}
	if !slices.Equal(known, differences) {
		t.Errorf("differences:\n%s\nknown:\n%s", strings.Join(differences, "\n"), strings.Join(known, "\n"))
	}
}

// relevant reports whether clusters use types of this namespace.
func relevant(resourceType string) bool {
	for _, namespace := range []string{"microsoft.network/", "microsoft.compute/", "microsoft.managedidentity/", "microsoft.authorization/",
		"microsoft.resources/resourcegroups"} {
		if strings.HasPrefix(strings.ToLower(resourceType), namespace) {
			return true
		}
	}
	return false
}

// finished returns the next body of the resource without a running operation, unless the resource is written before.
func finished(exchanges []exchange, id arm.ID) string {
	for _, next := range exchanges {
		if !id.Equal(arm.ID(next.Path)) {
			continue
		}
		if next.Method != "GET" {
			return ""
		}
		var body struct {
			Properties struct {
				ProvisioningState string `json:"provisioningState"`
			} `json:"properties"`
		}
		if next.Status != 200 || json.Unmarshal([]byte(next.Answer), &body) != nil {
			continue
		}
		if state := body.Properties.ProvisioningState; state == "" || strings.EqualFold(state, "Succeeded") {
			return next.Answer
		}
	}
	return ""
}

func decode(t *testing.T, body string) any {
	t.Helper()
	value, err := arm.DecodeBody(json.RawMessage(body))
	if err != nil {
		t.Fatalf("%v: %.200s", err, body)
	}
	return value
}
