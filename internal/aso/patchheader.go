package aso

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks/armschema"
)

// kindName returns ASO's kind of a patched object.
func kindName(kind Kind) string {
	_, name := GroupKindOf(resourceTypes[kind])
	return name
}

// checkHeader checks apiVersion and kind of a patch. A patch may be a complete ASO object, whose kind and api-version must match.
func (t *patchTranslator) checkHeader(key string, value any) {
	text, ok := value.(string)
	switch {
	case key == "kind" && text != kindName(t.kind):
		t.addProblem(key, "must be %s, or be left out", kindName(t.kind))
	case key == "kind":
	case !ok || !strings.HasPrefix(text, patchGroup()+"/"):
		t.addProblem(key, "must be a version of %s, or be left out", patchGroup())
	case patchVersion(text) == "":
		t.addProblem(key, "is not an API version of Azure: write it in the form %s/%s", patchGroup(), ToVersion(armschema.NewestPreview()))
	case t.kind == AgentPool && patchVersion(text) != t.version:
		t.addProblem(key, "differs from the API version %s of the cluster, which its pools use, too: leave it out, or set it in a patch of the AzureManagedControlPlane", t.version)
	}
}

// ignoredAnnotations are annotations in existing patches that the established provider always reset, so they had no effect.
var ignoredAnnotations = []string{"serviceoperator.azure.com/reconcile-policy", "serviceoperator.azure.com/credential-from"}

// checkMetadata rejects metadata, because no such object exists here.
func (t *patchTranslator) checkMetadata(value any) {
	metadata, ok := t.requireObject("metadata", value)
	if !ok {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(metadata)) {
		path := "metadata." + key
		switch key {
		case "annotations", "labels":
			entries, ok := t.requireObject(path, metadata[key])
			if !ok {
				continue
			}
			for _, name := range slices.Sorted(maps.Keys(entries)) {
				if key == "annotations" && slices.Contains(ignoredAnnotations, name) {
					continue
				}
				t.addProblem(path+"."+name,
					"has no effect, because the provider does not use the Azure Service Operator: write it into metadata.%s of the object that has the patch. Tags in Azure are spec.tags", key)
			}
		case "name", "namespace":
			t.addProblem(path, "cannot be patched: %s", ownedFields[t.kind]["azureName"])
		default:
			t.addProblem(path, "cannot be patched: there is no object of the Azure Service Operator")
		}
	}
}

// readOperatorSpec reads the exports to Secrets and ConfigMaps.
func (t *patchTranslator) readOperatorSpec(path string, value any) {
	if value == nil {
		t.exports = Exports{}
		return
	}
	spec, ok := t.requireObject(path, value)
	if !ok {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(spec)) {
		here := path + "." + key
		switch {
		case key == "secretExpressions" || key == "configMapExpressions":
			if spec[key] != nil {
				t.addProblem(here, "is computed by the Azure Service Operator, which the provider does not use: %s", exportHints[t.kind])
			}
		case t.kind == ManagedCluster && key == "secrets":
			t.readDestinations(here, spec[key], "Secret", map[string]**KeyRef{
				AdminCredentials: &t.exports.AdminCredentials, UserCredentials: &t.exports.UserCredentials,
			})
		case t.kind == ManagedCluster && key == "configMaps":
			t.readDestinations(here, spec[key], "ConfigMap", map[string]**KeyRef{
				OIDCIssuerProfile: &t.exports.OIDCIssuerProfile, PrincipalID: &t.exports.PrincipalID,
			})
		default:
			t.addProblem(here, "is not known; %s", exportHints[t.kind])
		}
	}
}

var exportHints = map[Kind]string{
	ManagedCluster: "the exports are secrets." + AdminCredentials + ", secrets." + UserCredentials + ", configMaps." + OIDCIssuerProfile +
		" and configMaps." + PrincipalID,
	AgentPool: "agent pools have no exports",
}

func (t *patchTranslator) readDestinations(path string, value any, what string, known map[string]**KeyRef) {
	if value == nil {
		for _, destination := range known {
			*destination = nil
		}
		return
	}
	object, ok := t.requireObject(path, value)
	if !ok {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(object)) {
		destination, ok := known[key]
		switch {
		case !ok:
			t.addProblem(path+"."+key, "is not known; names are %s", strings.Join(slices.Sorted(maps.Keys(known)), ", "))
		case object[key] == nil:
			*destination = nil
		default:
			if ref, ok := t.readKeyRef(path+"."+key, object[key], what); ok {
				*destination = &ref
			}
		}
	}
	var seen []KeyRef
	for _, key := range slices.Sorted(maps.Keys(known)) {
		if destination := *known[key]; destination != nil {
			if slices.Contains(seen, *destination) {
				t.addProblem(path+"."+key, "has the same destination as another one: choose another name or key")
			}
			seen = append(seen, *destination)
		}
	}
}
