package pool

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
)

// vmProfilePath is the path of the largest part of a scale set's template.
const vmProfilePath = "properties.virtualMachineProfile"

// templatePaths are the paths of a scale set from which its VMs are created. Tags and bootstrap data are not among them,
// because VMs that differ only in those are brought to the latest model in place.
var templatePaths = []string{vmProfilePath, "properties.additionalCapabilities", "plan", "sku.name"}

// keptPaths are the paths whose settings stay recorded while a scale set keeps its template.
var keptPaths = []string{vmProfilePath, "properties.additionalCapabilities", "plan", "properties.zoneBalance"}

// keepTemplate removes the template from the body of a scale set, and gives it the zones that the scale set has. A PUT keeps properties
// that a body leaves out, so the scale set keeps its template:
// https://learn.microsoft.com/en-us/previous-versions/azure/virtual-machines/put-calls-create-or-update. The bootstrap
// data stay in the body, because VMs that are added with an expired token do not join the cluster.
func keepTemplate(in Input, node *arm.Node, body *armcompute.VirtualMachineScaleSet) error {
	var stored armcompute.VirtualMachineScaleSet
	if err := json.Unmarshal(in.PoolFacts.ScaleSet, &stored); err != nil {
		return arm.AddSubject("GET "+ScaleSetID(in).ShortName(), err)
	}
	if stored.SKU == nil || stored.SKU.Name == nil {
		return fmt.Errorf("GET %s: the scale set has no sku.name", ScaleSetID(in).ShortName())
	}
	body.SKU.Name, body.Plan, body.Zones = stored.SKU.Name, nil, stored.Zones
	body.Properties.AdditionalCapabilities, body.Properties.ZoneBalance = nil, nil
	os := body.Properties.VirtualMachineProfile.OSProfile
	body.Properties.VirtualMachineProfile = nil
	if os != nil && os.CustomData != nil {
		body.Properties.VirtualMachineProfile = &armcompute.VirtualMachineScaleSetVMProfile{
			OSProfile: &armcompute.VirtualMachineScaleSetOSProfile{CustomData: os.CustomData},
		}
	}
	node.KeptPaths = keptPaths
	return nil
}

// ChangesTemplate returns true if the plan changes the template of an existing scale set, so that its VMs cannot be
// brought to the latest model in place. found are the differences that the migration of the pool keeps.
func ChangesTemplate(in Input, found *applied.Differences) (bool, error) {
	in.KeepTemplate = false
	graph, err := BuildPlan(in)
	if err != nil {
		return false, err
	}
	differences, err := diffScaleSet(in, graph)
	if err != nil {
		return false, err
	}
	differs := false
	for _, d := range differences {
		// No early exit: at migration every difference has to be recorded.
		if isInTemplate(d.Path) && !found.KeepsDifference(ScaleSetID(in), d.Path, d.Want, d.Have) {
			differs = true
		}
	}
	return differs, nil
}

// diffScaleSet compares the plan of an existing scale set with the one in Azure.
func diffScaleSet(in Input, graph *arm.Graph) ([]compare.Difference, error) {
	id := ScaleSetID(in)
	row, err := types.ForID(id)
	if err != nil {
		return nil, err
	}
	node := graph.Node(id)
	want, err := graph.DecodedBody(node)
	if err != nil {
		return nil, err
	}
	have, err := arm.DecodeBody(in.PoolFacts.ScaleSet)
	if err != nil {
		return nil, arm.AddSubject("GET "+id.ShortName(), err)
	}
	return compare.Diff(compare.Desired{Type: row, Body: want, OwnedPaths: node.OwnedPaths}, have), nil
}

func isInTemplate(path string) bool {
	return slices.ContainsFunc(templatePaths, func(of string) bool { return path == of || strings.HasPrefix(path, of+".") })
}
