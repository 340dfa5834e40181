module sigs.k8s.io/cluster-api-provider-azure/sim/conformance

go 1.26.0

require sigs.k8s.io/cluster-api-provider-azure/sim v0.0.0

replace sigs.k8s.io/cluster-api-provider-azure/sim => ..
