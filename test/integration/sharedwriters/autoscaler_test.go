package sharedwriters_test

import (
	"net/http"
	"path"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
)

// autoscalerVersion is the api-version of cluster-autoscaler's client for scale sets.
const autoscalerVersion = "2022-03-01"

// autoscalerRows are the writes of cluster-autoscaler with its cloud provider for Azure. With the cloud provider clusterapi it writes to Machines and
// MachinePools alone.
// https://github.com/kubernetes/autoscaler/blob/master/cluster-autoscaler/cloudprovider/azure/azure_scale_set.go
func autoscalerRows() []row {
	const program = "cluster-autoscaler"
	delegate := func(w *world) {
		harness.ChangeObject(w.Stage, machinePool(), func(p *machinePoolType) { p.Annotations = map[string]string{replicasManaged: program} })
		w.AdvanceClock(w.Resync)
	}
	hasInstances := func(want int) func(*world) bool {
		return func(w *world) bool {
			read := w.ReadResource(scaleSet)
			tags, _ := read["tags"].(body)
			return harness.FindValue(read, "sku.capacity") == float64(want) && len(w.instancePaths()) == want &&
				tags[infrav1.ClusterTagKey(clusterName)] == "owned"
		}
	}
	tag := func(w *world) {
		harness.ChangeObject(w.Stage, newPool(), func(p *infrav1.AzureMachinePool) { p.Spec.AdditionalTags = infrav1.Tags{"team": "a"} })
	}
	const put = "PUT resourceGroups/c1/Microsoft.Compute/virtualMachineScaleSets/c1-mp"
	return []row{
		{
			program: program, resource: "Scale set", entry: "a larger capacity, where the MachinePool has an annotation that an autoscaler sets it",
			verb: "PUT of name, location and sku", in: selfManaged,
			write: func(w *world) {
				delegate(w)
				read := w.ReadResource(scaleSet)
				sku := read["sku"].(body)
				sku["capacity"] = 4
				w.sendVersion(http.MethodPut, scaleSet, autoscalerVersion, body{"name": read["name"], "location": read["location"], "sku": sku})
			},
			kept: hasInstances(4), change: tag, sends: put,
		},
		{
			program: program, resource: "Scale set", entry: "fewer VMs, where the MachinePool has that annotation", verb: "POST delete of instances",
			in: selfManaged,
			write: func(w *world) {
				delegate(w)
				w.sendVersion(http.MethodPost, scaleSet+"/delete", autoscalerVersion, body{"instanceIds": []any{path.Base(w.instancePaths()[0])}})
			},
			kept: hasInstances(1), change: tag, sends: put,
		},
	}
}
