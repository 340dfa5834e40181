package managed_test

import (
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// listDriftRows returns the changes of a cluster of typed kinds.
func listDriftRows() []driftRow {
	return []driftRow{
		{resource: "AKS cluster", change: "a tag of the spec is changed", note: "tags of other users stay", outside: changeInAzure(clusterPath, clusterVersion, setValue("tags.team", "b")),
			reaction: repaired,
			path:     clusterPath, version: clusterVersion, at: "tags.team", want: `"a"`, writes: []string{clusterPut}},
		{resource: "AKS cluster", change: "a tag is added", outside: changeInAzure(clusterPath, clusterVersion, setValue("tags.costs", "4711")), reaction: kept,
			path: clusterPath, version: clusterVersion, at: "tags.costs", want: `"4711"`},
		{resource: "Resource group", change: "a tag of the spec is changed", outside: changeInAzure("resourceGroups/c1", groupVersion, setValue("tags.team", "b")),
			reaction: repaired,
			path:     "resourceGroups/c1", version: groupVersion, at: "tags.team", want: `"a"`, writes: []string{"PUT resourceGroups/c1"}},
		{resource: "Virtual network", change: "a tag of the spec is changed", outside: changeInAzure(vnetPath, networkVersion, setValue("tags.team", "b")),
			reaction: repaired,
			path:     vnetPath, version: networkVersion, at: "tags.team", want: `"a"`, writes: []string{"PUT " + vnetWrite}},
		{resource: "AKS cluster", change: "a setting of the spec is changed, for example the authorized IP ranges",
			outside: changeInAzure(clusterPath, clusterVersion,
				setValue("properties.apiServerAccessProfile.authorizedIPRanges", []any{"0.0.0.0/0"})),
			reaction: repaired,
			path:     clusterPath, version: clusterVersion, at: "properties.apiServerAccessProfile.authorizedIPRanges", want: `["203.0.113.0/24"]`,
			writes: []string{clusterPut}},
		{resource: "AKS cluster", change: "the tier is raised", note: "`sku.tier` has a default. Set it in the spec", outside: changeInAzure(clusterPath, clusterVersion, setValue("sku", body{"name": "Base", "tier": "Standard"})),
			reaction: repaired,
			path:     clusterPath, version: clusterVersion, at: "sku.tier", want: `"Free"`, writes: []string{clusterPut}},
		{resource: "AKS cluster", change: "a feature that the spec does not mention is turned on, for example KEDA", note: "one that was removed from the spec is turned off",
			outside: changeInAzure(clusterPath, clusterVersion, setValue("properties.workloadAutoScalerProfile.keda.enabled", true)), reaction: kept,
			path: clusterPath, version: clusterVersion, at: "properties.workloadAutoScalerProfile.keda.enabled", want: "true"},
		{resource: "AKS cluster", change: "settings of the autoscaler are changed and the spec has none",
			outside:  changeInAzure(clusterPath, clusterVersion, setValue("properties.autoScalerProfile", body{"scan-interval": "20s"})),
			reaction: kept,
			path:     clusterPath, version: clusterVersion, at: "properties.autoScalerProfile.scan-interval", want: `"20s"`},
		{resource: "AKS cluster", change: "the ownership tag is removed", note: "the owner tag proves the ownership", outside: changeInAzure(clusterPath, clusterVersion, func(resource body) {
			tags, _ := resource["tags"].(body)
			delete(tags, ownTag)
		}), reaction: repaired, path: clusterPath, version: clusterVersion, at: "properties.provisioningState", want: `"Succeeded"`,
			writes: []string{clusterPut},
			says: func(stage *harness.Stage) bool {
				_, cluster := stage.Azure.GetResource(clusterPath, clusterVersion)
				tags, _ := cluster["tags"].(body)
				return tags[ownTag] == "owned"
			}},

		{resource: "Agent pool", change: "the number of nodes is changed", note: "the MachinePool has the number", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.count", 4)), reaction: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.count", want: "2", writes: []string{pool1Put}},
		{resource: "Agent pool", change: "a label is added", note: "labels that AKS sets stay",
			outside:  changeInAzure(pool1Path, clusterVersion, setValue("properties.nodeLabels", body{"tier": "web", "by": "hand"})),
			reaction: repaired,
			path:     pool1Path, version: clusterVersion, at: "properties.nodeLabels", want: `{"tier":"web"}`, writes: []string{pool1Put}},
		{resource: "Agent pool", change: "a label of the spec is changed",
			outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.nodeLabels", body{"tier": "db"})), reaction: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.nodeLabels", want: `{"tier":"web"}`, writes: []string{pool1Put}},
		{resource: "Agent pool", change: "a taint is removed", note: "taints that AKS sets stay", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.nodeTaints", []any{})),
			reaction: repaired,
			path:     pool1Path, version: clusterVersion, at: "properties.nodeTaints", want: `["dedicated=web:PreferNoSchedule"]`,
			writes: []string{pool1Put}},
		{resource: "Agent pool", change: "a tag of the spec is changed", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.tags", body{"pool": "db"})),
			reaction: repaired,
			path:     pool1Path, version: clusterVersion, at: "properties.tags", want: `{"pool":"web"}`, writes: []string{pool1Put}},
		{resource: "Agent pool", change: "a tag is added", note: "if the spec has none, it stays",
			outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.tags", body{"pool": "web", "by": "hand"})), reaction: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.tags", want: `{"pool":"web"}`, writes: []string{pool1Put}},
		{resource: "Agent pool", change: "the autoscaler is turned on", note: "turn it on in the spec, with `scaling`", outside: changeInAzure(pool1Path, clusterVersion, func(resource body) {
			setValue("properties.enableAutoScaling", true)(resource)
			setValue("properties.minCount", 1)(resource)
			setValue("properties.maxCount", 3)(resource)
		}), reaction: repaired, path: pool1Path, version: clusterVersion, at: "properties.enableAutoScaling", want: "false",
			writes: []string{pool1Put}},
		{resource: "Agent pool", change: "the mode is changed", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.mode", "System")), reaction: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.mode", want: `"User"`, writes: []string{pool1Put}},
		{resource: "Agent pool", change: "a setting that the spec does not mention is changed, for example the drain timeout of upgrades",
			outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.upgradeSettings.drainTimeoutInMinutes", 45)), reaction: kept,
			path: pool1Path, version: clusterVersion, at: "properties.upgradeSettings.drainTimeoutInMinutes", want: "45"},
		{resource: "Agent pool", change: "it is removed", note: "nodes are created again, without data on their disks", outside: func(stage *harness.Stage) { removeInAzure(stage, pool1Path, clusterVersion) }, reaction: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.count", want: "2", writes: []string{pool1Put}},
		{resource: "Agent pool", change: "another pool is added", note: "it has no object", outside: func(stage *harness.Stage) {
			stage.Azure.PutResource(clusterPath+"/agentPools/theirs", clusterVersion,
				body{"properties": body{"mode": "User", "count": 1, "vmSize": "Standard_D2s_v3", "type": "VirtualMachineScaleSets",
					"vnetSubnetID": "/subscriptions/" + stage.Azure.SubscriptionID + "/" + subnetPath}})
		}, reaction: kept, path: clusterPath + "/agentPools/theirs", version: clusterVersion, at: "properties.count", want: "1"},

		{resource: "Subnet", change: "a security group is attached and the spec has none", outside: func(stage *harness.Stage) {
			stage.Azure.PutResource(networkGroup, groupVersion, body{"location": "eastus"})
			stage.Azure.PutResource(networkGroupTypes+"networkSecurityGroups/theirs", networkVersion,
				body{"location": "eastus", "properties": body{}})
			changeInAzure(subnetPath, networkVersion,
				setValue("properties.networkSecurityGroup",
					body{"id": "/subscriptions/" + stage.Azure.SubscriptionID + "/" + networkGroupTypes + "networkSecurityGroups/theirs"}))(stage)
		}, reaction: kept, path: subnetPath, version: networkVersion, at: "properties.addressPrefix", want: `"10.240.0.0/16"`},
		{resource: "Virtual network", change: "DNS servers are set", note: "the spec has no field for them",
			outside:  changeInAzure(vnetPath, networkVersion, setValue("properties.dhcpOptions", body{"dnsServers": []any{"10.0.0.4"}})),
			reaction: kept,
			path:     vnetPath, version: networkVersion, at: "properties.dhcpOptions.dnsServers", want: `["10.0.0.4"]`},

		{resource: "Private endpoint", change: "it is removed", outside: func(stage *harness.Stage) { removeInAzure(stage, endpointPath, networkVersion) },
			reaction: repaired,
			path:     endpointPath, version: networkVersion, at: "properties.provisioningState", want: `"Succeeded"`,
			writes: []string{"PUT " + endpointWrite}},
		{resource: "AKS extension", change: "it is removed", outside: func(stage *harness.Stage) { removeInAzure(stage, extensionPath, extensionVersion) },
			reaction: repaired,
			path:     extensionPath, version: extensionVersion, at: "properties.provisioningState", want: `"Succeeded"`,
			writes: []string{"PUT " + extensionWrite}},
		{resource: "AKS extension", change: "its settings are changed",
			outside: changeInAzure(extensionPath, extensionVersion,
				setValue("properties.configurationSettings", body{"source-controller.enabled": "false"})),
			reaction: repaired,
			path:     extensionPath, version: extensionVersion, at: "properties.configurationSettings", want: `{"source-controller.enabled":"true"}`,
			writes: []string{"PUT " + extensionWrite}},
		{resource: "Fleet member", change: "it is removed", outside: func(stage *harness.Stage) { removeInAzure(stage, memberPath, fleetVersion) }, reaction: repaired,
			path: memberPath, version: fleetVersion, at: "properties.group", want: `"canary"`, writes: []string{"PUT " + memberWrite}},
		{resource: "Fleet member", change: "its group is changed", outside: changeInAzure(memberPath, fleetVersion, setValue("properties.group", "prod")),
			reaction: repaired,
			path:     memberPath, version: fleetVersion, at: "properties.group", want: `"canary"`, writes: []string{"PUT " + memberWrite}},

		{resource: "AKS cluster", change: "it is removed", note: "an empty cluster with the same name is created, with its pools and extensions", outside: func(stage *harness.Stage) { removeInAzure(stage, clusterPath, clusterVersion) }, reaction: repaired,
			path: pool1Path, version: clusterVersion, at: "properties.count", want: "2", writes: []string{clusterPut, "PUT " + extensionWrite}},
		{resource: "AKS cluster", change: "it is upgraded, by AKS or a user", note: "AKS cannot downgrade. `status.version` shows the version", outside: changeInAzure(clusterPath, clusterVersion, func(resource body) {
			setValue("properties.kubernetesVersion", "1.34.2")(resource)
			delete(resource["properties"].(body), "agentPoolProfiles")
		}), reaction: kept, path: clusterPath, version: clusterVersion, at: "properties.currentKubernetesVersion", want: `"1.34.2"`,
			says: func(stage *harness.Stage) bool {
				c := controlPlane("c1")
				stage.ReadObject(c, "c1")
				return c.Status.Version == "v1.34.2" && harness.IsReady(c)
			}},
		{resource: "Agent pool", change: "it is upgraded, by AKS or a user", note: "AKS cannot downgrade", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.orchestratorVersion", "1.34.2")),
			reaction: kept,
			path:     pool1Path, version: clusterVersion, at: "properties.currentOrchestratorVersion", want: `"1.34.2"`},
		{resource: "Agent pool", change: "it is stopped", note: "`AgentPoolsReady`, or `ResourcesReady` of resource manifests, is False with the reason `Stopped`, and has the command that starts it. With its AKS cluster, too",
			outside:  changeInAzure(pool1Path, clusterVersion, setValue("properties.powerState", body{"code": "Stopped"})),
			reaction: reported,
			path:     pool1Path, version: clusterVersion, at: "properties.powerState.code", want: `"Stopped"`,
			says: func(stage *harness.Stage) bool {
				p := &infrav1.AzureManagedMachinePool{}
				stage.ReadObject(p, "c1-pool1")
				condition, ready := harness.FindCondition(p, infrav1.AgentPoolsReadyCondition), harness.FindCondition(p, infrav1.ReadyCondition)
				return condition.Reason == "Stopped" && strings.Contains(condition.Message, "az aks nodepool start") && ready.Status == metav1.ConditionFalse
			}},
		{resource: "Agent pool", change: "it is started again", note: "the objects become Ready",
			outside:  changeInAzure(pool1Path, clusterVersion, setValue("properties.powerState", body{"code": "Running"})),
			reaction: kept,
			path:     pool1Path, version: clusterVersion, at: "properties.powerState.code", want: `"Running"`,
			says: func(stage *harness.Stage) bool {
				p := &infrav1.AzureManagedMachinePool{}
				stage.ReadObject(p, "c1-pool1")
				return harness.IsReady(p)
			}},
		{resource: "AKS cluster", change: "it is stopped", note: "`ManagedClusterRunning` is False with the reason `Stopped`, and has the command that starts it. See [stop](stop.md) for an annotation that stops it", outside: func(stage *harness.Stage) { stage.Azure.PostAction(clusterPath+"/stop", clusterVersion) },
			reaction: reported,
			path:     clusterPath, version: clusterVersion, at: "properties.powerState.code", want: `"Stopped"`,
			says: func(stage *harness.Stage) bool {
				c := controlPlane("c1")
				stage.ReadObject(c, "c1")
				condition, ready := harness.FindCondition(c, infrav1.ManagedClusterRunningCondition), harness.FindCondition(c, infrav1.ReadyCondition)
				return condition.Reason == "Stopped" && strings.Contains(condition.Message, "az aks start") && ready.Status == metav1.ConditionFalse
			}},
		{resource: "AKS cluster", change: "it is started again", note: "the objects become Ready", outside: func(stage *harness.Stage) { stage.Azure.PostAction(clusterPath+"/start", clusterVersion) },
			reaction: kept,
			path:     clusterPath, version: clusterVersion, at: "properties.powerState.code", want: `"Running"`,
			says: func(stage *harness.Stage) bool {
				c := controlPlane("c1")
				stage.ReadObject(c, "c1")
				return harness.IsReady(c)
			}},
	}
}

const (
	windowsPath = clusterPath + "/maintenanceConfigurations/"
	windowPut   = "PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/maintenanceConfigurations/aksManagedAutoUpgradeSchedule"
)

// listManifestDriftRows returns the changes of a cluster of resource manifests, whose pool pool1 is autoscaled. edit changes a resource as Azure itself does.
func listManifestDriftRows(edit func(path string, patch body)) []driftRow {
	return []driftRow{
		{resource: "Resource of a manifest", change: "a property of the manifest is changed, for example of an AKS cluster", outside: changeInAzure(clusterPath, clusterVersion,
			setValue("properties.autoUpgradeProfile.upgradeChannel", "rapid")), reaction: repaired,
			path: clusterPath, version: clusterVersion, at: "properties.autoUpgradeProfile.upgradeChannel", want: `"patch"`, writes: []string{clusterPut}},
		{resource: "Resource of a manifest", change: "a property that the manifest does not have is changed", note: "one that was removed from the manifest is reset",
			outside: changeInAzure(clusterPath, clusterVersion, setValue("properties.workloadAutoScalerProfile.keda.enabled", true)), reaction: kept,
			path: clusterPath, version: clusterVersion, at: "properties.workloadAutoScalerProfile.keda.enabled", want: "true"},
		{resource: "Maintenance configuration", change: "its window is changed", outside: changeInAzure(windowPath, clusterVersion,
			setValue("properties.maintenanceWindow.startTime", "09:00")), reaction: repaired,
			path: windowPath, version: clusterVersion, at: "properties.maintenanceWindow.startTime", want: `"02:00"`, writes: []string{windowPut}},
		{resource: "Maintenance configuration", change: "it is removed", outside: func(stage *harness.Stage) { removeInAzure(stage, windowPath, clusterVersion) },
			reaction: repaired, path: windowPath, version: clusterVersion, at: "properties.maintenanceWindow.startTime", want: `"02:00"`,
			writes: []string{windowPut}},
		{resource: "Maintenance configuration", change: "another one is added", note: "it has no manifest", outside: func(stage *harness.Stage) {
			stage.Azure.PutResource(windowsPath+"default", clusterVersion, body{"properties": body{"timeInWeek": []any{body{"day": "Sunday", "hourSlots": []any{1}}}}})
		}, reaction: kept, path: windowsPath + "default", version: clusterVersion, at: "name", want: `"default"`},
		{resource: "Agent pool", change: "AKS installs a new node image", outside: func(*harness.Stage) {
			edit(pool1Path, body{"properties": body{"nodeImageVersion": "AKSUbuntu-2204gen2containerd-209912.31.0"}})
		}, reaction: kept, path: pool1Path, version: clusterVersion, at: "properties.nodeImageVersion", want: `"AKSUbuntu-2204gen2containerd-209912.31.0"`},
		{resource: "Agent pool", change: "the bounds of the autoscaler are changed", outside: changeInAzure(pool1Path, clusterVersion, setValue("properties.maxCount", 9)),
			reaction: repaired, path: pool1Path, version: clusterVersion, at: "properties.maxCount", want: "5", writes: []string{pool1Put}},
		{resource: "Agent pool", change: "AKS's autoscaler changes the number of nodes", note: "the MachinePool follows", outside: func(*harness.Stage) {
			edit(pool1Path, body{"properties": body{"count": 3}})
		}, reaction: kept, path: pool1Path, version: clusterVersion, at: "properties.count", want: "3",
			says: func(stage *harness.Stage) bool {
				m := machinePool("c1-pool1")
				stage.ReadObject(m, "c1-pool1")
				return m.Spec.Replicas != nil && *m.Spec.Replicas == 3
			}},
	}
}
