package compare_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// randomValue returns JSON values of the shapes in Azure's models.
func randomValue(r *rand.Rand, depth int) any {
	kinds := 7
	if depth <= 0 {
		kinds = 4
	}
	switch r.Intn(kinds) {
	case 0:
		return fmt.Sprintf("text%d", r.Intn(4))
	case 1:
		return json.Number(fmt.Sprint(r.Intn(5)))
	case 2:
		return r.Intn(2) == 0
	case 3:
		return nil
	case 4:
		object := map[string]any{}
		for range r.Intn(4) {
			object[fmt.Sprintf("m%d", r.Intn(6))] = randomValue(r, depth-1)
		}
		return object
	case 5:
		return randomList(r, depth)
	default:
		var list []any
		for range r.Intn(4) {
			list = append(list, fmt.Sprintf("s%d", r.Intn(6)))
		}
		return list
	}
}

func randomList(r *rand.Rand, depth int) []any {
	var list []any
	for _, i := range r.Perm(6)[:r.Intn(4)] {
		list = append(list, map[string]any{"name": fmt.Sprintf("n%d", i), "value": randomValue(r, depth-1)})
	}
	return list
}

func randomBody(r *rand.Rand) map[string]any {
	body := map[string]any{
		"location": "eastus",
		"tags":     map[string]any{fmt.Sprintf("t%d", r.Intn(4)): "v"},
		"properties": map[string]any{
			"securityRules": randomList(r, 2), "other": randomValue(r, 3), "list": randomList(r, 2),
		},
	}
	return body
}

func TestProperties(t *testing.T) {
	row := typeOf(t, types.NetworkSecurityGroup)
	r := rand.New(rand.NewSource(1))
	for range 5000 {
		plan, observed := randomBody(r), randomBody(r)
		want := compare.Desired{Type: row, Body: plan, OwnedPaths: []string{"properties.securityRules[n1]"}, DropTags: []string{"t3"}}

		if differences := compare.Diff(want, plan); len(differences) > 0 {
			t.Fatalf("a body differs from itself: %v", differences)
		}
		merged := compare.MergeBody(want, observed)
		if differences := compare.Diff(want, merged); len(differences) > 0 {
			t.Fatalf("a PUT of the merged body would not converge: %v\nplan %v\nobserved %v\nmerged %v", differences, plan,
				observed, merged)
		}
		if diff := cmp.Diff(merged, compare.MergeBody(want, merged)); diff != "" {
			t.Fatalf("Merge is not idempotent: %s", diff)
		}
		for _, name := range listNames(observed) {
			if name != "n1" && !slices.Contains(listNames(merged), name) {
				t.Fatalf("rule %s of others was lost\nplan %v\nobserved %v\nmerged %v", name, plan, observed, merged)
			}
		}
	}
}

func listNames(body any) []string {
	var out []string
	properties := body.(map[string]any)["properties"].(map[string]any)
	list, _ := properties["securityRules"].([]any)
	for _, item := range list {
		out = append(out, item.(map[string]any)["name"].(string))
	}
	return out
}
