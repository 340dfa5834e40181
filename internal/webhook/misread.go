package webhook

import (
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

// misreadSpec returns an error for each text of an object's spec that would change the URL path of a request to Azure.
func misreadSpec(obj client.Object) field.ErrorList {
	return specfield.DecodeSpec(obj).CheckMisread()
}
