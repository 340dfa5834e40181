package resources

import (
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
	"sigs.k8s.io/cluster-api-provider-azure/sim/template"
)

// hasSucceeded reports whether all resources of a deployment exist.
func (p *Progress) hasSucceeded() bool {
	for _, s := range p.steps {
		if s.State != store.Succeeded {
			return false
		}
	}
	return true
}

// deleteOthers deletes the resources of the group that the template does not have, and waits until they are gone. Resources whose condition is
// false are deleted as well. It fails when some still exist after the time of a group's deletion.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/templates/deployment-modes
func deleteOthers(c *provider.Call, op *store.Operation, t *template.Template) error {
	kept := map[string]bool{}
	for _, r := range t.Resources {
		if !r.Skipped {
			kept[store.Key(r.ID)] = true
		}
	}
	group := "/subscriptions/" + c.ID.Subscription + "/resourceGroups/" + c.ID.ResourceGroup
	var left []string
	var problem error
	for _, other := range c.Children(group) {
		id, err := store.ParseID(other.ID)
		if err != nil || len(id.Names) != 1 || !store.SameID(id.Scope, group) || kept[store.Key(other.ID)] || !isDeletable(c, other) {
			continue
		}
		left = append(left, other.ID)
		if body.String(other.Body, "properties.provisioningState") == "Deleting" {
			continue
		}
		remove, err := c.CallOn("DELETE", other.ID)
		if err == nil {
			remove.APIVersion = remove.Type.ListVersions()[0]
			_, err = remove.DeleteResource()
		}
		if err != nil {
			problem = err // Others may have to go first.
		}
	}
	switch {
	case len(left) == 0:
		return nil
	case c.Now().Sub(op.Started) < c.ScaleDuration(giveUpAfter) || problem == nil:
		return provider.Again(2 * time.Second)
	}
	return provider.Errorf(0, "DeploymentFailed", "Resources could not be deleted: %s. %s", strings.Join(left, ", "), problem.Error())
}

// isDeletable reports whether mode Complete deletes a resource: not deployments, and not what belongs to a scope, such as locks and roles.
func isDeletable(c *provider.Call, r *store.Resource) bool {
	t := c.TypeOf(r.Type)
	return t != nil && !t.Extension && t.Inline == "" && !strings.EqualFold(r.Type, Deployments)
}
