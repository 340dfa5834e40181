package status

import infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"

// ReportPoolProvisioned sets the status that shows a machine pool as provisioned once it is complete. Both fields stay true until the pool
// is deleted, during changes and failures, too: Cluster API's MachinePool controller reads ready, whatever the contract of the CRD, and
// copies neither provider IDs nor replicas while that is false (reconcileInfrastructure in
// core/reconcilers/machinepool/machinepool_controller_phases.go, and IsReady in controllers/external/util.go of v1.14.2).
func ReportPoolProvisioned(initialization *infrav1.InitializationStatus, ready *bool, complete bool) {
	if complete {
		initialization.Provisioned = new(true)
	}
	if initialization.Provisioned != nil && *initialization.Provisioned {
		*ready = true
	}
}
