package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

// checkTexts returns the errors in the texts of an object's spec that are the same for all kinds: names and IDs that would change the URL
// path of a request to Azure, and names of network resources and tags that Azure refuses.
func checkTexts(obj client.Object) field.ErrorList {
	spec := specfield.DecodeSpec(obj)
	return append(append(spec.CheckMisread(), spec.CheckNames()...), spec.CheckTags()...)
}
