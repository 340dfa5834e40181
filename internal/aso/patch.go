package aso

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// Kind is what a patch is for.
type Kind = armschema.Kind

// The kinds of patches.
const (
	ManagedCluster = armschema.ManagedCluster
	AgentPool      = armschema.AgentPool
)

// SecretRef names a key of a Secret in the namespace of the patched object.
type SecretRef struct {
	Name, Key string
}

func (r SecretRef) String() string { return fmt.Sprintf("key %q of Secret %q", r.Key, r.Name) }

// Secrets are the values of keys of Secrets.
type Secrets map[SecretRef]string

// Result is what patches make of a body.
type Result struct {
	// Body is the patched body. Numbers that patches set are json.Number.
	Body map[string]any
	// Exports is what the patches want written into the cluster besides.
	Exports Exports
}

// Exports are destinations from readOperatorSpec of a managed cluster; nil where no patch names one.
type Exports struct {
	// AdminCredentials and UserCredentials are keys of Secrets for the kubeconfigs.
	AdminCredentials, UserCredentials *Destination
	// OIDCIssuerProfile and PrincipalID are keys of ConfigMaps for the issuer's URL and the principal ID of the cluster's identity.
	OIDCIssuerProfile, PrincipalID *Destination
}

// Destination is a key of a Secret or ConfigMap in the namespace of the patched object.
type Destination struct {
	Name, Key string
}

// MissingSecretsError tells that Secrets or keys that patches name do not exist (yet).
type MissingSecretsError struct {
	Refs []SecretRef
}

func (e *MissingSecretsError) Error() string {
	names := make([]string, 0, len(e.Refs))
	for _, ref := range e.Refs {
		names = append(names, ref.String())
	}
	return "patches name what does not exist: " + strings.Join(names, ", ")
}

// CheckPatches finds every problem of the patches, at the index of the patch in path and with the path inside the patch as value. version is
// the API version that is spoken. Whether Secrets exist is not looked at.
func CheckPatches(kind Kind, version string, patches []string, path *field.Path) field.ErrorList {
	var out field.ErrorList
	for _, problem := range translatePatches(kind, version, nil, patches, nil).problems {
		at := problem.path
		if at == "" {
			at = "(the patch)"
		}
		out = append(out, field.Invalid(path.Index(problem.index), at, problem.message))
	}
	return out
}

// ApplyPatches gives the body with the patches applied in order. body is a decoded body of the kind, {"properties": ...} for an
// agent pool; it is not changed. The error has all that Check finds, or is a MissingSecretsError.
func ApplyPatches(kind Kind, version string, body map[string]any, patches []string, secrets Secrets) (Result, error) {
	if secrets == nil {
		secrets = Secrets{}
	}
	t := translatePatches(kind, version, body, patches, secrets)
	if len(t.problems) > 0 {
		return Result{}, CheckPatches(kind, version, patches, PatchField(kind)).ToAggregate()
	}
	if len(t.missing) > 0 {
		return Result{}, &MissingSecretsError{Refs: t.missing}
	}
	return Result{Body: t.body, Exports: t.exports}, nil
}

// PatchField is the field that has the patches of a kind.
func PatchField(kind Kind) *field.Path {
	if kind == ManagedCluster {
		return field.NewPath("spec", "asoManagedClusterPatches")
	}
	return field.NewPath("spec", "asoManagedClustersAgentPoolPatches")
}

// ReferencedSecrets are the keys of Secrets that the patches name, sorted. Patches that Check refuses are read as far as they can be.
func ReferencedSecrets(kind Kind, patches []string) []SecretRef {
	t := translatePatches(kind, APIVersionOf(patches, true), nil, patches, nil)
	slices.SortFunc(t.references, func(a, b SecretRef) int { return strings.Compare(a.Name+"/"+a.Key, b.Name+"/"+b.Key) })
	return slices.Compact(t.references)
}
