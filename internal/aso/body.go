package aso

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// KeyRef is a key of a Secret or ConfigMap in the namespace of the object that names it.
type KeyRef struct{ Name, Key string }

// ReadKeyRef returns the key in {name, key}. Fields that are missing or no texts are empty.
func ReadKeyRef(value any) KeyRef {
	object, _ := value.(map[string]any)
	name, _ := object["name"].(string)
	key, _ := object["key"].(string)
	return KeyRef{Name: name, Key: key}
}

// ObjectRef refers to another object of ASO by group, kind and name.
type ObjectRef struct{ Group, Kind, Name string }

func readObjectRef(reference map[string]any) ObjectRef {
	group, _ := reference["group"].(string)
	kind, _ := reference["kind"].(string)
	name, _ := reference["name"].(string)
	return ObjectRef{Group: group, Kind: kind, Name: name}
}

// ParseID returns the ID of a resource in a text, if Azure reads the text as it is written.
func ParseID(text string) (arm.ID, bool) {
	id, plain := arm.ParsePlainID(text)
	return id, plain && strings.HasPrefix(text, "/")
}

// NamespaceError rejects a reference with a namespace. References always use the namespace of the object that has them. It returns
// nil for a reference without one.
func NamespaceError(path *field.Path, reference any) *field.Error {
	object, _ := reference.(map[string]any)
	if _, ok := object["namespace"]; !ok {
		return nil
	}
	return field.Forbidden(path.Child("namespace"), "must not be set. It is always the namespace of the object with the manifest.")
}

// Values are the values of keys of Secrets and ConfigMaps. A nil pointer means that values are not looked up.
type Values struct {
	Secrets, ConfigMaps map[KeyRef]string
}

func (v *Values) secrets() map[KeyRef]string {
	if v == nil {
		return nil
	}
	return v.Secrets
}

func (v *Values) configMaps() map[KeyRef]string {
	if v == nil {
		return nil
	}
	return v.ConfigMaps
}

// Body is a body of Azure that was translated from a spec of ASO.
type Body struct {
	// Properties is the body in Azure's format.
	Properties map[string]any
	// References are the resources that the body refers to.
	References []arm.ID
	// Secrets and ConfigMaps are the keys that the body takes values from. An empty key stands for the whole object.
	Secrets, ConfigMaps []KeyRef
	// Missing are the references to things that do not exist.
	Missing []string
	// Unchecked means that the body was not checked against a definition.
	Unchecked bool
}
