package sharedwriters_test

import (
	"net/http"
	"strings"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// listTaggable returns the paths of the resources with the cluster's tag of ownership.
func (w *world) listTaggable() (out []string) {
	w.T.Helper()
	for _, resource := range w.Sim.State() {
		id, _ := resource["id"].(string)
		tags, _ := resource["tags"].(body)
		for key := range tags {
			if strings.HasPrefix(key, infrav1.ClusterTagKey("")) && !strings.Contains(strings.ToLower(id), "/resourcegroups/mc_") &&
				!strings.Contains(id, "/virtualMachineScaleSets/c1-mp/") {
				out = append(out, strings.TrimPrefix(id, "/subscriptions/"+w.Azure.SubscriptionID+"/"))
			}
		}
	}
	return out
}

// tagAll gives each of them a tag, as a policy with the effect Modify and its remediation do.
func (w *world) tagAll() {
	w.T.Helper()
	for _, path := range w.listTaggable() {
		w.sendVersion(http.MethodPatch, path+"/providers/Microsoft.Resources/tags/default", types.TagsAPIVersion,
			body{"operation": "Merge", "properties": body{"tags": body{"costCenter": "42"}}})
	}
}

func (w *world) allTagged() bool {
	w.T.Helper()
	n := 0
	for _, path := range w.listTaggable() {
		if w.FindProperty(path, "tags.costCenter") != "42" {
			return false
		}
		n++
	}
	return n > 2
}

// buildIdentityBody returns the body that assigns a user-assigned identity of a policy beside the identities of a resource.
func (w *world) buildIdentityBody(path string) body {
	w.T.Helper()
	kind, _ := w.FindProperty(path, "identity.type").(string)
	users := body{string(w.ResourceID(identityPath("theirs"))): body{}}
	have, _ := w.FindProperty(path, "identity.userAssignedIdentities").(body)
	for id := range have {
		users[id] = body{}
	}
	if strings.Contains(kind, "SystemAssigned") {
		return body{"identity": body{"type": "SystemAssigned, UserAssigned", "userAssignedIdentities": users}}
	}
	return body{"identity": body{"type": "UserAssigned", "userAssignedIdentities": users}}
}

// hasIdentity reports whether a resource has the identity of the policy.
func hasIdentity(path string) func(*world) bool {
	return func(w *world) bool {
		users, _ := w.FindProperty(path, "identity.userAssignedIdentities").(body)
		for id := range users {
			if strings.HasSuffix(strings.ToLower(id), "/theirs") {
				return true
			}
		}
		return false
	}
}

func policyRows() []row {
	const program, scaleSetPut, vmPatch = "Azure Policy", "PUT resourceGroups/c1/Microsoft.Compute/virtualMachineScaleSets/c1-mp",
		"PATCH resourceGroups/c1/Microsoft.Compute/virtualMachines/c1-md"
	machineTag := func(w *world) {
		harness.ChangeObject(w.Stage, newMachine(), func(m *infrav1.AzureMachine) { m.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
	}
	poolTag := func(w *world) {
		harness.ChangeObject(w.Stage, newPool(), func(p *infrav1.AzureMachinePool) { p.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
	}
	system := func(w *world, s *setup) {
		s.machine.Spec.Identity, s.pool.Spec.Identity = infrav1.VMIdentitySystemAssigned, infrav1.VMIdentitySystemAssigned
		// The webhook gives them names.
		s.machine.Spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: "3f0c1f7e-4d2b-4f6a-9a53-0d8a2b7f1c11"}
		s.pool.Spec.SystemAssignedIdentityRole = &infrav1.SystemAssignedIdentityRole{Name: "3f0c1f7e-4d2b-4f6a-9a53-0d8a2b7f1c12",
			Scope:        "/subscriptions/" + w.Azure.SubscriptionID,
			DefinitionID: "/subscriptions/" + w.Azure.SubscriptionID + "/providers/Microsoft.Authorization/roleDefinitions/b24988ac-6180-42a0-ab88-20f7382dd24c"}
	}
	user := func(w *world, s *setup) {
		ours := []infrav1.UserAssignedIdentity{{ProviderID: "azure://" + string(w.ResourceID(identityPath("ours")))}}
		s.machine.Spec.Identity, s.machine.Spec.UserAssignedIdentities = infrav1.VMIdentityUserAssigned, ours
		s.pool.Spec.Identity, s.pool.Spec.UserAssignedIdentities = infrav1.VMIdentityUserAssigned, ours
	}
	out := []row{
		{
			program: program, resource: "All resources with tags, self-managed", entry: "a tag", verb: "PATCH of the tags", in: selfManaged,
			write: (*world).tagAll, kept: (*world).allTagged,
			change: func(w *world) {
				harness.ChangeObject(w.Stage, newCluster(), func(c *infrav1.AzureCluster) { c.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
			},
			sends: "PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/c1-vnet",
		},
		{
			program: program, resource: "All resources with tags, AKS", entry: "a tag", verb: "PATCH of the tags", in: bringUpManaged,
			write: (*world).tagAll, kept: func(w *world) bool { return w.FindProperty(aks, "tags.costCenter") == "42" },
			change: aksTag, sends: "PUT resourceGroups/aks/Microsoft.ContainerService/managedClusters/aks",
		},
		{
			program: program, resource: "Virtual machine", entry: "extensions, as of Azure Monitor, Defender and the policy's own",
			verb: "PUT of the extension", in: selfManaged,
			write: func(w *world) {
				for _, name := range []string{"AzureMonitorLinuxAgent", "MDE.Linux", "AzurePolicyforLinux"} {
					w.PutResource(extensionPath(name), body{"location": "eastus",
						"properties": body{"publisher": "Microsoft.Azure.Monitor", "type": name, "typeHandlerVersion": "1.0",
							"autoUpgradeMinorVersion": true}})
				}
			},
			kept: func(w *world) bool {
				status, _ := w.SendAsUser(http.MethodGet, extensionPath("MDE.Linux"), w.ResourceVersion(vm), nil)
				return status == http.StatusOK
			},
			change: machineTag, sends: vmPatch,
		},
		{
			program: program, resource: "Scale set", entry: "extensions in the template, as of Azure Monitor and Defender",
			verb: "PUT of the extension", in: selfManaged,
			write: func(w *world) {
				w.sendVersion(http.MethodPut, scaleSet+"/extensions/AzureMonitorLinuxAgent", w.ResourceVersion(scaleSet),
					body{"properties": body{"publisher": "Microsoft.Azure.Monitor", "type": "AzureMonitorLinuxAgent", "typeHandlerVersion": "1.0",
						"autoUpgradeMinorVersion": true, "settings": body{"authentication": body{"managedIdentity": body{"identifier-name": "mi_res_id"}}}}})
			},
			kept: func(w *world) bool {
				return w.FindProperty(scaleSet,
					"properties.virtualMachineProfile.extensionProfile.extensions.AzureMonitorLinuxAgent.properties.settings.authentication") != nil
			},
			change: poolTag, sends: scaleSetPut,
		},
		{
			program: program, resource: "Virtual machine", entry: "assessment of patches", verb: "PATCH", in: selfManaged,
			write: func(w *world) {
				w.PatchResource(vm, body{"properties": body{"osProfile": body{"linuxConfiguration": body{"patchSettings": body{"assessmentMode": "AutomaticByPlatform"}}}}})
			},
			kept: func(w *world) bool {
				return w.FindProperty(vm, "properties.osProfile.linuxConfiguration.patchSettings.assessmentMode") == "AutomaticByPlatform"
			},
			change: machineTag, sends: vmPatch,
		},
		{
			program: program, resource: "Subnet of nodes", entry: "network policies for private endpoints", verb: "PUT of the whole subnet",
			in: selfManaged,
			write: func(w *world) {
				w.RewriteResource(subnet, func(resource body) {
					resource["properties"].(body)["privateEndpointNetworkPolicies"] = "NetworkSecurityGroupEnabled"
				})
			},
			kept: func(w *world) bool {
				return w.FindProperty(subnet, "properties.privateEndpointNetworkPolicies") == "NetworkSecurityGroupEnabled"
			},
			change: serviceEndpoint("Microsoft.Sql"), sends: "PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/c1-vnet/subnets/nodes",
		},
		{
			program: "Users", resource: "Outbound load balancer of nodes", entry: "outbound ports and TCP reset of the outbound rule",
			verb: "PUT of the whole load balancer", in: selfManaged,
			write: func(w *world) {
				w.RewriteResource(outbound, func(resource body) {
					rule := harness.FindValue(resource, "properties.outboundRules.0.properties").(body)
					rule["allocatedOutboundPorts"], rule["enableTcpReset"] = 1024, true
				})
			},
			kept: func(w *world) bool {
				return w.FindProperty(outbound, "properties.outboundRules.0.properties.allocatedOutboundPorts") == float64(1024) &&
					w.FindProperty(outbound, "properties.outboundRules.0.properties.enableTcpReset") == true
			},
			change: func(w *world) {
				harness.ChangeObject(w.Stage, newCluster(),
					func(c *infrav1.AzureCluster) { c.Spec.NetworkSpec.NodeOutboundLB.IdleTimeoutInMinutes = new(int32(15)) })
			},
			sends: "PUT resourceGroups/c1/Microsoft.Network/loadBalancers/c1",
		},
		{
			program: "Azure Backup", resource: "Virtual machine", entry: "its extension, and a lock against deletion", verb: "PUT of each",
			in: selfManaged,
			write: func(w *world) {
				w.PutResource(extensionPath("VMSnapshotLinux"),
					body{"location": "eastus",
						"properties": body{"publisher": "Microsoft.Azure.RecoveryServices", "type": "VMSnapshotLinux", "typeHandlerVersion": "1.0"}})
				w.lockResource(vm)
			},
			kept: func(w *world) bool {
				status, _ := w.SendAsUser(http.MethodGet, vm+"/providers/Microsoft.Authorization/locks/backup", "2020-05-01", nil)
				return status == http.StatusOK
			},
			change: machineTag, sends: vmPatch,
		},
		{
			program: "Autoscale of Azure", resource: "Scale set", entry: "the capacity, where the MachinePool has an annotation that an autoscaler sets it",
			verb: "PATCH of the capacity", in: selfManaged,
			write: func(w *world) {
				harness.ChangeObject(w.Stage, machinePool(), func(p *machinePoolType) {
					p.Annotations = map[string]string{replicasManaged: "azure"}
				})
				w.AdvanceClock(w.Resync)
				w.PatchResource(scaleSet, body{"sku": body{"name": "Standard_D2s_v3", "tier": "Standard", "capacity": 4}})
			},
			kept: func(w *world) bool {
				return w.FindProperty(scaleSet, "sku.capacity") == 4.0 && len(w.instancePaths()) == 4
			},
			change: poolTag, sends: scaleSetPut,
		},
	}
	for _, kind := range []struct {
		name    string
		prepare func(*world, *setup)
	}{{"none in the spec", nil}, {"a system-assigned one in the spec", system}, {"a user-assigned one in the spec", user}} {
		out = append(out, row{
			program: program, resource: "Virtual machine", entry: "a user-assigned identity, with " + kind.name, verb: "PATCH of the identity",
			in: selfManaged, prepare: kind.prepare,
			write: func(w *world) { w.PatchResource(vm, w.buildIdentityBody(vm)) }, kept: hasIdentity(vm), change: machineTag, sends: vmPatch,
		}, row{
			program: program, resource: "Scale set", entry: "a user-assigned identity, with " + kind.name, verb: "PATCH of the identity",
			in: selfManaged, prepare: kind.prepare,
			write: func(w *world) { w.PatchResource(scaleSet, w.buildIdentityBody(scaleSet)) }, kept: hasIdentity(scaleSet), change: poolTag,
			sends: scaleSetPut,
		})
	}
	return out
}
