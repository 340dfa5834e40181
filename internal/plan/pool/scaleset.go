package pool

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/compute/armcompute/v7"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

// flexibleNetworkVersion is the api-version of Microsoft.Network with which flexible scale sets create interfaces. The
// caller has to choose it:
// https://learn.microsoft.com/en-us/rest/api/compute/virtual-machine-scale-sets/create-or-update
const flexibleNetworkVersion = armcompute.NetworkAPIVersionTwoThousandTwenty1101

// addScaleSet adds the scale set.
func addScaleSet(in Input, g *arm.Graph) error {
	node := arm.Node{ID: ScaleSetID(in), Policy: arm.Repair, Group: infrav1.ScaleSetRunningCondition}
	if in.BootstrapData == nil && in.addsVMs() {
		node.Blocked = "the Secret with the bootstrap data does not exist yet"
	}
	p := buildProfile(in)
	vms, err := vm.BuildScaleSetProfile(p)
	if err != nil {
		return err
	}
	tags, err := buildTags(in)
	if err != nil {
		return err
	}
	spec := in.AzureMachinePool.Spec
	vms.ScheduledEventsProfile = buildScheduledEvents(spec.Template)
	properties := &armcompute.VirtualMachineScaleSetProperties{
		OrchestrationMode:        new(armcompute.OrchestrationMode(spec.OrchestrationMode)),
		SinglePlacementGroup:     new(false),
		PlatformFaultDomainCount: spec.PlatformFaultDomainCount,
		AdditionalCapabilities:   vm.BuildCapabilities(p),
		VirtualMachineProfile:    vms,
	}
	if len(p.Place.Zones) > 1 {
		properties.ZoneBalance = spec.ZoneBalance
	}
	setOrchestration(spec.OrchestrationMode, properties)
	body := &armcompute.VirtualMachineScaleSet{
		Location:         new(p.Place.Region),
		ExtendedLocation: vm.ToExtendedLocation(p.Place),
		Tags:             tags,
		SKU:              &armcompute.SKU{Name: new(p.VMSize), Tier: new("Standard"), Capacity: scaleSetCapacity(in)},
		Plan:             vm.BuildImagePlan(p),
		Identity:         vm.BuildScaleSetIdentity(spec.ManagedIdentities),
		Properties:       properties,
	}
	if len(p.Place.Zones) > 0 {
		body.Zones = plan.ToPointers(p.Place.Zones)
	}
	node.Body = body
	if in.KeepTemplate || in.PoolFacts.ScaleSetExists && len(checkTemplate(in)) > 0 {
		if err := keepTemplate(in, &node, body); err != nil {
			return err
		}
	}
	g.Add(node)
	return nil
}

// setOrchestration sets the properties of one orchestration mode. This provider, not Azure, replaces the VMs of a uniform
// scale set one by one.
func setOrchestration(mode infrav1.OrchestrationMode, properties *armcompute.VirtualMachineScaleSetProperties) {
	if mode == infrav1.FlexibleOrchestration {
		properties.VirtualMachineProfile.NetworkProfile.NetworkAPIVersion = new(flexibleNetworkVersion)
		if properties.PlatformFaultDomainCount == nil {
			properties.PlatformFaultDomainCount = new(int32(1))
		}
		return
	}
	properties.Overprovision = new(false)
	properties.UpgradePolicy = &armcompute.UpgradePolicy{Mode: new(armcompute.UpgradeModeManual)}
}

// scaleSetCapacity returns the number of VMs that Azure is told to run; nil leaves it unchanged.
func scaleSetCapacity(in Input) *int64 {
	switch {
	case in.PoolFacts.ScaleSetExists && in.Capacity == nil:
		return nil
	case in.PoolFacts.ScaleSetExists:
		return new(int64(*in.Capacity))
	}
	return new(int64(WantedReplicas(in)))
}

// WantedReplicas returns the replicas of the MachinePool.
func WantedReplicas(in Input) int {
	if in.MachinePool == nil || in.MachinePool.Spec.Replicas == nil {
		return 0
	}
	return int(*in.MachinePool.Spec.Replicas)
}

func buildScheduledEvents(template infrav1.AzureMachinePoolMachineTemplate) *armcompute.ScheduledEventsProfile {
	if template.TerminateNotificationTimeout == nil {
		return nil
	}
	return &armcompute.ScheduledEventsProfile{TerminateNotificationProfile: &armcompute.TerminateNotificationProfile{
		Enable: new(true), NotBeforeTimeout: new(fmt.Sprintf("PT%dM", *template.TerminateNotificationTimeout)),
	}}
}

// buildTags returns the tags of the scale set, which its VMs get, too. An existing scale set gets no additional ones while the spec has more
// than Azure takes, because Azure refuses a PUT with them as a whole.
func buildTags(in Input) (map[string]*string, error) {
	wanted := wantedTags(in)
	if !in.PoolFacts.ScaleSetExists || len(checkTags(in)) == 0 {
		return wanted, nil
	}
	var stored struct {
		Tags map[string]*string `json:"tags"`
	}
	if err := json.Unmarshal(in.PoolFacts.ScaleSet, &stored); err != nil {
		return nil, arm.AddSubject("GET "+ScaleSetID(in).ShortName(), err)
	}
	maps.DeleteFunc(wanted, func(key string, _ *string) bool {
		for has := range stored.Tags {
			if strings.EqualFold(has, key) {
				return false
			}
		}
		return true
	})
	return wanted, nil
}

// wantedTags returns the tags of the spec. One is the hash of the model's bootstrap data.
func wantedTags(in Input) map[string]*string {
	hashTag := map[string]string{}
	switch hash := in.PoolFacts.BootstrapDataHash; {
	case in.sendsBootstrapData():
		hash := sha256.Sum256([]byte(base64.StdEncoding.EncodeToString(in.BootstrapData)))
		hashTag[infrav1.CustomDataHashTag] = hex.EncodeToString(hash[:])
	case hash != "":
		hashTag[infrav1.CustomDataHashTag] = hash
	}
	additional := plan.MergeTags(plan.NodeAdditionalTags(in.ClusterInput, in.AzureMachinePool.Spec.AdditionalTags), hashTag)
	return plan.BuildTags(in.ClusterInput, infrav1.RoleNode, ScaleSetName(in), additional)
}
