package applied

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// maxSize bounds the value of the annotation. It is the limit of Kubernetes for all annotations of an object, so no stored value is
// longer.
const maxSize = validation.TotalAnnotationSizeLimitB

// Content is the content of the annotation of one object.
type Content struct {
	// Applied has the paths that plans sent, nil if none was stored.
	Applied Paths `json:"applied,omitzero"`
	// Inventory lists the resources that cannot carry ownership tags.
	Inventory Inventory `json:"inventory,omitzero"`
	// OwnerID is the ID from which the owner tag is computed, "" on objects whose ID marks no resources.
	OwnerID string `json:"ownerID,omitzero"`
	// Subscription is that of the object's resources, once one was seen in Azure. It is "" for kinds whose spec cannot change it.
	Subscription string `json:"subscription,omitzero"`
	// Migration is nil until the first reconciliation of an object of the established provider has read all its resources.
	Migration *Migration `json:"migration,omitzero"`

	// damaged means that at least a part of the stored value could not be decoded.
	damaged bool
}

// Paths are lists of JSON pointers by the IDs of resources without the subscription and "/resourceGroups/". The ID "*" has the tags of
// all resources.
type Paths map[string][]string

// Migration is the result of the first reconciliation. Kept are hashes of the differences that stay in Azure, by resource. It is nil for
// an object that was created under this provider.
type Migration struct {
	Kept map[string][]string `json:"kept,omitzero"`
}

// Read returns the content of the annotation of an object. An object without the annotation has the content of the keys of v2.0.0-alpha.
//
// Parts of a value that cannot be decoded are missing from the content, so they prove nothing and remove nothing. The others count: a
// damaged part must not leave the resources of the others in Azure. A damaged value without a result of the migration counts as that of
// an object that was created under this provider, so that all differences are repaired.
func Read(annotations map[string]string) Content {
	stored := annotations[infrav1.AppliedAnnotation]
	if stored == "" {
		return readFormer(annotations)
	}
	var c Content
	if decodeSound(stored, &c) {
		return c
	}
	return readParts(stored)
}

// ReadOwnerID returns the owner ID of an object. It decodes nothing else: plans need it for the tags of each resource.
func ReadOwnerID(annotations map[string]string) string {
	var part struct {
		OwnerID string `json:"ownerID"`
	}
	if decodeSound(annotations[infrav1.AppliedAnnotation], &part) {
		return part.OwnerID
	}
	return Read(annotations).OwnerID
}

// readParts returns the parts of a damaged value that can be decoded.
func readParts(stored string) Content {
	d := &decoder{}
	all := d.object(d.decode(stored))
	inventory := d.object(all["inventory"])
	c := Content{
		Applied:   d.lists(all["applied"]),
		Inventory: Inventory{Object: d.text(inventory["object"]), Created: d.ids(inventory["created"]), Adopted: d.ids(inventory["adopted"])},
		OwnerID:   d.text(all["ownerID"]), Subscription: d.text(all["subscription"]),
	}
	if migration := d.object(all["migration"]); migration != nil {
		c.Migration = &Migration{Kept: d.lists(migration["kept"])}
	} else if d.damaged {
		c.Migration = &Migration{}
	}
	c.damaged = d.damaged
	return c
}

// Store writes the content to the annotation of an object, with the members that only a later release knows, removes the keys of
// v2.0.0-alpha, and reports whether the object changed.
func (c Content) Store(obj metav1.Object) (changed bool) {
	annotations := maps.Clone(obj.GetAnnotations())
	if annotations == nil {
		annotations = map[string]string{}
	}
	if value := c.encode(annotations[infrav1.AppliedAnnotation]); value == "{}" {
		_, changed = annotations[infrav1.AppliedAnnotation]
		delete(annotations, infrav1.AppliedAnnotation)
	} else if annotations[infrav1.AppliedAnnotation] != value {
		changed = true
		annotations[infrav1.AppliedAnnotation] = value
	}
	if changed = removeFormer(annotations) || changed; changed {
		obj.SetAnnotations(annotations)
	}
	return changed
}

// IsStored returns true if the annotations show that a plan existed, of this provider or the established one, or that resources were
// created. A damaged value shows it, too.
func IsStored(annotations map[string]string) bool {
	c := Read(annotations)
	return c.damaged || c.Applied != nil || c.Inventory.isStored() || hasEstablished(annotations)
}
