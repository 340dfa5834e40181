// Package kubernetesconfiguration simulates Microsoft.KubernetesConfiguration: extensions of managed clusters.
//
// Its promise: an extension goes through the same states as on Azure, gets its identities and a version, fails
// asynchronously when its type is not offered, and is deleted with its cluster. Values of protected settings are
// never returned, only their names.
//
// Source of shapes and rules: module armkubernetesconfiguration v2.2.0 and recordings of the Azure Service Operator.
package kubernetesconfiguration

import (
	"net/http"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Extensions is the full name of the type.
const Extensions = "Microsoft.KubernetesConfiguration/extensions"

// offered are the extension types of Azure itself with the version that auto-upgrade installs. Others come from the marketplace and
// need a plan. Source: https://learn.microsoft.com/azure/aks/cluster-extensions
var offered = map[string]string{
	"microsoft.flux":                         "1.18.5",
	"microsoft.dapr":                         "1.14.4",
	"microsoft.azureml.kubernetes":           "1.1.68",
	"microsoft.dataprotection.kubernetes":    "0.0.3257-642",
	"microsoft.azurecontainerstorage":        "1.3.0",
	"microsoft.azurecontainerstoragev2":      "2.0.0",
	"microsoft.azuremonitor.containers":      "3.1.26",
	"microsoft.azuredefender.kubernetes":     "0.8.0",
	"microsoft.openservicemesh":              "1.2.11",
	"microsoft.azurekeyvaultsecretsprovider": "1.7.0",
	"microsoft.policyinsights":               "1.10.0",
	"microsoft.app.environment":              "1.36.15",
	"microsoft.workloadorchestration":        "1.0.0",
}

// Provider returns the resource provider.
func Provider() *provider.Provider {
	extension := &provider.Type{
		Name: Extensions, APIVersions: []string{"2025-03-01", "2024-11-01", "2023-05-01", "2022-11-01", "2022-07-01", "2022-03-01"},
		Style: provider.Extension, Extension: true, Untracked: true, StateNew: "Creating", DeleteRetryAfter: -1,
		Create: provider.Timing{HTTP: 2 * time.Second, LRO: 90 * time.Second}, Update: provider.Timing{HTTP: time.Second, LRO: 45 * time.Second},
		Delete: provider.Timing{HTTP: time.Second, LRO: 40 * time.Second},
		ReadOnlyPaths: []string{"properties.statuses", "properties.errorInfo", "properties.currentVersion", "properties.isSystemExtension",
			"properties.packageUri", "properties.customLocationSettings", "properties.aksAssignedIdentity.principalId",
			"properties.aksAssignedIdentity.tenantId"},
		Prepare: prepareExtension, Finish: installExtension, View: showNulls,
		Missing: func(c *provider.Call) *provider.Error {
			e := provider.Errorf(404, "ResourceNotFound", "Extension instance with name '%s' not found.", c.ID.Name())
			e.More = body.Object{"additionalInfo": []any{}}
			return e
		},
		Patch: prepareExtension, PatchLRO: provider.Timing{LRO: 45 * time.Second},
		ListFilter: func(c *provider.Call, r *store.Resource) bool {
			id, _ := store.ParseID(r.ID)
			return store.SameID(id.Scope, c.ID.Scope)
		},
	}
	return &provider.Provider{Namespace: "Microsoft.KubernetesConfiguration", Types: []*provider.Type{extension}}
}

func invalidValue(target, format string, args ...any) *provider.Error {
	return provider.Errorf(400, "BadRequest", format, args...).WithTarget(target)
}

func prepareExtension(c *provider.Call, d *provider.Draft) error {
	p := "properties."
	id, err := store.ParseID(d.ID)
	if err != nil {
		return err
	}
	scope, err := store.ParseID(id.Scope)
	if err != nil || !strings.EqualFold(scope.Type(), "Microsoft.ContainerService/managedClusters") {
		return provider.Errorf(400, "InvalidClusterType", "Extensions can be installed on managed clusters, not on '%s'.", id.Scope)
	}
	cluster := c.Get(id.Scope)
	if cluster == nil {
		return provider.ResourceNotFound(scope)
	}
	if body.String(cluster.Body, "properties.powerState.code") == "Stopped" {
		return provider.Errorf(409, "OperationNotAllowed", "The cluster '%s' is stopped. Start it before extensions are changed.", cluster.ID)
	}
	kind := body.String(d.New, p+"extensionType")
	if kind == "" {
		return invalidValue("properties.extensionType", "The property 'extensionType' is required.")
	}
	if was := body.String(d.Old, p+"extensionType"); d.Old != nil && !strings.EqualFold(was, kind) {
		return invalidValue("properties.extensionType", "The extension type of '%s' is '%s' and cannot be changed to '%s'.", d.Name, was, kind)
	}
	body.Set(d.New, p+"extensionType", strings.ToLower(kind))
	if err := checkVersion(d); err != nil {
		return err
	}
	if err := checkScope(d); err != nil {
		return err
	}
	hideProtected(d)
	for k, v := range map[string]any{"configurationSettings": body.Object{}, "configurationProtectedSettings": body.Object{},
		"statuses": []any{}, "isSystemExtension": false} {
		body.Default(d.New, p+k, v)
	}
	if v := body.String(d.Old, p+"currentVersion"); v != "" {
		body.Set(d.New, p+"currentVersion", v)
	}
	if principal := body.String(d.Old, p+"aksAssignedIdentity.principalId"); principal != "" {
		body.Set(d.New, p+"aksAssignedIdentity.principalId", principal)
		body.Set(d.New, p+"aksAssignedIdentity.tenantId", c.Tenant)
	}
	return nil
}

func checkVersion(d *provider.Draft) error {
	p := "properties."
	body.Default(d.New, p+"autoUpgradeMinorVersion", true)
	auto := body.Bool(d.New, p+"autoUpgradeMinorVersion")
	switch {
	case auto && body.String(d.New, p+"version") != "":
		return invalidValue("properties.version", "A version can be pinned only when 'autoUpgradeMinorVersion' is false.")
	case !auto && body.String(d.New, p+"version") == "":
		return invalidValue("properties.version", "A version is required when 'autoUpgradeMinorVersion' is false.")
	case !auto && body.String(d.New, p+"releaseTrain") != "":
		body.Delete(d.New, p+"releaseTrain") // a pinned extension follows no train
	case auto:
		body.Default(d.New, p+"releaseTrain", "Stable")
	}
	return nil
}

func checkScope(d *provider.Draft) error {
	p := "properties.scope"
	scope := body.Child(d.New, p)
	if was := body.Child(d.Old, p); was != nil {
		if scope != nil && (body.Child(scope, "cluster") == nil) != (body.Child(was, "cluster") == nil) {
			return invalidValue(p, "The scope of extension '%s' cannot be changed.", d.Name)
		}
		body.Set(d.New, p, was)
		return nil
	}
	switch {
	case body.Child(scope, "cluster") != nil && body.Child(scope, "namespace") != nil:
		return invalidValue(p, "An extension has either cluster scope or namespace scope, not both.")
	case body.Child(scope, "namespace") != nil:
		if body.String(scope, "namespace.targetNamespace") == "" {
			return invalidValue(p+".namespace.targetNamespace", "Namespace scope needs a target namespace.")
		}
	default:
		kind := body.String(d.New, "properties.extensionType")
		body.Default(d.New, p+".cluster.releaseNamespace", kind[strings.LastIndexByte(kind, '.')+1:]+"-system")
	}
	return nil
}

// hideProtected moves the values of protected settings to a place that is never shown; their names stay.
func hideProtected(d *provider.Draft) {
	p := "properties.configurationProtectedSettings"
	sent := body.Child(d.New, p)
	if sent == nil {
		return
	}
	kept := body.Object{}
	shown := body.Object{}
	old := body.Child(d.Secret, "settings")
	for k, v := range sent {
		shown[k] = ""
		if v == "" && old[k] != nil {
			v = old[k] // a name that was read and is sent back keeps its value
		}
		kept[k] = v
	}
	d.Secret["settings"] = kept
	body.Set(d.New, p, shown)
}

// installExtension installs the extension.
func installExtension(c *provider.Call, _ *store.Operation, r *store.Resource) error {
	p := "properties."
	kind := body.String(r.Body, p+"extensionType")
	version, known := offered[kind]
	if !known && body.Child(r.Body, "plan") == nil {
		e := provider.Errorf(0, "ExtensionOperationFailed",
			"The extension operation failed with the following error: The extension type '%s' is not registered in location '%s' for cluster type 'managedClusters'.", kind, clusterLocation(c, r))
		body.Set(r.Body, p+"errorInfo", e.InnerObject(false))
		body.Set(r.Body, p+"statuses",
			[]any{body.Object{"code": "InstallationFailed", "displayStatus": "Failed", "level": "Error", "message": e.Message,
				"time": c.Now().Format(time.RFC3339)}})
		c.SaveResource(r)
		return e
	}
	if !known {
		version = "1.0.0"
	}
	if pinned := body.String(r.Body, p+"version"); pinned != "" {
		version = pinned
	}
	body.Set(r.Body, p+"currentVersion", version)
	body.Delete(r.Body, p+"errorInfo")
	body.Set(r.Body, p+"statuses", []any{})
	if body.String(r.Body, p+"aksAssignedIdentity.principalId") == "" {
		body.Set(r.Body, p+"aksAssignedIdentity.principalId", c.NewGUID())
		body.Set(r.Body, p+"aksAssignedIdentity.tenantId", c.Tenant) // in recordings of 2026; null before
	}
	return nil
}

func clusterLocation(c *provider.Call, r *store.Resource) string {
	id, _ := store.ParseID(r.ID)
	if cluster := c.Get(id.Scope); cluster != nil {
		return cluster.Location
	}
	return ""
}

// showNulls shows absent values as null, as this provider does.
func showNulls(c *provider.Call, it *provider.Item) {
	provider.ShowUnsigned(it)
	// As recorded: of the identity only answers to writes have something, and not all of them.
	if body.Delete(it.Body, "identity.tenantId"); c.Method != http.MethodPut {
		delete(it.Body, "identity")
	}
	p := body.Child(it.Body, "properties")
	for _, k := range []string{"version", "currentVersion", "releaseTrain", "aksAssignedIdentity"} {
		if _, set := p[k]; !set {
			p[k] = nil
		}
	}
	if id := body.Child(p, "aksAssignedIdentity"); id != nil {
		for _, k := range []string{"type", "tenantId"} {
			if _, set := id[k]; !set {
				id[k] = nil
			}
		}
	}
}
