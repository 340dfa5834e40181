// Package standin serves the resource types of Azure's definitions that have no provider of their own in the
// simulator.
//
// Its promise: every defined type can be created, read, listed, updated, tagged and deleted as the frame does it for
// every type; its bodies are those that the definitions allow; it needs its parent, its scope and the resources that
// it refers to, and is deleted with them. Facts that are not in the definitions are in a row of a type: its duration
// and the way it reports its progress, Azure's defaults, and generated values that users need. Generated values
// depend only on the resource's ID. A type without a row takes time if it has a provisioning state. The resources
// have no function here, other than on Azure.
//
// Rows name their source. Recordings are those of the Azure Service Operator v2.18.0, SDK modules those of
// github.com/Azure/azure-sdk-for-go/sdk/resourcemanager: a function that begins with "Begin" there is a long-running
// operation.
package standin

import (
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/definition"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// NewProviders returns providers for every defined type that none of the others serves.
func NewProviders(others []*provider.Provider) []*provider.Provider {
	env := &provider.Env{}
	env.Register(others...)
	spaces := map[string]*provider.Provider{}
	var out []*provider.Provider
	for _, d := range definition.Types() {
		if env.TypeOf(d.Name) != nil || d.ReadOnly || notMade[strings.ToLower(d.Name)] || isReadType(env, d.Name) {
			continue
		}
		namespace, _, _ := strings.Cut(d.Name, "/")
		p := spaces[strings.ToLower(namespace)]
		if p == nil {
			p = &provider.Provider{Namespace: namespace}
			spaces[strings.ToLower(namespace)] = p
			out = append(out, p)
		}
		p.Types = append(p.Types, newType(d))
	}
	out = append(out, &provider.Provider{Namespace: "Microsoft.Storage", Types: storageChildTypes()}, deletedVaults())
	for _, t := range slices.Concat(observabilityTypes(), backupTypes()) {
		namespace, _, _ := strings.Cut(t.Name, "/")
		out = append(out, &provider.Provider{Namespace: namespace, Types: []*provider.Type{t}})
	}
	return out
}

// notMade are defined types that are not resources that clients create.
var notMade = map[string]bool{
	// The server answers for the tags of any resource. A template that is not deployed would be misleading: see
	// package resources.
	"microsoft.resources/tags": true, "microsoft.resources/deployments": true,
	// Its names are verbs: a PUT adds to the vault's own policies. https://learn.microsoft.com/rest/api/keyvault/keyvault/vaults/update-access-policy
	"microsoft.keyvault/vaults/accesspolicies": true,
}

// isReadType reports whether a type is a read below another resource or of a location.
func isReadType(env *provider.Env, name string) bool {
	cut := strings.LastIndexByte(name, '/')
	parent := env.TypeOf(name[:cut])
	if parent == nil {
		return strings.HasSuffix(strings.ToLower(name[:cut]), "/locations")
	}
	for key := range parent.Reads {
		if first, _, _ := strings.Cut(key, "/"); strings.EqualFold(first, name[cut+1:]) {
			return true
		}
	}
	return false
}

// kind is a type with the additions of its row.
type kind struct {
	definition.Type
	row
}

func newType(d definition.Type) *provider.Type {
	k := kind{Type: d, row: rows[strings.ToLower(d.Name)]}
	namespace, _, _ := strings.Cut(d.Name, "/")
	t := &provider.Type{
		Name: d.Name, APIVersions: d.Versions, Untracked: !d.Located, NoState: !d.State, Style: styles[strings.ToLower(namespace)],
		NameRule: k.nameRule, Prepare: k.prepareDraft, Patch: k.prepareDraft, View: k.showResource,
		Create: provider.Timing{HTTP: time.Second}, Delete: provider.Timing{HTTP: time.Second},
	}
	if t.Style == "" {
		t.Style = provider.Common
	}
	if d.State {
		t.Create.LRO, t.Delete.LRO, t.PatchLRO.LRO = 10*time.Second, 10*time.Second, 5*time.Second
		t.Update = provider.Timing{HTTP: time.Second, LRO: 5 * time.Second}
		t.StateNew, t.RetryAfter = "Creating", 10
	}
	if d.Etag != "" {
		t.Etag = provider.Quoted
	}
	if strings.Count(d.Name, "/") > 1 && t.Style != provider.Containers {
		t.Serial = func(id store.ID) []string { return []string{id.String()} }
	}
	if k.wire != nil {
		k.wire(t)
	}
	if t.Extension {
		t.ListFilter = func(c *provider.Call, r *store.Resource) bool {
			id, _ := store.ParseID(r.ID)
			return store.SameID(id.Scope, c.ID.Scope)
		}
	}
	return t
}

// styles are those of namespaces whose other types are recorded.
var styles = map[string]provider.Style{
	"microsoft.network": provider.Network, "microsoft.compute": provider.Compute, "microsoft.containerservice": provider.Containers,
	"microsoft.kubernetesconfiguration": provider.Extension,
}

func (k kind) nameRule(name string) *provider.Error {
	if k.AllowsName(name) {
		return nil
	}
	return provider.Errorf(400, "InvalidResourceName", "Resource name '%s' of type '%s' is invalid.", name, k.Name)
}

// makeSynchronous makes every write of a type end at once.
func makeSynchronous(t *provider.Type) {
	t.Create.LRO, t.Update.LRO, t.Delete.LRO, t.PatchLRO.LRO = 0, 0, 0, 0
}

// makeAlwaysOK makes a type synchronous, with status 200 for new resources as well.
func makeAlwaysOK(t *provider.Type) {
	makeSynchronous(t)
	t.AcceptedStatus = 200
}

// setDurations sets how long a type needs.
func setDurations(create, update, remove time.Duration) func(*provider.Type) {
	return func(t *provider.Type) {
		t.Create.LRO, t.Update.LRO, t.PatchLRO.LRO, t.Delete.LRO = create, update, update, remove
	}
}
