package standin

import (
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/definition"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// row has the properties of a type that are not in the definitions.
type row struct {
	// wire sets how the type speaks and how long it takes.
	wire func(*provider.Type)
	// defaults are the values that Azure fills in, by path.
	defaults map[string]any
	// fill sets defaults that depend on other properties, and may refuse the body.
	fill func(c *provider.Call, d *provider.Draft) error
	// unsigned means that recordings have no systemData although it is defined.
	unsigned bool
	// shown adds the values that Azure generates.
	shown func(c *provider.Call, it *provider.Item)
}

func (k kind) prepareDraft(c *provider.Call, d *provider.Draft) error {
	if err := k.checkScope(c, d); err != nil {
		return err
	}
	if err := checkReferences(c, d); err != nil {
		return err
	}
	for path, value := range k.defaults {
		body.Default(d.New, path, value)
	}
	if k.SystemData && !k.unsigned {
		c.SignSystemData(d)
	}
	if k.fill != nil {
		return k.fill(c, d)
	}
	return nil
}

// checkScope refuses an extension of a resource that does not exist.
func (k kind) checkScope(c *provider.Call, d *provider.Draft) error {
	id, err := store.ParseID(d.ID)
	if err != nil || !c.Type.Extension {
		return err
	}
	scope, err := store.ParseID(id.Scope)
	if err != nil || scope.Namespace == "" || c.TypeOf(scope.Type()) == nil || c.FindItem(id.Scope) != nil {
		return err
	}
	return provider.ResourceNotFound(scope)
}

func (k kind) showResource(c *provider.Call, it *provider.Item) {
	if etag, ok := it.Body["etag"]; ok && k.Etag != "" {
		delete(it.Body, "etag")
		it.Body[k.Etag] = etag
	}
	if k.SystemData {
		provider.ShowSystemData(it)
	}
	if k.shown != nil {
		k.shown(c, it)
	}
	definition.HideWriteOnly(k.Name, c.APIVersion, it.Body)
}

// checkReferences refuses a new reference to a resource that does not exist, if the simulator serves its type.
//
// The refusals of data collection rules and of private link services are recorded. All others have the message of the
// gateway, whose answer a provider gets when it reads the referenced resource.
func checkReferences(c *provider.Call, d *provider.Draft) error {
	had := map[string]bool{}
	walkReferences(d.Old, func(id string) { had[store.Key(id)] = true })
	referred := map[string]store.ID{}
	walkReferences(d.New, func(text string) {
		id, err := store.ParseID(text)
		if err != nil || had[store.Key(text)] || id.ResourceGroup == "" || id.Namespace == "" || id.IsCollection() {
			return
		}
		if c.TypeOf(id.Type()) != nil && !strings.HasPrefix(store.Key(text)+"/", store.Key(d.ID)+"/") {
			referred[text] = id
		}
	})
	for _, text := range slices.Sorted(maps.Keys(referred)) {
		id := referred[text]
		if c.Type.Style == provider.Network {
			if _, err := c.RequireReference(text, d.ID, "", ""); err != nil {
				return err
			}
			continue
		}
		switch {
		case c.FindItem(text) != nil:
		case strings.EqualFold(id.Type(), workspaces):
			message := "Log Analytics workspace destination resource with Id '" + text + "' does not exist"
			return provider.Errorf(400, "WorkspaceNotFound", "%s",
				message).WithDetail(provider.Errorf(0, "WorkspaceNotFound", "%s", message).WithTarget("workspaceResourceId"))
		default:
			return provider.ResourceNotFound(id)
		}
	}
	return nil
}

// walkReferences calls seen with every text below properties that looks like a resource's ID.
func walkReferences(of body.Object, seen func(id string)) {
	var walk func(value any)
	walk = func(value any) {
		switch value := value.(type) {
		case string:
			if strings.HasPrefix(strings.ToLower(value), "/subscriptions/") {
				seen(value)
			}
		case []any:
			for _, item := range value {
				walk(item)
			}
		case body.Object:
			for _, item := range value {
				walk(item)
			}
		}
	}
	walk(of["properties"])
}
