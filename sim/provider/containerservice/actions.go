package containerservice

import (
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider/compute"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// actionStates are the provisioning states shown while an action runs.
var actionStates = map[string]string{
	"stop": "Stopping", "start": "Starting", "rotateclustercertificates": "RotatingClusterCertificates",
	"upgradenodeimageversion": "UpgradingNodeImageVersion", "autoupgrade": "Upgrading", "deletemachines": "Deleting",
}

// Stopping and starting take about as long as their VMs and the control plane do.
var (
	stopTime   = provider.Timing{HTTP: provider.Seconds(2), LRO: 3 * time.Minute}
	startTime  = provider.Timing{HTTP: provider.Seconds(2), LRO: 3 * time.Minute}
	rotateTime = provider.Timing{HTTP: provider.Seconds(2), LRO: 8 * time.Minute}
	runTime    = provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(12)}
)

func clusterActions() map[string]*provider.Action {
	return map[string]*provider.Action{
		"listclusteradmincredential":          {Timing: provider.Timing{HTTP: provider.Seconds(0.5)}, Start: adminCredential},
		"listclusterusercredential":           {Timing: provider.Timing{HTTP: provider.Seconds(0.5)}, Start: userCredential},
		"listclustermonitoringusercredential": {Timing: provider.Timing{HTTP: provider.Seconds(0.5)}, Start: monitoringCredential},
		"stop":                                {Timing: stopTime, Start: idleCluster(false), Finish: endPowerChange("Stopped", "deallocated")},
		"start":                               {Timing: startTime, Start: idleCluster(true), Finish: endPowerChange("Running", "running")},
		"rotateclustercertificates": {Timing: rotateTime, Start: idleCluster(false),
			Finish: func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
				delete(r.Secret, "ca")
				return makeCA(r.Secret)
			}},
		"abort":      {Timing: provider.Timing{HTTP: provider.Seconds(1)}, Start: abortOperation},
		"runcommand": {Timing: runTime, Start: checkCommand, Finish: runCommand},
		"autoupgrade": {Start: func(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
			return nil, provider.ResourceNotFound(c.ID) // AKS does this by itself, callers cannot ask for it
		}, Finish: func(c *provider.Call, op *store.Operation, r *store.Resource) error { return finishCluster(c, op, r) }},
	}
}

// idleCluster lets an action start only when no pool is busy and the cluster runs, or is stopped.
func idleCluster(stopped bool) func(*provider.Call, *store.Resource) (*provider.Reply, error) {
	return func(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
		if err := poolsIdle(c, r.ID); err != nil {
			return nil, err
		}
		if !stopped && body.String(r.Body, "properties.powerState.code") == "Stopped" {
			return nil, badRequest("The managed cluster %s is stopped already.", r.Name())
		}
		return nil, nil
	}
}

// endPowerChange ends a stop or start: the machines go with the cluster.
func endPowerChange(code, machines string) func(*provider.Call, *store.Operation, *store.Resource) error {
	return func(c *provider.Call, _ *store.Operation, r *store.Resource) error {
		body.Set(r.Body, "properties.powerState.code", code)
		for _, p := range poolsOf(c, r.ID) {
			pool := c.Edit(p.ID)
			id := scaleSetID(r, pool)
			list := compute.ListInstances(c, id)
			if code == "Running" {
				if body.String(pool.Secret, "stopped") == "" {
					continue // was stopped by itself before
				}
				delete(pool.Secret, "stopped")
				list = list[:min(len(list), body.Int(pool.Body, "properties.count"))]
			} else if body.String(pool.Body, "properties.powerState.code") == "Running" {
				pool.Secret["stopped"] = "with the cluster"
			}
			if len(list) > 0 {
				compute.PowerInstances(c, id, machines, instanceNames(list)...)
			}
			body.Set(pool.Body, "properties.powerState.code", code)
			c.SaveResource(pool)
		}
		return nil
	}
}

func checkCommand(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
	if body.Bool(r.Body, "properties.apiServerAccessProfile.disableRunCommand") {
		return nil, badRequest("Run command is disabled on managed cluster %s.", r.Name())
	}
	if body.String(c.Body, "command") == "" {
		return nil, invalidParameter("command", "A command is required")
	}
	if body.String(r.Body, "properties.powerState.code") == "Stopped" {
		return nil, newRefusal(409, "OperationNotAllowed", "Operation is not allowed because the managed cluster %s is stopped.", r.Name())
	}
	return nil, nil
}

// runCommand ends a command with empty output: the simulator does not run kubectl.
func runCommand(c *provider.Call, op *store.Operation, _ *store.Resource) error {
	at := op.Started.Format(time.RFC3339)
	op.Result = body.Object{"id": op.ID,
		"properties": body.Object{"provisioningState": store.Succeeded, "exitCode": 0.0, "startedAt": at,
			"finishedAt": c.Now().Format(time.RFC3339), "logs": ""}}
	return nil
}

func poolActions() map[string]*provider.Action {
	return map[string]*provider.Action{
		"upgradenodeimageversion": {Timing: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(3)},
			Start: func(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
				return nil, clusterIdle(c, clusterOf(c, r.ID))
			}, Finish: func(c *provider.Call, op *store.Operation, r *store.Resource) error {
				if op.Data == nil {
					op.Data = body.Object{}
					r.Secret["image"] = latestImage(c, body.Child(r.Body, "properties"))
				}
				return finishPool(c, op, r)
			}},
		"deletemachines": {Timing: provider.Timing{HTTP: provider.Seconds(1), LRO: provider.Seconds(40)}, Start: chooseMachines,
			Finish: deleteMachines},
		"abort": {Timing: provider.Timing{HTTP: provider.Seconds(1)}, Start: abortOperation},
		"autoscale": {Start: func(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
			return nil, provider.ResourceNotFound(c.ID) // the cluster autoscaler does this by itself
		}, Finish: finishAutoscale},
	}
}

// abortOperation ends the running operation where it is.
func abortOperation(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
	op := c.RunningOn(r.ID)
	if op == nil {
		return nil, badRequest("There is no operation in progress on %s that could be aborted.", r.Name())
	}
	op = c.Operation(op.ID)
	op.Status, op.Ended = store.Canceled, c.Now()
	op.Error = body.Object{"code": "OperationCanceled", "message": "The operation was aborted."}
	c.PutOperation(op)
	ids := []string{r.ID}
	for _, p := range poolsOf(c, r.ID) {
		if body.String(p.Body, "properties.provisioningState") != store.Succeeded {
			ids = append(ids, p.ID)
		}
	}
	for _, id := range ids {
		setState(c, id, store.Canceled)
	}
	return &provider.Reply{Status: 204}, nil
}

// chooseMachines notes which machines of a pool are to go.
func chooseMachines(c *provider.Call, r *store.Resource) (*provider.Reply, error) {
	cl := clusterOf(c, r.ID)
	if err := clusterIdle(c, cl); err != nil {
		return nil, err
	}
	names := body.Strings(c.Body, "machineNames")
	here := map[string]bool{}
	for _, m := range compute.ListInstances(c, scaleSetID(cl, r)) {
		here[body.String(m.Body, "properties.osProfile.computerName")] = true
	}
	for _, n := range names {
		if !here[n] {
			return nil, invalidParameter("machineNames", "Agent pool %s has no machine '%s'", r.Name(), n)
		}
	}
	if count := body.Int(r.Body, "properties.count"); len(names) == 0 || body.String(r.Body, "properties.mode") == "System" &&
		len(names) >= count {
		return nil, invalidParameter("machineNames", "Between 1 and %d machines can be deleted of agent pool %s, not %d", count, r.Name(),
			len(names))
	}
	n := c.Edit(r.ID)
	body.Set(n.Secret, "doomed", names)
	c.SaveResource(n)
	return nil, nil
}

func deleteMachines(c *provider.Call, _ *store.Operation, r *store.Resource) error {
	cl := clusterOf(c, r.ID)
	doomed := map[string]bool{}
	for _, n := range body.Strings(r.Secret, "doomed") {
		doomed[n] = true
	}
	delete(r.Secret, "doomed")
	for _, m := range compute.ListInstances(c, scaleSetID(cl, r)) {
		if doomed[body.String(m.Body, "properties.osProfile.computerName")] {
			compute.RemoveInstances(c, scaleSetID(cl, r), m.Name())
			body.Set(r.Body, "properties.count", max(0, body.Int(r.Body, "properties.count")-1))
		}
	}
	noteNew(c, cl, r)
	syncRoutes(c, cl)
	return nil
}

// listMachines answers GET agentPools/<p>/machines.
func listMachines(c *provider.Call, it *provider.Item) (*provider.Reply, error) {
	cl := clusterOf(c, it.ID)
	out := []any{}
	for _, r := range compute.ListInstances(c, scaleSetID(cl, it.Resource)) {
		addresses := []any{}
		for _, a := range compute.ListAddresses(c, r) {
			addresses = append(addresses, body.Object{"family": "IPv4", "ip": a})
		}
		name := body.String(r.Body, "properties.osProfile.computerName")
		out = append(out, body.Object{"id": lowerGroup(it.ID) + "/machines/" + name, "name": name, "type": AgentPools + "/machines",
			"properties": body.Object{"resourceId": r.ID, "network": body.Object{"ipAddresses": addresses}}, "zones": r.Body["zones"]})
	}
	return provider.OK(out), nil
}
