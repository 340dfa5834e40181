package compute

import (
	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// An instance can be protected from scaling in, or from all that its scale set does to its instances: scaling in, changes of the model, and
// actions on the whole set. Requests that name the instance are for its owner to decide, and so is the deletion of the set.
// https://learn.microsoft.com/azure/virtual-machine-scale-sets/virtual-machine-scale-sets-instance-protection

func isProtectedFromScaleIn(instance *store.Resource) bool {
	return body.Bool(instance.Body, "properties.protectionPolicy.protectFromScaleIn") || isProtectedFromSet(instance)
}

func isProtectedFromSet(instance *store.Resource) bool {
	return body.Bool(instance.Body, "properties.protectionPolicy.protectFromScaleSetActions")
}
