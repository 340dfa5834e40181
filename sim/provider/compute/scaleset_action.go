package compute

import (
	"slices"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// scaleSetActions are POSTs on a scale set for some or all of its instances.
func scaleSetActions() map[string]*provider.Action {
	power := func(state string, boots bool) func(*provider.Call, *store.Resource, *store.Resource) {
		return func(c *provider.Call, _, r *store.Resource) {
			if boots && state == "running" && body.String(r.Secret, "power") == "deallocated" {
				return // restarting a deallocated instance does nothing
			}
			SetPower(c, r, state, boots)
			c.SaveResource(r)
		}
	}
	fresh := func(c *provider.Call, _, r *store.Resource) {
		bootInstance(c, r)
		c.SaveResource(r)
	}
	each := func(seconds float64, needed bool, do func(c *provider.Call, set, r *store.Resource)) *provider.Action {
		return &provider.Action{
			Timing: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(seconds)},
			Start: func(c *provider.Call, set *store.Resource) (*provider.Reply, error) {
				ids, err := instanceIDs(c, set, needed)
				if err != nil {
					return nil, err
				}
				return &provider.Reply{Body: body.Object{"instanceIds": ids}}, nil
			},
			Finish: func(c *provider.Call, op *store.Operation, set *store.Resource) error {
				for _, n := range body.Strings(op.Data, "instanceIds") {
					if r := editInstance(c, set, n); r != nil && !isLeaving(r) {
						do(c, set, r)
					}
				}
				return nil
			},
		}
	}
	remove := each(30, true, nil)
	remove.Start = func(c *provider.Call, set *store.Resource) (*provider.Reply, error) {
		ids, err := instanceIDs(c, set, true)
		if err != nil {
			return nil, err
		}
		for _, n := range ids {
			r := editInstance(c, set, n.(string))
			body.Set(r.Body, "properties.provisioningState", "Deleting")
			c.SaveResource(r)
			leaveScaleSet(c, r)
		}
		return &provider.Reply{Body: body.Object{"instanceIds": ids}}, nil
	}
	remove.Finish = func(c *provider.Call, op *store.Operation, set *store.Resource) error {
		for _, n := range body.Strings(op.Data, "instanceIds") {
			if r := editInstance(c, set, n); r != nil {
				c.EraseTree(r.ID)
			}
		}
		return nil
	}
	remove.Break = func(c *provider.Call, op *store.Operation, set *store.Resource) {
		for _, n := range body.Strings(op.Data, "instanceIds") {
			if r := editInstance(c, set, n); r != nil {
				body.Set(r.Body, "properties.provisioningState", store.Failed)
				c.SaveResource(r)
			}
		}
	}
	manual := each(60, true, upgradeInstance)
	start := manual.Start
	manual.Start = func(c *provider.Call, set *store.Resource) (*provider.Reply, error) {
		if isFlexible(set.Body) {
			return nil, provider.Errorf(409, "OperationNotAllowed",
				"Instances of scale set '%s' with flexible orchestration cannot be upgraded in place; delete and recreate them.", set.Name())
		}
		return start(c, set)
	}
	return map[string]*provider.Action{
		"delete":        remove,
		"manualupgrade": manual,
		"start": each(20, false, func(c *provider.Call, _, r *store.Resource) {
			if body.String(r.Secret, "power") != "running" {
				SetPower(c, r, "running", true)
				c.SaveResource(r)
			}
		}),
		"poweroff":   each(20, false, power("stopped", false)),
		"deallocate": each(45, false, power("deallocated", false)),
		"restart":    each(20, false, power("running", true)),
		"redeploy":   each(60, false, fresh),
		"reimage":    each(60, false, fresh),
		"reimageall": each(60, false, fresh),
	}
}

// instanceIDs reads which instances a POST is for; none or "*" means all that are not protected.
func instanceIDs(c *provider.Call, set *store.Resource, needed bool) ([]any, error) {
	named := body.Strings(c.Body, "instanceIds")
	if len(named) == 0 && needed {
		return nil, provider.MissingProperty("instanceIds")
	}
	all := len(named) == 0 || slices.Contains(named, "*")
	out := []any{}
	if all {
		for _, r := range instancesOf(c, set.ID) {
			if !isProtectedFromSet(r) {
				out = append(out, r.Name())
			}
		}
		return out, nil
	}
	var unknown []string
	for _, n := range named {
		if editInstance(c, set, n) == nil {
			unknown = append(unknown, n)
		}
		out = append(out, n)
	}
	if unknown != nil {
		return nil, provider.InvalidParameter("instanceIds",
			"The provided instanceId %s is not an active Virtual Machine Scale Set VM instanceId.", strings.Join(unknown, ", "))
	}
	return out, nil
}

// instanceActions are POSTs on one instance: those of a VM, as far as instances have them.
func instanceActions() map[string]*provider.Action {
	vm := vmActions()
	out := map[string]*provider.Action{}
	for _, k := range []string{"start", "poweroff", "deallocate", "restart", "redeploy", "reimage", "runcommand", "simulateeviction",
		"attachdetachdatadisks", "retrievebootdiagnosticsdata"} {
		out[k] = vm[k]
	}
	out["start"].Start = func(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
		if body.String(r.Secret, "power") != "deallocated" {
			return nil, nil
		}
		_, err := CheckSize(c, r.ID, body.String(r.Body, "sku.name"), r.Location, body.Strings(r.Body, "zones"), 1,
			strings.EqualFold(body.String(r.Body, "properties.priority"), "Spot"))
		return nil, err
	}
	return out
}
