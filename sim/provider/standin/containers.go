package standin

import (
	"maps"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

const (
	fleet = "Microsoft.ContainerService/fleets"
	aks   = "Microsoft.ContainerService/managedClusters"
)

// fleetRows are of a fleet's children. Source: recording Test_AKS_Fleet_20250301_CRUD and samples.
var fleetRows = map[string]row{
	fleet + "/autoUpgradeProfiles": {wire: makeSynchronous, defaults: map[string]any{"properties.disabled": false}},
	fleet + "/updateStrategies": {wire: makeSynchronous, fill: func(_ *provider.Call, d *provider.Draft) error {
		for _, stage := range body.Objects(d.New, "properties.strategy.stages") {
			body.Default(stage, "afterStageWaitInSeconds", 0.0)
		}
		return nil
	}},
	fleet + "/updateRuns": {wire: makeSynchronous, fill: buildUpdateRun},
}

// buildUpdateRun lists the stages of an update run, none of which has begun: a run begins when a client starts it.
func buildUpdateRun(c *provider.Call, d *provider.Draft) error {
	if was := body.Child(d.Old, "properties.status"); was != nil {
		body.Set(d.New, "properties.status", was)
		return nil
	}
	id, err := store.ParseID(d.ID)
	if err != nil {
		return err
	}
	idle := func() body.Object { return body.Object{"state": "NotStarted"} }
	members := map[string][]any{}
	for _, m := range c.List(fleet+"/members", id.Parent().String()) {
		entry := body.Object{"name": m.Name(), "clusterResourceId": body.String(m.Body, "properties.clusterResourceId"), "status": idle()}
		group := body.String(m.Body, "properties.group")
		members[group] = append(members[group], entry)
		if group != "" {
			members[""] = append(members[""], entry)
		}
	}
	if len(members) == 0 {
		return provider.Errorf(409, "UpdateRunTargetingEmptyFleet",
			"The target fleet of this update run is empty. Resource ID: %q. Correlation ID: %q. Operation ID: %q", d.ID, c.RequestID,
			c.NewGUID())
	}
	strategy := body.Child(d.New, "properties.strategy")
	if ref := body.String(d.New, "properties.updateStrategyId"); ref != "" {
		if of := c.Get(ref); of != nil {
			strategy = body.Child(of.Body, "properties.strategy")
		}
	}
	stages := []any{}
	for _, stage := range body.Objects(strategy, "stages") {
		groups := []any{}
		for _, group := range body.Objects(stage, "groups") {
			name := body.String(group, "name")
			groups = append(groups, body.Object{"name": name, "status": idle(), "members": append([]any{}, members[name]...)})
		}
		stages = append(stages, body.Object{"name": body.String(stage, "name"), "status": idle(), "groups": groups})
	}
	if strategy == nil {
		stages = append(stages, body.Object{"name": "default", "status": idle(),
			"groups": []any{body.Object{"name": "default", "status": idle(), "members": members[""]}}})
	}
	body.Set(d.New, "properties.status", body.Object{"status": idle(), "stages": stages, "nodeImageSelection": body.Object{}})
	return nil
}

// clusterRows are the types of AKS and of software installed in a cluster. Source: SDK modules armcontainerservice v8
// and armkubernetesconfiguration v2, recording Test_KubernetesConfiguration_FluxConfiguration_20241101_CRUD.
var clusterRows = map[string]row{
	aks + "/loadBalancers": {wire: func(t *provider.Type) {
		makeSynchronous(t)
		t.Delete.LRO = 5 * time.Second
	}},
	aks + "/identityBindings": {shown: func(_ *provider.Call, it *provider.Item) {
		// https://learn.microsoft.com/azure/aks/identity-bindings-concepts
		showValues(it, map[string]any{"oidcIssuer.oidcIssuerUrl": "https://ib.oic.prod-aks.azure.com/" + madeGUID(it.ID,
			"tenant") + "/" + madeGUID(it.ID, "issuer")})
	}},
	"Microsoft.KubernetesConfiguration/sourceControlConfigurations": {wire: func(t *provider.Type) {
		makeSynchronous(t)
		t.Extension = true
	}},
	"Microsoft.KubernetesConfiguration/fluxConfigurations": {
		unsigned: true,
		wire: func(t *provider.Type) {
			t.Extension, t.RetryAfter, t.DeleteRetryAfter = true, 0, -1
			setDurations(130*time.Second, 30*time.Second, 30*time.Second)(t)
			t.Missing = func(c *provider.Call) *provider.Error {
				e := provider.Errorf(404, "ResourceNotFound", "The fluxConfiguration was not found. Name: '%s'.", c.ID.Name())
				e.More = body.Object{"additionalInfo": []any{}}
				return e
			}
		},
		defaults: map[string]any{"properties.scope": "cluster", "properties.suspend": false, "properties.waitForReconciliation": false,
			"properties.configurationProtectedSettings": body.Object{}},
		fill:  fillSourceDefaults,
		shown: showConfiguration,
	},
}

// fillSourceDefaults fills in the interval and timeout with which a Flux configuration reads its source, and keeps its secrets.
func fillSourceDefaults(_ *provider.Call, d *provider.Draft) error {
	const secrets = "properties.configurationProtectedSettings"
	if sent := body.Child(d.New, secrets); len(sent) > 0 {
		d.Secret["settings"] = sent
		body.Set(d.New, secrets, body.Object{})
	}
	for _, kind := range []string{"gitRepository", "bucket", "azureBlob", "ociRepository"} {
		if from := body.Child(d.New, "properties."+kind); from != nil {
			body.Default(from, "timeoutInSeconds", 600.0)
			body.Default(from, "syncIntervalInSeconds", 600.0)
		}
	}
	if git := body.Child(d.New, "properties.gitRepository"); git != nil {
		body.Default(git, "provider", "generic")
		body.Set(git, "provider", strings.ToLower(body.String(git, "provider"))) // whatever its casing was, as recorded
	}
	for name, each := range body.Child(d.New, "properties.kustomizations") {
		one, ok := each.(body.Object)
		if !ok {
			continue
		}
		one["name"] = name
		for key, value := range map[string]any{"path": "", "timeoutInSeconds": 600.0, "syncIntervalInSeconds": 600.0, "prune": false,
			"force": false, "wait": true} {
			body.Default(one, key, value)
		}
	}
	return nil
}

// showConfiguration shows the state of a Flux configuration, and absent values as null. The source is not read: the cluster
// always complies.
func showConfiguration(_ *provider.Call, it *provider.Item) {
	provider.ShowUnsigned(it)
	properties := body.Child(it.Body, "properties")
	showNulls(properties, "gitRepository", "bucket", "azureBlob", "ociRepository", "reconciliationWaitDuration", "kustomizations")
	if git := body.Child(properties, "gitRepository"); git != nil {
		showNulls(git, "sshKnownHosts", "httpsUser", "httpsCACert", "localAuthRef", "repositoryRef")
		if ref := body.Child(git, "repositoryRef"); ref != nil {
			showNulls(ref, "branch", "tag", "semver", "commit")
		}
	}
	for _, each := range body.Child(properties, "kustomizations") {
		if one, ok := each.(body.Object); ok {
			showNulls(one, "dependsOn", "retryIntervalInSeconds", "postBuild")
		}
	}
	ready := body.String(properties, "provisioningState") == store.Succeeded
	state := map[string]any{"statuses": []any{}, "complianceState": nil, "errorMessage": nil, "repositoryPublicKey": nil,
		"sourceUpdatedAt": nil, "statusUpdatedAt": nil, "sourceSyncedCommitId": nil}
	if ready {
		state["complianceState"], state["errorMessage"], state["repositoryPublicKey"] = "Compliant", "", ""
		state["sourceUpdatedAt"], state["statusUpdatedAt"], state["sourceSyncedCommitId"] = changedTime(it), changedTime(it),
			"main@sha1:"+deriveDigits(it.ID, "commit", 40)
		state["statuses"] = objectStatuses(it, properties)
	}
	showValues(it, state)
}

// objectStatuses returns those of the objects that Flux has for a configuration in the cluster.
func objectStatuses(it *provider.Item, properties body.Object) []any {
	object := func(kind, name string) body.Object {
		return body.Object{
			"name": name, "namespace": properties["namespace"], "kind": kind, "complianceState": "Compliant", "appliedBy": nil,
			"helmReleaseProperties": nil,
			"statusConditions": []any{body.Object{"type": "Ready", "status": "True", "reason": "Succeeded", "message": "",
				"lastTransitionTime": changedTime(it)}},
		}
	}
	out := []any{object(body.String(properties, "sourceKind"), it.Name)}
	for _, name := range slices.Sorted(maps.Keys(body.Child(properties, "kustomizations"))) {
		out = append(out, object("Kustomization", it.Name+"-"+name))
	}
	return out
}
