package transitions_test

import (
	"regexp"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/test/integration/harness"
	"sigs.k8s.io/cluster-api-provider-azure/test/virtual"
)

// pool is a pool of a self-managed cluster.
var pool = life{
	kinds: map[string]kind{"AzureMachinePool": {plural: "azuremachinepools", hints: joinHints(vmHints("template."), identities, hints{
		"location": nil, "providerID": nil, "providerIDList": nil, "additionalTags": tags,
		"platformFaultDomainCount":              {int64(1), int64(5), int64(6)},
		"strategy.rollingUpdate.maxSurge":       {int64(1), int64(0), "50%", "50"},
		"strategy.rollingUpdate.maxUnavailable": {int64(1), int64(0), "50%"},
	})}},
	cluster: "c1",
	objects: []object{{name: "pool", kind: "AzureMachinePool", base: map[string]any{
		"location": "eastus", "template": map[string]any{"vmSize": "Standard_D2s_v3", "sshPublicKey": sshKey, "osDisk": disk},
	}, comes: true}},
	before: (*world).createNetwork,
	create: func(w *world, admitted map[string]client.Object) {
		w.player = &harness.PoolPlayer{Client: w.Kubernetes, Namespace: w.Namespace}
		for _, object := range admitted {
			w.CreatePool(object.(*infrav1.AzureMachinePool), 2)
		}
	},
	add: func(w *world, admitted client.Object) { w.CreatePool(admitted.(*infrav1.AzureMachinePool), 2) },
	remove: func(w *world, name string) bool {
		azurePool, machinePool := w.readStored(name), virtual.MachinePool(name)
		w.DeleteObjects(machinePool, azurePool, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name}})
		w.waitUntilGone(azurePool)
		w.RemoveFinalizers(machinePool)
		return true
	},
	whole: func(w *world) bool {
		if w.manifests["pool"] == nil {
			return true
		}
		vms := &infrav1.AzureMachinePoolMachineList{}
		if err := w.Kubernetes.List(w.T.Context(), vms); err != nil {
			w.T.Fatal(err)
		}
		azurePool := w.readStored("pool").(*infrav1.AzureMachinePool)
		whole := len(azurePool.Spec.ProviderIDList) == 2 && len(vms.Items) == 2
		for _, instance := range azurePool.Status.Instances {
			whole = whole && instance.LatestModelApplied
		}
		return whole
	},
	excused: []excuse{
		madeUpKey,
		{reason: "Azure keeps the timeout of notifications that are off", difference: regexp.MustCompile(`\.terminateNotificationProfile\.notBeforeTimeout: `)},
		{reason: "VMs are numbered as they come, or named by lot",
			difference: regexp.MustCompile(`/virtualMachineScaleSets/pool/virtualMachines/|/disks/pool_|/virtualMachines/pool_#\.properties\.osProfile\.computerName: `)},
	},
}
