package setup

import (
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// The feature gates, by the names that users know. Those of kinds that are not served yet are accepted and without
// effect, because manifests of the established provider set them.
const (
	gateMachinePool       featuregate.Feature = "MachinePool"
	gateClusterTopology   featuregate.Feature = "ClusterTopology"
	gateEdgeZone          featuregate.Feature = "EdgeZone"
	gateAPIServerILB      featuregate.Feature = "APIServerILB"
	gateAKSResourceHealth featuregate.Feature = "AKSResourceHealth"
	gateAKS               featuregate.Feature = "AKS"
	gateASOAPI            featuregate.Feature = "ASOAPI"
)

func newGates() featuregate.MutableVersionedFeatureGate {
	first := version.MustParse("2.0")
	spec := func(on bool) featuregate.VersionedSpecs {
		stage := featuregate.Beta
		if !on {
			stage = featuregate.Alpha
		}
		return featuregate.VersionedSpecs{{Version: first, Default: on, PreRelease: stage}}
	}
	gates := featuregate.NewVersionedFeatureGate(first)
	runtime.Must(gates.AddVersioned(map[featuregate.Feature]featuregate.VersionedSpecs{
		gateMachinePool:       spec(true),
		gateClusterTopology:   spec(false),
		gateEdgeZone:          spec(false),
		gateAPIServerILB:      spec(false),
		gateAKSResourceHealth: spec(false),
		gateAKS:               spec(true),
		gateASOAPI:            spec(true),
	}))
	return gates
}

// features are the gates that plans know.
func features(gates featuregate.FeatureGate) plan.Features {
	return plan.Features{
		EdgeZone:     gates.Enabled(gateEdgeZone),
		APIServerILB: gates.Enabled(gateAPIServerILB),
		MachinePool:  gates.Enabled(gateMachinePool),
	}
}
