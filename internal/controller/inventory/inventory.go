// Package inventory keeps the list of an object's Azure resources that cannot say by a tag whose they are, in an
// annotation of the object: annotations survive clusterctl move and backups, status does not.
package inventory

import (
	"encoding/json"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/controller/annotation"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// Of is the inventory of obj. An annotation that cannot be read counts as empty: then nothing of what it named is
// deleted.
func Of(obj client.Object) []arm.ID { return plan.Inventory(obj.GetAnnotations()) }

// Set makes ids the inventory of obj, and leaves obj alone when they are already.
func Set(obj client.Object, ids []arm.ID) {
	if slices.Equal(ids, Of(obj)) {
		return
	}
	value := ""
	if len(ids) > 0 {
		raw, _ := json.Marshal(ids) // A list of strings always marshals.
		value = string(raw)
	}
	annotation.Set(obj, map[string]string{infrav1.InventoryAnnotation: value})
}
