package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/misread"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

// misreadSpec finds the texts of an object's spec that Azure would read as another path than they name.
func misreadSpec(obj client.Object) field.ErrorList {
	return misread.Spec(specfield.Of(obj).Decoded())
}
