package estate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

type object = map[string]any

// kinds are those that the established provider has written to, in no particular order.
var kinds = []string{"AzureCluster", "AzureMachine", "AzureClusterIdentity", "AzureManagedControlPlane", "AzureManagedCluster",
	"AzureManagedMachinePool", "AzureMachinePool", "AzureMachinePoolMachine"}

// listObjects returns all of the stage's of a kind.
func listObjects(stage *harness.Stage, kind string) []*unstructured.Unstructured {
	stage.T.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(infrav1.GroupVersion.WithKind(kind + "List"))
	if err := stage.Client.List(stage.T.Context(), list, client.InNamespace(stage.Namespace)); err != nil {
		stage.T.Fatal(err)
	}
	var out []*unstructured.Unstructured
	for i := range list.Items {
		out = append(out, &list.Items[i])
	}
	return out
}

// storeAsEstablished stores every object as the established provider would have left it.
func storeAsEstablished(stage *harness.Stage) {
	stage.T.Helper()
	for _, kind := range kinds {
		for _, item := range listObjects(stage, kind) {
			stored := stage.ReadStored(item)
			convertToEstablished(stage, stored)
			stage.WriteStored(stored)
		}
	}
}

// convertToEstablished gives a stored object the form of the established provider: no annotation of ours, a status of
// contract v1beta1, and the values that it writes back into spec and annotations.
func convertToEstablished(stage *harness.Stage, stored *unstructured.Unstructured) {
	annotations := stored.GetAnnotations()
	for key := range annotations {
		if strings.HasPrefix(key, "sigs.k8s.io/cluster-api-provider-azure-") {
			delete(annotations, key)
		}
	}
	stored.SetAnnotations(annotations)
	status, _, _ := unstructured.NestedMap(stored.Object, "status")
	oldStatus(status)
	switch stored.GetKind() {
	case "AzureCluster":
		oldCluster(stage, stored, status)
	case "AzureMachine":
		oldMachine(stored, status)
	case "AzureManagedControlPlane":
		oldControlPlane(status)
	case "AzureManagedCluster":
		// It has no conditions.
		status = object{"ready": true}
	case "AzureManagedMachinePool":
		oldPool(stage, stored, status)
	case "AzureMachinePool":
		oldScaleSet(stored, status)
	case "AzureMachinePoolMachine":
		oldInstance(status)
	case "AzureClusterIdentity":
		delete(status, "ready")
	}
	setNested(stored.Object, status, "status")
}

// oldStatus sets the fields that are the same for every kind.
func oldStatus(status object) {
	delete(status, "initialization")
	delete(status, "resources")
	status["ready"] = true
	status["longRunningOperationStates"] = []any{object{"type": "PUT", "name": "over", "serviceName": "long", "resourceGroup": "c1",
		"data": "eyJ0eXBlIjoib3ZlciJ9"}}
	conditions, _, _ := unstructured.NestedSlice(object{"c": status["conditions"]}, "c")
	conditions = slices.DeleteFunc(conditions, func(c any) bool { return c.(object)["type"] == "Paused" })
	for _, c := range conditions {
		condition := c.(object)
		delete(condition, "observedGeneration")
		if condition["status"] == "True" {
			delete(condition, "reason")
			delete(condition, "message")
		} else {
			condition["severity"] = "Info"
		}
	}
	status["conditions"] = append(conditions, object{"type": "OnlyThere", "status": "True", "lastTransitionTime": "2024-05-01T00:00:00Z"})
}

func oldCluster(stage *harness.Stage, stored *unstructured.Unstructured, status object) {
	domains := object{}
	list, _ := status["failureDomains"].([]any)
	for _, item := range list {
		domain := item.(object)
		domains[domain["name"].(string)] = object{"controlPlane": true}
	}
	delete(status, "failureDomains")
	if len(domains) > 0 {
		status["failureDomains"] = domains
	}
	cluster := stored.GetName()
	group := nestedString(stored.Object, "spec", "resourceGroup")
	prefix := "/subscriptions/" + stage.Azure.SubscriptionID + "/resourceGroups/" + group + "/providers/Microsoft.Network/"
	vnet := nestedString(stored.Object, "spec", "networkSpec", "vnet", "name")
	setNested(stored.Object, prefix+"virtualNetworks/"+vnet, "spec", "networkSpec", "vnet", "id")
	setNested(stored.Object, object{
		"Name": vnet, "sigs.k8s.io_cluster-api-provider-azure_role": "common",
		"sigs.k8s.io_cluster-api-provider-azure_cluster_" + cluster: "owned",
	}, "spec", "networkSpec", "vnet", "tags")
	subnets, _, _ := unstructured.NestedSlice(stored.Object, "spec", "networkSpec", "subnets")
	rules := object{}
	for _, item := range subnets {
		subnet := item.(object)
		subnet["id"] = prefix + "virtualNetworks/" + vnet + "/subnets/" + fmt.Sprint(subnet["name"])
		gateway, _ := subnet["natGateway"].(object)
		switch subnet["role"] {
		case "control-plane":
			subnet["natGateway"] = object{"name": "", "ip": object{"name": ""}}
			securityGroup, _ := subnet["securityGroup"].(object)
			had, _ := securityGroup["securityRules"].([]any)
			securityGroup["securityRules"] = append(had, oldRule("allow_ssh", "Allow SSH", 2200, "22"),
				oldRule("allow_apiserver", "Allow K8s API Server", 2201, "6443"))
			applied := object{}
			for _, r := range securityGroup["securityRules"].([]any) {
				applied[r.(object)["name"].(string)] = r.(object)["description"]
			}
			rules[fmt.Sprint(securityGroup["name"])] = applied
		default:
			if gateway != nil && gateway["name"] != nil && gateway["name"] != "" {
				gateway["id"] = prefix + "natGateways/" + fmt.Sprint(gateway["name"])
			}
		}
	}
	setNested(stored.Object, subnets, "spec", "networkSpec", "subnets")
	if _, found, _ := unstructured.NestedMap(stored.Object, "spec", "bastionSpec"); !found {
		setNested(stored.Object, object{}, "spec", "bastionSpec")
	}
	setNested(stored.Object, stored.GetNamespace(), "spec", "identityRef", "namespace")
	frontends, _, _ := unstructured.NestedSlice(stored.Object, "spec", "networkSpec", "apiServerLB", "frontendIPs")
	if host := nestedString(stored.Object, "spec", "controlPlaneEndpoint", "host"); len(frontends) > 0 && strings.Contains(host, "cloudapp") {
		frontends[0].(object)["publicIP"].(object)["dnsName"] = host
		setNested(stored.Object, frontends, "spec", "networkSpec", "apiServerLB", "frontendIPs")
	}
	raw, _ := json.Marshal(rules)
	setAnnotation(stored, "sigs.k8s.io/cluster-api-provider-azure-last-applied-security-rules", string(raw))
	setAnnotation(stored, "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-rg", "{}")
	setAnnotation(stored, "clusterctl.cluster.x-k8s.io/block-move", "true")
}

func oldRule(name, description string, priority int64, port string) object {
	return object{
		"name": name, "description": description, "priority": priority, "protocol": "Tcp", "direction": "Inbound", "action": "Allow",
		"source": "*", "sourcePorts": "*", "destination": "*", "destinationPorts": port,
	}
}

func oldMachine(stored *unstructured.Unstructured, status object) {
	spec := stored.Object["spec"].(object)
	spec["roleAssignmentName"] = ""
	interfaces, _ := spec["networkInterfaces"].([]any)
	for _, item := range interfaces {
		nic := item.(object)
		if nic["acceleratedNetworking"] == nil {
			// What the size can, decided when the machine was made; the sizes of the flavors can.
			nic["acceleratedNetworking"] = true
		}
	}
	if _, found := spec["networkInterfaces"]; !found {
		spec["networkInterfaces"] = []any{object{"privateIPConfigs": int64(1), "acceleratedNetworking": true}}
	}
	delete(status, "failureDomain")
	tags := object{"kubernetes.io_cluster_" + stored.GetLabels()["cluster.x-k8s.io/cluster-name"]: "owned"}
	for key, value := range clusterTags {
		tags[key] = value
	}
	for key, value := range machineTags {
		tags[key] = value
	}
	raw, _ := json.Marshal(tags)
	setAnnotation(stored, "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-vm", string(raw))
	setAnnotation(stored, "clusterctl.cluster.x-k8s.io/block-move", "true")
}

func oldControlPlane(status object) {
	status["initialized"] = true
	for _, field := range []string{"versions", "failureDomains"} {
		delete(status, field)
	}
}

// oldPool has the subnet that the established provider writes into the spec, and the mode as a label.
func oldPool(stage *harness.Stage, stored *unstructured.Unstructured, status object) {
	controlPlane := listObjects(stage, "AzureManagedControlPlane")[0]
	status["replicas"] = int64(len(stored.Object["spec"].(object)["providerIDList"].([]any)))
	setNested(stored.Object, nestedString(controlPlane.Object, "spec", "virtualNetwork", "subnet", "name"), "spec", "subnetName")
	setNested(stored.Object, nestedString(stored.Object, "spec", "mode"), "metadata", "labels", infrav1.LabelAgentPoolMode)
	setAnnotation(stored, "clusterctl.cluster.x-k8s.io/block-move", "true")
}

// oldScaleSet has the interface that the established provider writes into the template, with its default subnet, and a
// disk that a user made larger in the template: there it waits for another image.
func oldScaleSet(stored *unstructured.Unstructured, status object) {
	for _, field := range []string{"instances", "version", "observedGeneration"} {
		delete(status, field)
	}
	setNested(stored.Object, []any{object{"subnetName": "node-subnet", "privateIPConfigs": int64(1)}}, "spec", "template", "networkInterfaces")
	// Stored numbers are read as JSON has them.
	size, _ := harness.FindValue(stored.Object, "spec.template.osDisk.diskSizeGB").(float64)
	setNested(stored.Object, int64(2*size), "spec", "template", "osDisk", "diskSizeGB")
	tags := object{"kubernetes.io_cluster_" + cluster: "owned"}
	for _, more := range []object{clusterTags, machineTags} {
		maps.Copy(tags, more)
	}
	raw, _ := json.Marshal(tags)
	setAnnotation(stored, "sigs.k8s.io/cluster-api-provider-azure-last-applied-tags-vmss", string(raw))
	setAnnotation(stored, "clusterctl.cluster.x-k8s.io/block-move", "true")
}

// oldInstance has the established provider's status of a VM: no addresses, no name, and not whether it runs.
func oldInstance(status object) {
	for _, field := range []string{"addresses", "failureDomain", "instanceName", "observedGeneration"} {
		delete(status, field)
	}
	conditions, _ := status["conditions"].([]any)
	status["conditions"] = slices.DeleteFunc(conditions, func(c any) bool { return c.(object)["type"] == "VMRunning" })
}

func setAnnotation(stored *unstructured.Unstructured, key, value string) {
	annotations := stored.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[key] = value
	stored.SetAnnotations(annotations)
}

func nestedString(of object, path ...string) string {
	value, _, _ := unstructured.NestedString(of, path...)
	return value
}

func setNested(of object, value any, path ...string) {
	// The paths lead through objects only, so this cannot fail.
	_ = unstructured.SetNestedField(of, value, path...)
}
