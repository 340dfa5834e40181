package specfield_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

func TestNaming(t *testing.T) {
	type object = map[string]any
	const id = "/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/disks/d"
	tests := map[string]struct {
		reason string
		spec   object
		want   string
	}{
		"value": {"the field has the ID", object{"image": object{"id": id}}, "spec.image.id"},
		"other letters": {"Azure compares IDs without regard to case",
			object{"disks": []any{object{}, object{"id": "/SUBSCRIPTIONS/S/resourcegroups/G/providers/microsoft.compute/DISKS/d/"}}},
			"spec.disks[1].id"},
		"provider ID": {"users write provider IDs of Kubernetes", object{"providerID": "azure://" + id}, "spec.providerID"},
		"key":         {"Azure has maps with IDs as keys", object{"identities": object{id: object{}}}, "spec.identities"},
		"patch":       {"a patch is a text", object{"patches": []any{"{}", `{"spec": {"id": "` + id + `"}}`}}, "spec.patches[1]"},
		"exact first": {"a field of its own is more exact than a patch", object{"a": "x " + id, "b": id}, "spec.b"},
		"none":        {"names make up the ID", object{"group": "g", "name": "d"}, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := specfield.DecodeSpec(object{"spec": test.spec}).FieldNaming(arm.ID(id)); got != test.want {
				t.Errorf("%s: %q, want %q", test.reason, got, test.want)
			}
		})
	}
}
