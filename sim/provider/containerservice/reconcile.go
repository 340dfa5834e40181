package containerservice

import (
	"strconv"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// How long the stages of AKS take. Creating a cluster and a pool of one node adds up to the 170 s of recordings; a pool on its own
// takes longer than in most of them, which show prepared capacity. An upgrade of the control plane takes five to eight minutes.
const (
	planeTime    = 55 * time.Second
	upgradePlane = 6 * time.Minute
	createTime   = 35 * time.Second // until a scale set has its instances
	createAlone  = 80 * time.Second // the same for a pool of its own, whose capacity is not prepared
	bootTime     = 50 * time.Second // until nodes are ready
	growTime     = 30 * time.Second
	shrinkTime   = 40 * time.Second
	replaceTime  = 100 * time.Second // one node: drain, new image, ready
	settleTime   = 12 * time.Second
	pollTime     = 2 * time.Second
)

// finishCluster carries out a cluster's PUT stage by stage. Every stage may be repeated, so that a PUT after a
// failure continues where the last one stopped.
func finishCluster(c *provider.Call, op *store.Operation, r *store.Resource) error {
	if r.Secret == nil {
		r.Secret = body.Object{}
	}
	if op.Data == nil {
		op.Data = body.Object{}
	}
	for {
		wait, done, err := clusterStage(c, op, r)
		if err != nil {
			c.SaveResource(r)
			failPools(c, r)
			return err
		}
		if done {
			return nil
		}
		if wait > 0 {
			c.SaveResource(r)
			return provider.Again(wait)
		}
	}
}

func clusterStage(c *provider.Call, op *store.Operation, r *store.Resource) (wait time.Duration, done bool, err error) {
	switch body.String(op.Data, "stage") {
	case "":
		op.Data["status"] = "ProvisioningNetworkResources"
		b := &builder{c: c, cl: r}
		b.buildGroup()
		if b.err != nil {
			return 0, false, b.err
		}
		if b.busy {
			return pollTime, false, nil
		}
		op.Data["stage"] = "plane"
		if !body.Bool(r.Secret, "up") {
			op.Data["status"] = "ProvisioningControlPlane"
			return c.DrawDuration(planeTime, 0.2), false, nil
		}
		if target := body.String(r.Secret, "target"); target != body.String(r.Body, "properties.currentKubernetesVersion") {
			op.Data["status"] = "UpgradingControlPlane"
			return c.DrawDuration(upgradePlane, 0.15), false, nil
		}
		op.Data["status"] = "ProvisioningControlPlane"
	case "plane":
		r.Secret["up"] = true
		if target := body.String(r.Secret, "target"); target != "" {
			body.Set(r.Body, "properties.currentKubernetesVersion", target)
		}
		op.Data["stage"] = "pools"
		op.Data["status"] = "ReconcilingDNS" // as updates are recorded; for new pools see creating
	case "pools":
		c.SaveResource(r)
		next := time.Duration(0)
		for _, p := range poolsOf(c, r.ID) {
			if s := body.String(p.Body, "properties.provisioningState"); s == store.Succeeded || s == "Deleting" {
				continue
			}
			pool := c.Edit(p.ID)
			left, err := workOn(c, op, r, pool)
			c.SaveResource(pool)
			if err != nil {
				return 0, false, err
			}
			if left > 0 && (next == 0 || left < next) {
				next = left
			}
		}
		if next > 0 {
			return next, false, nil
		}
		fillProfiles(c, r)
		delete(r.Secret, "doing")
		delete(op.Data, "status")
		return 0, true, nil
	}
	return 0, false, nil
}

// failPools ends the states of pools whose cluster failed.
func failPools(c *provider.Call, cl *store.Resource) {
	for _, p := range poolsOf(c, cl.ID) {
		if body.String(p.Body, "properties.provisioningState") != store.Succeeded {
			setState(c, p.ID, store.Failed)
		}
	}
}

// fillProfiles sets the properties that a cluster shows once a pool needs them: the autoscaler's profile, which
// stays, and the profile of Windows. It also starts the autoscaler of pools that have it now.
func fillProfiles(c *provider.Call, cl *store.Resource) (changed bool) {
	before, p := body.Clone(cl.Body), "properties."
	scaled, windows := body.Child(cl.Body, p+"autoScalerProfile") != nil, false
	for _, r := range poolsOf(c, cl.ID) {
		scaled = scaled || body.Bool(r.Body, p+"enableAutoScaling")
		windows = windows || body.String(r.Body, p+"osType") == "Windows"
		startAutoscaler(c, cl, r)
	}
	for k, v := range autoscalerDefaults {
		if scaled {
			body.Default(cl.Body, p+"autoScalerProfile."+k, v)
		}
	}
	if windows {
		body.Default(cl.Body, p+"windowsProfile.adminUsername", "azureuser")
		body.Default(cl.Body, p+"windowsProfile.enableCSIProxy", true)
	}
	return !body.Equal(before, cl.Body)
}

// finishPool carries out a pool's own PUT.
func finishPool(c *provider.Call, op *store.Operation, r *store.Resource) error {
	if op.Data == nil {
		op.Data = body.Object{}
	}
	cl := clusterOf(c, r.ID)
	if cl == nil {
		return nil
	}
	left, err := workOn(c, op, cl, r)
	if err != nil {
		c.SaveResource(r)
		return err
	}
	if left > 0 {
		c.SaveResource(r)
		return provider.Again(left)
	}
	if edit := c.Edit(cl.ID); fillProfiles(c, edit) {
		c.SaveResource(edit)
	}
	return nil
}

// workOn runs the stages of a pool that are due, and returns the time until the next stage, 0 when the pool has its
// desired state. The stages are kept in the operation, by pool.
func workOn(c *provider.Call, op *store.Operation, cl, pool *store.Resource) (time.Duration, error) {
	at := "work." + pool.Name()
	if due, err := time.Parse(time.RFC3339Nano, body.String(op.Data, at+".due")); err == nil {
		if left := due.Sub(c.Now()); left > 0 {
			return unscaleDuration(c, left), nil
		}
	}
	for range 10000 {
		stage, wait, err := poolStage(c, op, cl, pool, body.String(op.Data, at+".stage"))
		if err != nil {
			return 0, err
		}
		if stage == "done" {
			body.Delete(op.Data, at)
			showFinished(c, cl, pool)
			return 0, nil
		}
		body.Set(op.Data, at+".stage", stage)
		if wait > 0 {
			body.Set(op.Data, at+".due", c.Now().Add(max(c.ScaleDuration(wait), time.Millisecond)).Format(time.RFC3339Nano))
			return wait, nil
		}
	}
	return 0, provider.Errorf(0, "InternalOperationError", "Agent pool %s does not come to rest.", pool.Name())
}

// unscaleDuration returns the duration that Again scales to d.
func unscaleDuration(c *provider.Call, d time.Duration) time.Duration {
	if c.TimeScale <= 0 {
		return time.Millisecond
	}
	return time.Duration(float64(d) / c.TimeScale)
}

// showFinished updates the properties that the pool shows after its operation.
func showFinished(c *provider.Call, cl, pool *store.Resource) {
	body.Set(pool.Body, "properties.currentOrchestratorVersion", body.String(pool.Secret, "target"))
	body.Set(pool.Body, "properties.nodeImageVersion", body.String(pool.Secret, "image"))
	body.Set(pool.Body, "properties.provisioningState", store.Succeeded)
	delete(pool.Secret, "doing")
	noteNew(c, cl, pool)
	syncRoutes(c, cl)
}

// poolStage returns one step of a pool towards its desired state.
func poolStage(c *provider.Call, op *store.Operation, cl, pool *store.Resource, stage string) (string, time.Duration, error) {
	count := body.Int(pool.Body, "properties.count")
	if body.String(pool.Body, "properties.powerState.code") == "Stopped" {
		count = 0
	}
	id := scaleSetID(cl, pool)
	running, parked := splitByPower(c, cl, pool)
	exists := c.Get(id.String()) != nil
	switch stage {
	case "", "check":
		switch {
		case !exists:
			showProgress(op, "")
			if op.Type == AgentPools {
				return "create", c.DrawDuration(createAlone, 0.2), nil
			}
			return "create", c.DrawDuration(createTime, 0.2), nil
		case len(running) < count:
			return "grow", c.DrawDuration(growTime, 0.2), nil
		case len(running) > count:
			return "shrink", c.DrawDuration(shrinkTime, 0.2), nil
		case len(outdatedInstances(c, cl, pool)) > 0:
			if len(running) == 0 {
				noteInstances(pool, parked...)
				return "settle", 0, nil
			}
			return "surge", c.DrawDuration(growTime, 0.2), nil
		case stage == "":
			return "settle", c.DrawDuration(settleTime, 0.2), nil
		}
		return "done", 0, nil
	case "create", "grow":
		if stage == "create" {
			showProgress(op, ": 0/"+strconv.Itoa(count)+" nodes completed")
		}
		if err := addNodes(c, cl, pool, count-len(running), parked); err != nil {
			return "", 0, allocationError(err)
		}
		if stage == "create" {
			return "booted", max(time.Second, c.DrawDuration(bootTime, 0.2)-settleTime), nil
		}
		return "check", c.DrawDuration(bootTime, 0.2), nil
	case "shrink":
		gone := running[max(0, count):]
		if body.String(pool.Body, "properties.scaleDownMode") == "Deallocate" || count == 0 &&
			body.String(pool.Body, "properties.powerState.code") == "Stopped" {
			compute.PowerInstances(c, id, "deallocated", instanceNames(gone)...)
		} else {
			compute.RemoveInstances(c, id, instanceNames(gone)...)
			noteNew(c, cl, pool)
		}
		return "check", provider.Seconds(5), nil
	case "surge":
		if err := addNodes(c, cl, pool, surgeCount(pool, count), nil); err != nil {
			return "", 0, allocationError(err)
		}
		return "replace", c.DrawDuration(replaceTime, 0.15), nil
	case "replace":
		old := outdatedInstances(c, cl, pool)
		batch := old[:min(len(old), surgeCount(pool, count))]
		if len(batch) > 0 {
			noteInstances(pool, batch...)
			compute.UpgradeInstances(c, id, instanceNames(batch)...)
		}
		if len(old) > len(batch) {
			return "replace", c.DrawDuration(replaceTime, 0.15), nil
		}
		return "shrink", c.DrawDuration(settleTime, 0.2), nil // the additional nodes go
	case "booted":
		showProgress(op, ": "+strconv.Itoa(count)+"/"+strconv.Itoa(count)+" nodes completed")
		return "check", settleTime, nil
	case "settle":
		if err := applyNodes(c, cl, pool, len(running)+len(parked)); err != nil {
			return "", 0, allocationError(err)
		}
	}
	return "done", 0, nil
}

// showProgress makes the polls of an operation show the progress of new pools.
func showProgress(op *store.Operation, how string) {
	op.Data["status"] = "CreatingAgentPools" + how
	if op.Type == AgentPools {
		op.Data["status"] = "CreatingAgentPool" + how
	}
}

// addNodes adds running nodes: parked ones first, then new ones.
func addNodes(c *provider.Call, cl, pool *store.Resource, more int, parked []*store.Resource) error {
	start := parked[:max(0, min(len(parked), more))]
	if len(start) > 0 {
		compute.PowerInstances(c, scaleSetID(cl, pool), "running", instanceNames(start)...)
	}
	running, still := splitByPower(c, cl, pool)
	if err := applyNodes(c, cl, pool, len(running)+len(still)+max(0, more-len(start))); err != nil {
		return err
	}
	noteNew(c, cl, pool)
	return nil
}

// allocationError returns AKS's error for a scale set that could not be created.
func allocationError(err error) error {
	e, ok := err.(*provider.Error)
	if !ok {
		return err
	}
	return provider.Errorf(0, "CreateVMSSAgentPoolFailed",
		"AKS encountered an internal error while attempting the requested operation. Code=%q Message=%q", e.Code, e.Message)
}
