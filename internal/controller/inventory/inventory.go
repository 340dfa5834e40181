// Package inventory keeps the list of an object's Azure resources that cannot say by a tag whose they are, in an
// annotation of the object: annotations survive clusterctl move and backups, status does not.
package inventory

import (
	"encoding/json"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// Of is the inventory of obj. An annotation that cannot be read counts as empty: then nothing of what it named is
// deleted.
func Of(obj client.Object) []arm.ID {
	var ids []arm.ID
	if err := json.Unmarshal([]byte(obj.GetAnnotations()[infrav1.InventoryAnnotation]), &ids); err != nil {
		return nil
	}
	return ids
}

// Set makes ids the inventory of obj, and leaves obj alone when they are already.
func Set(obj client.Object, ids []arm.ID) error {
	if slices.Equal(ids, Of(obj)) {
		return nil
	}
	annotations := obj.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	delete(annotations, infrav1.InventoryAnnotation)
	if len(ids) > 0 {
		raw, err := json.Marshal(ids)
		if err != nil {
			return fmt.Errorf("inventory: %w", err)
		}
		annotations[infrav1.InventoryAnnotation] = string(raw)
	}
	obj.SetAnnotations(annotations)
	return nil
}
