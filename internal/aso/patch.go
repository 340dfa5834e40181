package aso

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// Kind is the resource type of a patch.
type Kind = armschema.Kind

const (
	// ManagedCluster and AgentPool are the kinds of patches.
	ManagedCluster = armschema.ManagedCluster
	AgentPool      = armschema.AgentPool
)

// Secrets are the values of keys of Secrets.
type Secrets map[KeyRef]string

// Result is the result of patches on a body.
type Result struct {
	// Body is the patched body. Numbers that patches set are json.Number.
	Body map[string]any
	// Exports are the destinations in the management cluster that the patches set.
	Exports Exports
}

// Exports are destinations from operatorSpec of a managed cluster, nil if no patch sets them.
type Exports struct {
	// AdminCredentials and UserCredentials are keys of Secrets for the kubeconfigs.
	AdminCredentials, UserCredentials *KeyRef
	// OIDCIssuerProfile and PrincipalID are keys of ConfigMaps for the issuer's URL and the principal ID of the cluster's identity.
	OIDCIssuerProfile, PrincipalID *KeyRef
}

// MissingSecretsError means that Secrets or keys in patches do not exist (yet).
type MissingSecretsError struct {
	Refs []KeyRef
}

func (e *MissingSecretsError) Error() string {
	names := make([]string, 0, len(e.Refs))
	for _, ref := range e.Refs {
		names = append(names, fmt.Sprintf("key %q of Secret %q", ref.Key, ref.Name))
	}
	return "patches refer to values that do not exist: " + strings.Join(names, ", ")
}

// CheckPatches returns all errors in the patches. Each error has the index of the patch in its path and the path inside the patch as
// value. version is the api-version of the request. The existence of Secrets is not checked.
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

// ApplyPatches returns the body with the patches applied in order. body is a decoded body of the kind, {"properties": ...} for an
// agent pool. It is not changed. The error contains all errors of CheckPatches or is a MissingSecretsError.
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

// PatchField returns the field with the patches of a kind.
func PatchField(kind Kind) *field.Path {
	if kind == ManagedCluster {
		return field.NewPath("spec", "asoManagedClusterPatches")
	}
	return field.NewPath("spec", "asoManagedClustersAgentPoolPatches")
}

// ReferencedSecrets returns the keys of Secrets in the patches, sorted. Patches that CheckPatches rejects are read as far as
// possible.
func ReferencedSecrets(kind Kind, patches []string) []KeyRef {
	t := translatePatches(kind, APIVersionOf(patches, true), nil, patches, nil)
	slices.SortFunc(t.references, func(a, b KeyRef) int { return strings.Compare(a.Name+"/"+a.Key, b.Name+"/"+b.Key) })
	return slices.Compact(t.references)
}
