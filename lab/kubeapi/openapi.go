package kubeapi

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
)

const openAPIRoot = "/openapi/v3"

// openAPI answers requests for OpenAPI v3 documents; nil for any other path.
//
// A document names the operations of each kind and their parameter fieldValidation, which is what kubectl looks for before it leaves the
// validation of a manifest to the server: https://kubernetes.io/docs/reference/using-api/api-concepts/#validation-for-unrecognized-or-duplicate-fields.
// It has no schemas, so kubectl explain shows nothing.
func openAPI(path string) any {
	if path == openAPIRoot {
		paths := object{}
		for _, gv := range groupVersions() {
			paths[strings.TrimPrefix(pathOf(gv), "/")] = object{"serverRelativeURL": openAPIRoot + pathOf(gv)}
		}
		return object{"paths": paths}
	}
	for _, gv := range groupVersions() {
		if path == openAPIRoot+pathOf(gv) {
			return openAPIDocument(gv)
		}
	}
	return nil
}

type object = map[string]any

func openAPIDocument(gv schema.GroupVersion) object {
	paths := object{}
	for _, r := range resources {
		if r.groupVersion() != gv {
			continue
		}
		prefix := pathOf(gv)
		if r.namespaced {
			prefix += "/namespaces/{namespace}"
		}
		paths[prefix+"/"+r.plural] = object{"get": describeOperation(r, "list"), "post": describeOperation(r, "post", "fieldValidation", "dryRun")}
		paths[prefix+"/"+r.plural+"/{name}"] = object{
			"get": describeOperation(r, "get"), "put": describeOperation(r, "put", "fieldValidation", "dryRun"),
			"patch": describeOperation(r, "patch", "fieldValidation", "dryRun"), "delete": describeOperation(r, "delete"),
		}
	}
	return object{"openapi": "3.0.0", "info": object{"title": "Kubernetes", "version": gv.String()}, "paths": paths}
}

// describeOperation returns the description of one request of a kind, with the names of its query parameters.
func describeOperation(r resource, action string, parameters ...string) object {
	described := []object{}
	for _, name := range parameters {
		described = append(described, object{"name": name, "in": "query", "schema": object{"type": "string"}})
	}
	return object{
		"x-kubernetes-action":             action,
		"x-kubernetes-group-version-kind": object{"group": r.group, "version": r.version, "kind": r.kind},
		"parameters":                      described,
		"responses":                       object{"200": object{"description": "OK"}},
	}
}
