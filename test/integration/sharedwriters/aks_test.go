package sharedwriters_test

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// Resources of the AKS cluster.
const (
	aks       = "resourceGroups/aks/providers/Microsoft.ContainerService/managedClusters/aks"
	agentPool = aks + "/agentPools/pool1"
	workspace = "resourceGroups/other/providers/Microsoft.OperationalInsights/workspaces/logs"

	replicasManaged = clusterv1.ReplicasManagedByAnnotation
)

type machinePoolType = clusterv1.MachinePool

func machinePool() *machinePoolType {
	return &machinePoolType{ObjectMeta: metav1.ObjectMeta{Name: poolName}}
}

// aksTag is a change of the spec of the AKS cluster.
func aksTag(w *world) {
	harness.ChangeObject(w.Stage, controlPlane(),
		func(c *infrav1.AzureManagedControlPlane) { c.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
}

// aksPoolLabel is a change of the spec of a pool.
func aksPoolLabel(w *world) {
	harness.ChangeObject(w.Stage, managedPool(),
		func(p *infrav1.AzureManagedMachinePool) { p.Spec.NodeLabels = map[string]string{"team": "a"} })
}

func aksRows() []row {
	const clusterPut, poolPut = "PUT resourceGroups/aks/Microsoft.ContainerService/managedClusters/aks",
		"PUT resourceGroups/aks/Microsoft.ContainerService/managedClusters/aks/agentPools/pool1"
	logs := func(w *world) {
		w.PutResource(workspace, body{"location": "eastus", "properties": body{"sku": body{"name": "PerGB2018"}}})
	}
	properties := func(change func(w *world, properties body)) func(*world) {
		return func(w *world) {
			logs(w)
			w.RewriteResource(aks, func(resource body) { change(w, resource["properties"].(body)) })
		}
	}
	addon := func(name string, config func(w *world) body) func(*world) {
		return properties(func(w *world, properties body) {
			profiles, _ := properties["addonProfiles"].(body)
			if profiles == nil {
				profiles = body{}
				properties["addonProfiles"] = profiles
			}
			profiles[name] = body{"enabled": true, "config": config(w)}
		})
	}
	return []row{
		{
			program: "Defender for Cloud", resource: "AKS cluster", entry: "its sensor in securityProfile", verb: "PUT of the whole cluster",
			in: bringUpManaged,
			write: properties(func(w *world, properties body) {
				properties["securityProfile"] = body{"defender": body{"logAnalyticsWorkspaceResourceId": string(w.ResourceID(workspace)),
					"securityMonitoring": body{"enabled": true}}}
			}),
			kept: func(w *world) bool {
				return w.FindProperty(aks, "properties.securityProfile.defender.securityMonitoring.enabled") == true
			},
			change: aksTag, sends: clusterPut,
		},
		{
			program: "Azure Monitor", resource: "AKS cluster", entry: "the add-on omsagent", verb: "PUT of the whole cluster", in: bringUpManaged,
			write: addon("omsagent", func(w *world) body {
				return body{"logAnalyticsWorkspaceResourceID": string(w.ResourceID(workspace)), "useAADAuth": "true"}
			}),
			kept:   func(w *world) bool { return w.FindProperty(aks, "properties.addonProfiles.omsagent.enabled") == true },
			change: aksTag, sends: clusterPut,
		},
		{
			program: "Azure Policy", resource: "AKS cluster", entry: "the add-on azurepolicy", verb: "PUT of the whole cluster", in: bringUpManaged,
			write: addon("azurepolicy", func(*world) body { return nil }),
			kept: func(w *world) bool {
				return w.FindProperty(aks, "properties.addonProfiles.azurepolicy.enabled") == true
			},
			change: aksTag, sends: clusterPut,
		},
		{
			program: "AKS", resource: "Agent pool", entry: "the version of the node image", verb: "by itself", in: bringUpManaged,
			write: func(w *world) {
				w.EditResource(agentPool, body{"properties": body{"nodeImageVersion": "AKSUbuntu-2204gen2containerd-209912.31.0"}})
			},
			kept: func(w *world) bool {
				return w.FindProperty(agentPool, "properties.nodeImageVersion") == "AKSUbuntu-2204gen2containerd-209912.31.0"
			},
		},
		{
			program: "AKS", resource: "Agent pool", entry: "the count, where its autoscaler is on", verb: "by itself", in: bringUpManaged,
			write: func(w *world) {
				harness.ChangeObject(w.Stage, managedPool(), func(p *infrav1.AzureManagedMachinePool) {
					p.Spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(5)}
				})
				w.waitInPlace()
				w.EditResource(agentPool, body{"properties": body{"count": 4}})
			},
			kept:   func(w *world) bool { return w.FindProperty(agentPool, "properties.count") == 4.0 },
			change: aksPoolLabel, sends: poolPut,
		},
	}
}
