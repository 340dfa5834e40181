package setup

import (
	"k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/version"
	"k8s.io/component-base/featuregate"
	"sigs.k8s.io/cluster-api/feature"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// The feature gates of this provider.
const (
	gateEdgeZone          featuregate.Feature = "EdgeZone"
	gateAPIServerILB      featuregate.Feature = "APIServerILB"
	gateAKSResourceHealth featuregate.Feature = "AKSResourceHealth"
	gateAKS               featuregate.Feature = "AKS"
	gateASOAPI            featuregate.Feature = "ASOAPI"
	gateSkipModel         featuregate.Feature = "SkipMachinePoolModelReconciliation"
)

// gateMachinePool is a feature gate of Cluster API.
const gateMachinePool = feature.MachinePool

// gatesWithoutEffect maps the gates of the established provider that have no effect here to the reason. Gates of Cluster API are
// not listed.
var gatesWithoutEffect = map[featuregate.Feature]string{
	gateAKS:       "AKS clusters need no gate of their own",
	gateSkipModel: "VMs of an old model are replaced within the limits of the rollout",
}

// newGates returns the gates of this provider and all gates of Cluster API. Deployments of all providers set the latter alike, and
// an unknown gate would stop the manager.
func newGates() featuregate.MutableVersionedFeatureGate {
	first := version.MustParse("2.0")
	spec := func(on bool) featuregate.VersionedSpecs {
		stage := featuregate.Beta
		if !on {
			stage = featuregate.Alpha
		}
		return featuregate.VersionedSpecs{{Version: first, Default: on, PreRelease: stage}}
	}
	all := map[featuregate.Feature]featuregate.VersionedSpecs{
		gateEdgeZone:          spec(false),
		gateAPIServerILB:      spec(false),
		gateAKSResourceHealth: spec(false),
		gateAKS:               spec(true),
		gateASOAPI:            spec(true),
		gateSkipModel:         spec(false),
	}
	for _, name := range clusterAPIGates() {
		all[name] = spec(feature.Gates.Enabled(name))
	}
	gates := featuregate.NewVersionedFeatureGate(first)
	runtime.Must(gates.AddVersioned(all))
	return gates
}

// clusterAPIGates returns the gates of Cluster API without AllAlpha and AllBeta, which are groups of gates.
func clusterAPIGates() []featuregate.Feature {
	var out []featuregate.Feature
	for name := range feature.MutableGates.GetAll() {
		if name != "AllAlpha" && name != "AllBeta" {
			out = append(out, name)
		}
	}
	return out
}

// planFeatures returns the gates that plans depend on.
func planFeatures(gates featuregate.FeatureGate) plan.Features {
	return plan.Features{
		EdgeZone:     gates.Enabled(gateEdgeZone),
		APIServerILB: gates.Enabled(gateAPIServerILB),
		MachinePool:  gates.Enabled(gateMachinePool),
		ASOAPI:       gates.Enabled(gateASOAPI),
	}
}
