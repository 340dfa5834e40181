// Package stopped stops and starts clusters of all kinds that have VMs. Cluster API's own reconciler of MachineHealthChecks runs beside the
// provider. Time is virtual.
package stopped
