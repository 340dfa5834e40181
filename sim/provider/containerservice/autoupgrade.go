package containerservice

import (
	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// AutoUpgrade does the work of AKS in a cluster's next maintenance window: it upgrades Kubernetes by the upgrade
// channel and the nodes' image by the node OS channel. Nothing happens when both are up to date or off. The error has
// the reason why neither is possible.
//
// Source: https://learn.microsoft.com/azure/aks/auto-upgrade-cluster
func AutoUpgrade(c *provider.Call, clusterID string) error {
	r := c.Edit(clusterID)
	if r == nil || r.Type != ManagedClusters {
		return provider.Errorf(404, "NotFound", "no managed cluster has the ID %q", clusterID)
	}
	if state := stateOf(c, r); state != store.Succeeded || body.String(r.Body, "properties.powerState.code") == "Stopped" {
		return provider.Errorf(409, "Conflict", "managed cluster %s is %s, and %s; it is not upgraded then", r.ID, state,
			body.String(r.Body, "properties.powerState.code"))
	}
	if err := poolsIdle(c, r.ID); err != nil {
		return err
	}
	running := planeVersion(r)
	target := channelTarget(body.String(r.Body, "properties.autoUpgradeProfile.upgradeChannel"), running, r.Location)
	kubernetes := running.isBefore(target)
	images := body.String(r.Body, "properties.autoUpgradeProfile.upgradeChannel") == "node-image"
	switch body.String(r.Body, "properties.autoUpgradeProfile.nodeOSUpgradeChannel") {
	case "NodeImage", "SecurityPatch":
		images = true
	}
	if !kubernetes && !images {
		return nil
	}
	if images {
		var n int
		c.ReadNote(imageRelease, &n)
		c.SetMeta(imageRelease, n+1)
	}
	if kubernetes {
		body.Set(r.Body, "properties.kubernetesVersion", target.String())
		r.Secret["target"] = target.String()
	}
	c.SaveResource(r)
	for _, p := range poolsOf(c, r.ID) {
		pool := c.Edit(p.ID)
		if kubernetes {
			body.Set(pool.Body, "properties.orchestratorVersion", target.String())
			pool.Secret["target"] = target.String()
		}
		pool.Secret["image"] = latestImage(c, body.Child(pool.Body, "properties"))
		body.Set(pool.Body, "properties.provisioningState", "Upgrading")
		c.SaveResource(pool)
	}
	call, err := c.CallOn("POST", r.ID)
	if err != nil {
		return err
	}
	call.StartOperation("autoupgrade", r.ID, provider.Timing{LRO: provider.Seconds(5)})
	return nil
}

// channelTarget returns the version to which a channel upgrades a version. A minor version is never skipped.
func channelTarget(channel string, running version, location string) version {
	var ga []minor
	for _, m := range offeredMinors(location) {
		if !m.preview && !m.longTerm {
			ga = append(ga, m)
		}
	}
	newest := ga[len(ga)-1].number
	goal := running.minor
	switch channel {
	case "patch":
	case "stable":
		goal = newest - 1
	case "rapid":
		goal = newest
	default:
		return running
	}
	goal = max(running.minor, min(goal, running.minor+1))
	for _, m := range ga {
		if m.number == goal {
			return version{goal, m.last}
		}
	}
	return running
}
