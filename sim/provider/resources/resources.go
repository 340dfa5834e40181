// Package resources simulates Microsoft.Resources: resource groups and their deletion, and deployments of templates
// to them.
//
// Its promise: a template is deployed as far as its resources are supported, each after its dependencies, and parts
// of a template that are not supported here are refused by name. See package template for the language.
package resources

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// Provider returns the resource provider.
func Provider() *provider.Provider {
	return &provider.Provider{Namespace: "Microsoft.Resources", Types: []*provider.Type{resourceGroup(), deploymentType()}}
}

// Azure keeps trying for 15 minutes. Source: https://learn.microsoft.com/azure/azure-resource-manager/management/delete-resource-group
const (
	giveUpAfter = 15 * time.Minute
	sweepEvery  = 10 * time.Second
	afterSweep  = 15 * time.Second
)

var groupName = regexp.MustCompile(`^[-\p{L}\p{N}_().]{0,89}[-\p{L}\p{N}_()]$`)

func resourceGroup() *provider.Type {
	return &provider.Type{
		Name:             "Microsoft.Resources/resourceGroups",
		APIVersions:      []string{"2025-04-01", "2024-11-01", "2021-04-01", "2020-06-01", "2019-10-01", "2018-05-01"},
		Style:            provider.Group,
		Create:           provider.Timing{HTTP: 1200 * time.Millisecond},
		Delete:           provider.Timing{HTTP: 300 * time.Millisecond, LRO: 5 * time.Second, Spread: 0.2},
		DeleteRetryAfter: 15,
		Serial:           func(id store.ID) []string { return []string{id.String()} },
		NameRule: func(name string) *provider.Error {
			if groupName.MatchString(name) {
				return nil
			}
			return provider.Errorf(400, "InvalidResourceGroup",
				"The provided resource group name '%s' has these invalid characters or is too long. The name can be 1 to 90 characters of letters, digits, '_', '-', '.', '(' and ')', and cannot end with '.'.", name)
		},
		Prepare: func(c *provider.Call, d *provider.Draft) error {
			if d.Old != nil && body.Has(d.Old, "managedBy") {
				body.Default(d.New, "managedBy", d.Old["managedBy"])
			}
			d.New["properties"] = body.Object{}
			return nil
		},
		Patch:      func(c *provider.Call, d *provider.Draft) error { return nil },
		WaitDelete: deleteContents,
	}
}

// roleAssignments exist until the deletion of their group ends: recording Test_Authorization_v1api20200801preview_CreationAndDeletion of the
// Azure Service Operator v2.13.0 reads one meanwhile.
const roleAssignments = "Microsoft.Authorization/roleAssignments"

// deleteContents deletes the resources of the group in rounds until none is left: a resource that is still in use is deleted
// in a later round. When 15 minutes bring no progress the group stays and the operation fails, as Azure's does.
func deleteContents(c *provider.Call, op *store.Operation, r *store.Resource) error {
	if op.Data == nil {
		op.Data = body.Object{}
	}
	left, moving := 0, 0
	var blocked []*provider.Error
	var names []string
	block := func(res *store.Resource, e *provider.Error) {
		id, _ := store.ParseID(res.ID)
		blocked = append(blocked, e.WithTarget(res.ID))
		names = append(names, id.Type()+"/"+id.Name())
	}
	var assignments []string
	for _, res := range c.List("", r.ID) {
		if c.Get(res.ID) == nil {
			continue
		}
		if isNested(c, res) {
			continue
		}
		if strings.EqualFold(res.Type, roleAssignments) {
			assignments = append(assignments, res.ID)
			continue
		}
		left++
		if body.String(res.Body, "properties.provisioningState") == "Deleting" && c.RunningOn(res.ID) != nil {
			moving++
			block(res, provider.Errorf(0, "Conflict", "The resource is still being deleted."))
			continue
		}
		call, err := c.CallOn("DELETE", res.ID)
		if err != nil || call.Type == nil {
			c.Tx.Delete(res.ID)
			continue
		}
		rep, err := call.DeleteResource()
		var refused *provider.Error
		switch {
		case errors.As(err, &refused):
			block(res, provider.Errorf(0, refused.Code, "%s", string(refused.JSON())))
		case err != nil:
			return err
		case rep.Operation != nil:
			moving++
		default:
			left--
		}
	}
	now := c.Now()
	if left == 0 {
		if body.Bool(op.Data, "swept") {
			for _, id := range assignments {
				c.Tx.Delete(id)
			}
			return nil
		}
		op.Data["swept"] = true
		return provider.Again(afterSweep)
	}
	since, _ := time.Parse(time.RFC3339Nano, body.String(op.Data, "since"))
	rounds := body.Int(op.Data, "rounds")
	if moving > body.Int(op.Data, "moving") || left != body.Int(op.Data, "left") || since.IsZero() {
		since, rounds = now, 0
	}
	op.Data["left"], op.Data["moving"], op.Data["since"], op.Data["rounds"] = float64(left), float64(moving), since.Format(time.RFC3339Nano),
		float64(rounds+1)
	patience := c.ScaleDuration(giveUpAfter)
	if moving > 0 {
		patience = max(patience, 2*time.Minute) // a deletion that runs may be slow for reasons the time scale does not shorten
	}
	if rounds >= 3 && now.Sub(since) >= patience {
		e := provider.Errorf(409, "ResourceGroupDeletionBlocked",
			"Deletion of resource group '%s' failed as resources with identifiers '%s' could not be deleted. The provisioning state of the resource group will be rolled back. The tracking Id is '%s'. Please check audit logs for more details.",
			r.Name(), strings.Join(names, ","), op.ID)
		e.Details = blocked
		return e
	}
	return provider.Again(sweepEvery)
}

// isNested reports whether a resource is deleted with its parent, so that it need not be deleted by itself.
func isNested(c *provider.Call, r *store.Resource) bool {
	id, err := store.ParseID(r.ID)
	if err != nil {
		return false
	}
	if len(id.Names) > 1 && c.Get(id.Parent().String()) != nil {
		// Private DNS links and the like must be deleted first. A parent that deletes its children itself does not
		// count them.
		return !strings.Contains(strings.ToLower(fmt.Sprint(id.Types)), "virtualnetworklinks")
	}
	return false
}
