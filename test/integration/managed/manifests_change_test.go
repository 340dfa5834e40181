package managed_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

const (
	msiVersion   = "2024-11-30"
	keptPath     = "resourceGroups/others/providers/Microsoft.ManagedIdentity/userAssignedIdentities/kept"
	keptManifest = `
apiVersion: managedidentity.azure.com/v20241130
kind: UserAssignedIdentity
metadata:
    serviceoperator.azure.com/reconcile-policy: detach-on-delete
  name: kept
spec:
  location: eastus
  owner: {armId: /subscriptions/SUBSCRIPTION/resourceGroups/others}
`
	identityPath     = "resourceGroups/c1/providers/Microsoft.ManagedIdentity/userAssignedIdentities/nodes"
	identityDocument = `
apiVersion: managedidentity.azure.com/v20241130
kind: UserAssignedIdentity
metadata:
  name: nodes
spec:
  location: eastus
  owner: {name: c1}
  tags: {team: blue}
  operatorSpec:
    configMaps:
      clientId: {name: nodes, key: client}
`
	networkManifest = `
apiVersion: network.azure.com/v20250501
kind: VirtualNetwork
metadata:
  name: net
spec:
  location: eastus
  owner: {name: c1}
  addressSpace: {addressPrefixes: [10.0.0.0/8]}
`
	subnetManifest = `
apiVersion: network.azure.com/v20250501
kind: VirtualNetworksSubnet
metadata:
  name: nodes
spec:
  owner: {name: net}
  addressPrefix: 10.1.0.0/16
`
	windowPath     = clusterPath + "/maintenanceConfigurations/aksManagedAutoUpgradeSchedule"
	windowManifest = `
apiVersion: containerservice.azure.com/v20251001
kind: MaintenanceConfiguration
metadata:
  name: upgrades
spec:
  azureName: aksManagedAutoUpgradeSchedule
  owner: {name: c1}
  maintenanceWindow:
    durationHours: 4
    startTime: "02:00"
    notAllowedDates: [{start: "2026-12-24", end: "2027-01-02"}]
    schedule: {weekly: {dayOfWeek: Sunday, intervalWeeks: 1}}
`
)

// TestManifestsChange changes documents and resources in Azure: removing a property or a document removes its effect, changes by other
// programs are repaired, and the provider leaves resources alone as their policies demand.
func TestManifestsChange(t *testing.T) {
	t.Parallel()
	stage := harness.NewStage(t, environment)
	stage.StartManager(harness.ManagerOptions{SyncPeriod: time.Second})
	stage.Azure.PutResource("resourceGroups/others", "2021-04-01", body{"location": "eastus"})
	cluster := stage.BuildASOCluster("c1", "pool0")
	infrastructure, controlPlane := cluster.Infrastructure, cluster.ControlPlane
	kept, identity := stage.ParseManifest(strings.Replace(keptManifest, "SUBSCRIPTION", stage.Azure.SubscriptionID, 1)),
		stage.ParseManifest(identityDocument)
	infrastructure.Spec.Resources = append(infrastructure.Spec.Resources, kept, identity, stage.ParseManifest(networkManifest),
		stage.ParseManifest(subnetManifest))
	controlPlane.Spec.Resources = append(controlPlane.Spec.Resources, stage.ParseManifest(windowManifest))
	pool := cluster.Pools[0]
	pool.Spec.Resources[0] = editManifest(t, pool.Spec.Resources[0], func(spec body) {
		spec["vnetSubnetReference"] = body{"group": "network.azure.com", "kind": "VirtualNetworksSubnet", "name": "nodes"}
		spec["nodeLabels"] = body{"team": "blue"}
		spec["upgradeSettings"] = body{"maxSurge": "33%"}
	})
	stage.CreateManifests(cluster)
	stage.WaitManifestsReady(cluster)
	want := []string{
		"PUT resourceGroups/c1",
		"PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1",
		"PUT resourceGroups/c1/Microsoft.ContainerService/managedClusters/c1/maintenanceConfigurations/aksManagedAutoUpgradeSchedule",
		"PUT resourceGroups/c1/Microsoft.ManagedIdentity/userAssignedIdentities/nodes",
		"PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/net",
		"PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/net/subnets/nodes",
		"PUT resourceGroups/others/Microsoft.ManagedIdentity/userAssignedIdentities/kept",
	}
	written := harness.DropKubeconfigReads(stage.Azure.WritesSince(0))
	if diff := cmp.Diff(want, withoutElement(written, "PUT resourceGroups/others")); diff != "" {
		t.Errorf("one write per document (-want +got):\n%s", diff)
	}
	clientID := readValue(stage, identityPath, msiVersion, "properties.clientId")
	exported := &corev1.ConfigMap{}
	stage.Eventually("operatorSpec is served", func() bool {
		return stage.Client.Get(t.Context(), client.ObjectKey{Namespace: stage.Namespace, Name: "nodes"}, exported) == nil &&
			`"`+exported.Data["client"]+`"` == clientID
	})

	change := func(object *[]runtime.RawExtension, at int, edit func(spec body)) {
		t.Helper()
		changed := editManifest(t, (*object)[at], edit)
		switch object {
		case &infrastructure.Spec.Resources:
			harness.ChangeObject(stage, infrastructure, func(o *infrav1.AzureASOManagedCluster) { o.Spec.Resources[at] = changed })
		case &controlPlane.Spec.Resources:
			harness.ChangeObject(stage, controlPlane, func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Resources[at] = changed })
		default:
			harness.ChangeObject(stage, pool, func(o *infrav1.AzureASOManagedMachinePool) { o.Spec.Resources[at] = changed })
		}
	}
	until := func(what, path, version, at, want string) {
		t.Helper()
		stage.Eventually(what, func() bool { return readValue(stage, path, version, at) == want })
	}
	change(&infrastructure.Spec.Resources, 2, func(spec body) { delete(spec, "tags") })
	until("the tag is gone", identityPath, msiVersion, "tags.team", "null")
	change(&controlPlane.Spec.Resources, 1, func(spec body) { delete(spec["maintenanceWindow"].(body), "notAllowedDates") })
	until("nothing is not allowed", windowPath, clusterVersion, "properties.maintenanceWindow.notAllowedDates", "null")
	change(&pool.Spec.Resources, 0, func(spec body) { delete(spec, "nodeLabels") })
	until("the labels are gone", clusterPath+"/agentPools/pool0", clusterVersion, "properties.nodeLabels", "null")
	changeInAzure(clusterPath+"/agentPools/pool0", clusterVersion, setValue("properties.upgradeSettings.maxSurge", "50%"))(stage)
	stage.WakeControllers(pool)
	until("the surge is that of the resource manifest", clusterPath+"/agentPools/pool0", clusterVersion, "properties.upgradeSettings.maxSurge", `"33%"`)

	harness.ChangeObject(stage, controlPlane, func(o *infrav1.AzureASOManagedControlPlane) { o.Spec.Resources = o.Spec.Resources[:1] })
	stage.Eventually("the window is gone",
		func() bool { status, _ := stage.Azure.GetResource(windowPath, clusterVersion); return status == 404 })
	harness.ChangeObject(stage, infrastructure, func(o *infrav1.AzureASOManagedCluster) {
		o.Spec.Resources = append(o.Spec.Resources[:1:1], o.Spec.Resources[3:]...)
	})
	stage.Eventually("the identity is gone",
		func() bool { status, _ := stage.Azure.GetResource(identityPath, msiVersion); return status == 404 })
	harness.WaitFor(stage, infrastructure, "c1", "without them", func(o *infrav1.AzureASOManagedCluster) bool {
		return len(o.Status.Resources) == 3 && o.Status.ObservedGeneration == o.Generation && harness.IsReady(o)
	})
	if status, _ := stage.Azure.GetResource(keptPath, msiVersion); status != 200 {
		t.Errorf("a resource whose document is to be detached is gone with it: %d", status)
	}

	stage.WaitManifestsReady(cluster)
	stage.DeleteManifests(cluster)
	if status, _ := stage.Azure.GetResource("resourceGroups/c1", "2021-04-01"); status != 404 {
		t.Errorf("the group is left: %d", status)
	}
	if status, _ := stage.Azure.GetResource(keptPath, msiVersion); status != 200 {
		t.Errorf("a resource whose document was detached went with the Cluster: %d", status)
	}
}

// editManifest returns a document whose spec is changed.
func editManifest(t testing.TB, from runtime.RawExtension, change func(spec body)) runtime.RawExtension {
	t.Helper()
	var decoded body
	if err := json.Unmarshal(from.Raw, &decoded); err != nil {
		t.Fatal(err)
	}
	change(decoded["spec"].(body))
	raw, err := json.Marshal(decoded)
	if err != nil {
		t.Fatal(err)
	}
	return runtime.RawExtension{Raw: raw}
}

func withoutElement(all []string, one string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(each string) bool { return each == one })
}
