package recordings

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// TestUnaskedPropertiesAreNoDrift adds each property that Azure shows unasked in some api-version to the recorded answers of its type: the
// comparison finds no more differences to what was sent than without it.
func TestUnaskedPropertiesAreNoDrift(t *testing.T) {
	raw, err := os.ReadFile("../../sim/provider/unasked.json")
	if err != nil {
		t.Fatal(err)
	}
	var table struct {
		Shown []struct {
			Type, Path string
			Hide       bool
			Value      any
		}
	}
	if err := json.Unmarshal(raw, &table); err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, exchanges := range recordings(t) {
		for i, put := range exchanges {
			id := arm.ID(put.Path)
			if put.Method != "PUT" || put.Status/100 != 2 {
				continue
			}
			got := finished(exchanges[i+1:], id)
			row, err := types.ForID(id)
			if got == "" || err != nil {
				continue
			}
			want := compare.Desired{Type: row, Body: decode(t, put.Body)}
			before := len(compare.Diff(want, decode(t, got)))
			for _, u := range table.Shown {
				if u.Hide || !strings.EqualFold(u.Type, id.Type()) {
					continue
				}
				value := u.Value
				if value == nil {
					value = "generated"
				}
				shown := decode(t, got)
				if !addValue(shown, strings.Split(u.Path, "."), value) {
					continue
				}
				compared++
				if after := compare.Diff(want, shown); len(after) > before {
					t.Errorf("%s with %s: %v", id.ShortName(), u.Path, after)
				}
			}
		}
	}
	t.Logf("%d answers compared", compared)
	if compared < 100 {
		t.Errorf("only %d answers were compared", compared)
	}
}

// addValue adds a value at a path, unless it exists or its parent does not. It reports whether it did.
func addValue(at any, path []string, value any) bool {
	object, ok := at.(map[string]any)
	if !ok {
		return false
	}
	name, isList := strings.CutSuffix(path[0], "[]")
	if len(path) == 1 {
		_, there := object[name]
		object[name] = value
		return !there
	}
	if !isList {
		return addValue(object[name], path[1:], value)
	}
	list, _ := object[name].([]any)
	added := false
	for _, item := range list {
		added = addValue(item, path[1:], value) || added
	}
	return added
}
