package specfield_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

type object = map[string]any

func TestCheckMisread(t *testing.T) {
	tests := map[string]struct {
		reason string
		spec   any
		want   []string
	}{
		"dots": {"a URL without the segment names the resources of another path", object{"resourceGroup": "."},
			[]string{"spec.resourceGroup"}},
		"two dots": {"it is the path above", object{"networkSpec": object{"vnet": object{"resourceGroup": ".."}}},
			[]string{"spec.networkSpec.vnet.resourceGroup"}},
		"name of anything": {"every name is a segment of a path", object{"networkSpec": object{"subnets": []any{object{"name": ".."}}}},
			[]string{"spec.networkSpec.subnets[0].name"}},
		"slash in a group":  {"it adds segments", object{"resourceGroupName": "a/../b"}, []string{"spec.resourceGroupName"}},
		"escape in a group": {"a proxy may decode it", object{"nodeResourceGroupName": "a%2f..%2fb"}, []string{"spec.nodeResourceGroupName"}},
		"dot at the end":    {"Azure has no such group", object{"resourceGroup": "a."}, []string{"spec.resourceGroup"}},
		"dot inside":        {"Azure has such groups", object{"resourceGroup": "a.b_(c)-1"}, nil},
		"letters":           {"Azure takes letters of any script", object{"resourceGroup": "größe"}, nil},
		"Kelvin sign": {"its lower case is the letter k, so that the name would be taken for another group's",
			object{"resourceGroup": "\u212A1"}, []string{"spec.resourceGroup"}},
		"ID with dots": {"it names another resource than it shows",
			object{"providerID": "azure:///subscriptions/s/resourceGroups/g/../h/providers/M.C/d/x"}, []string{"spec.providerID"}},
		"ID with an escape": {"a proxy may decode it", object{"id": "/subscriptions/s/resourceGroups/g%2f..%2fh"}, []string{"spec.id"}},
		"ID with a query":   {"it ends the path", object{"id": "/subscriptions/s/resourceGroups/g?x=/providers"}, []string{"spec.id"}},
		"ID": {"this is how Azure writes one",
			object{"id": "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/a.b", "scope": "/subscriptions/s/"}, nil},
		"settings": {"programs in VMs read them, and Azure does not",
			object{"vmExtensions": []any{object{"settings": object{"path": "..", "id": "/subscriptions/s?x"}}}}, nil},
		"documents": {"the target of an SRV record may be the root", object{"resources": []any{object{"spec": object{"target": "."}}}},
			nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, err := range specfield.DecodeSpec(object{"spec": test.spec}).CheckMisread() {
				got = append(got, err.Field)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
	if errs := specfield.DecodeSpec(object{"spec": object{"resourceGroup": strings.Repeat("a", 91)}}).CheckMisread(); len(errs) != 1 {
		t.Errorf("Azure takes 90 characters: %v", errs)
	}
}
