package server

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// refuseMove refuses to move resources to another group. Azure moves many types and refuses others; here nothing is moved, and the words are
// those for a type that cannot be. No recording has a move: they are from
// https://learn.microsoft.com/azure/azure-resource-manager/troubleshooting/error-move-resources and the SDK model MoveInfo.
func (x *exchange) refuseMove() error {
	c := x.call
	group, err := x.groupOfPath()
	if err != nil {
		return err
	}
	target := body.String(c.Body, "targetResourceGroup")
	to, err := store.ParseID(target)
	if err != nil || to.ResourceGroup == "" || to.Namespace != "" {
		return provider.GatewayErrorf(400, "InvalidResourceMoveRequest",
			"The target resource group '%s' is not valid: it must be the ID of a resource group.", target)
	}
	if c.Get(to.String()) == nil {
		return provider.ResourceGroupNotFound(to.ResourceGroup)
	}
	ids := body.Strings(c.Body, "resources")
	if len(ids) == 0 {
		return provider.GatewayErrorf(400, "InvalidResourceMoveRequest", "The request has no resources to be moved.")
	}
	refused := provider.GatewayErrorf(409, "ResourceMoveProviderValidationFailed",
		"Resource move validation failed. Please see details. Diagnostic information: timestamp '%s', subscription id '%s', tracking id '%s', request correlation id '%[3]s'.",
		c.Now().Format("20060102T150405Z"), x.segs[1], c.RequestID)
	for _, id := range ids {
		parsed, err := store.ParseID(id)
		if err != nil || !strings.HasPrefix(store.Key(id), store.Key(group.ID)+"/") {
			return provider.GatewayErrorf(400, "InvalidResourceMoveRequest", "The resource '%s' is not in resource group '%s'.", id, group.Name())
		}
		r := c.Get(id)
		if r == nil {
			return provider.ResourceNotFound(parsed)
		}
		refused.Details = append(refused.Details,
			provider.Errorf(0, "ResourceMoveNotSupported", "Resource move is not supported for resource types '%s'.", r.Type).WithTarget(r.ID))
	}
	return refused
}

// exportGroup answers with an empty template of a group, and an error per resource with Azure's text for a type that it
// cannot export, by https://learn.microsoft.com/azure/azure-resource-manager/templates/export-template-portal and the
// SDK model ResourceGroupExportResult.
func (x *exchange) exportGroup() (*provider.Reply, error) {
	c := x.call
	group, err := x.groupOfPath()
	if err != nil {
		return nil, err
	}
	wanted := body.Strings(c.Body, "resources")
	failed := provider.Errorf(0, "ExportTemplateCompletedWithErrors",
		"Export template operation completed with errors. Some resources were not exported. Please see details for more information.")
	for r := range c.Range("", group.ID, "") {
		t := x.s.env.TypeOf(r.Type)
		if t == nil || t.Untracked || t.Extension ||
			!slices.ContainsFunc(wanted, func(id string) bool { return id == "*" || store.SameID(id, r.ID) }) {
			continue
		}
		failed.Details = append(failed.Details,
			provider.Errorf(0, "ResourceTypeSchemaNotFound",
				"The schema of resource type '%s' is not available. Resources of this type will not be exported to the template.",
				r.Type).WithTarget(r.ID))
	}
	out := body.Object{"template": body.Object{
		"$schema": "https://schema.management.azure.com/schemas/2015-01-01/deploymentTemplate.json#", "contentVersion": "1.0.0.0",
		"parameters": body.Object{}, "variables": body.Object{}, "resources": []any{},
	}}
	if failed.Details != nil {
		out["error"] = failed.InnerObject(false)
	}
	return provider.OK(out), nil
}

// groupOfPath returns the resource group that the path begins with.
func (x *exchange) groupOfPath() (*store.Resource, error) {
	group := x.call.Get("/" + strings.Join(x.segs[:4], "/"))
	if group == nil {
		return nil, provider.ResourceGroupNotFound(x.segs[3])
	}
	return group, nil
}
