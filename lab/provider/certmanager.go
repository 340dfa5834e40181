package provider

import (
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// StubCertManager are definitions of cert-manager's kinds without a controller. clusterctl creates an Issuer and a
// Certificate to learn whether cert-manager is installed, and would download it otherwise; the lab's certificates are made
// by the lab.
func StubCertManager() []*unstructured.Unstructured {
	var crds []*unstructured.Unstructured
	for _, kind := range []struct{ kind, plural, scope string }{
		{"Certificate", "certificates", "Namespaced"}, {"Issuer", "issuers", "Namespaced"}, {"ClusterIssuer", "clusterissuers", "Cluster"},
	} {
		crds = append(crds, &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "apiextensions.k8s.io/v1",
			"kind":       "CustomResourceDefinition",
			"metadata":   map[string]any{"name": kind.plural + ".cert-manager.io"},
			"spec": map[string]any{
				"group": "cert-manager.io",
				"names": map[string]any{"kind": kind.kind, "listKind": kind.kind + "List", "plural": kind.plural},
				"scope": kind.scope,
				"versions": []any{map[string]any{
					"name": "v1", "served": true, "storage": true,
					"schema": map[string]any{"openAPIV3Schema": map[string]any{"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
				}},
			},
		}})
	}
	return crds
}
