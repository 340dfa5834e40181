package adoption

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// managedScaledByAKS and asoScaledByAKS are the values of the annotation replicas-managed-by of a MachinePool that AKS's autoscaler
// scales.
const (
	managedScaledByAKS = "true"
	asoScaledByAKS     = "aks"
)

// reservedPrefix is the prefix of labels and taints that AKS adds.
const reservedPrefix = "kubernetes.azure.com"

// buildPool returns the objects of an agent pool.
func (n objectNames) buildPool(controlPlane *infrav1.AzureManagedControlPlaneSpec, r Resource) (Pool, error) {
	shown, err := readPool(r)
	if err != nil {
		return Pool{}, fmt.Errorf("%s: %w", r.ID, err)
	}
	name := n.cluster + "-" + r.ID.Name()
	out := Pool{
		MachinePool: n.newMachinePool("AzureManagedMachinePool", name, shown, managedScaledByAKS),
		AzurePool:   &infrav1.AzureManagedMachinePool{TypeMeta: newTypeMeta("AzureManagedMachinePool"), ObjectMeta: n.newMeta(name)},
	}
	spec := &out.AzurePool.Spec
	spec.Name, spec.Mode, spec.SKU = new(r.ID.Name()), infrav1.NodePoolModeUser, shown.VMSize
	if mode := matchEnum(shown.Mode, string(infrav1.NodePoolModeSystem)); mode != nil {
		spec.Mode = *mode // A patch has any other mode, such as Gateway.
	}
	spec.OSDiskSizeGB, spec.MaxPods, spec.AvailabilityZones = shown.OSDiskSizeGB, shown.MaxPods, shown.AvailabilityZones
	spec.OSType, spec.OsDiskType = matchEnum(shown.OSType, "Linux", "Windows"), matchEnum(shown.OSDiskType, "Managed", "Ephemeral")
	spec.KubeletDiskType = matchEnum(shown.KubeletDiskType, infrav1.KubeletDiskTypeOS, infrav1.KubeletDiskTypeTemporary)
	spec.ScaleDownMode, spec.ScaleSetPriority = matchEnum(shown.ScaleDownMode, "Delete", "Deallocate"),
		matchEnum(shown.ScaleSetPriority, "Spot")
	spec.EnableEncryptionAtHost, spec.EnableFIPS = trueOrNil(shown.EnableEncryptionAtHost), trueOrNil(shown.EnableFIPS)
	spec.EnableNodePublicIP, spec.EnableUltraSSD = trueOrNil(shown.EnableNodePublicIP), trueOrNil(shown.EnableUltraSSD)
	spec.KubeletConfig, spec.LinuxOSConfig = decodeAs[infrav1.KubeletConfig](shown.KubeletConfig),
		decodeAs[infrav1.LinuxOSConfig](shown.LinuxOSConfig)
	if shown.EnableAutoScaling {
		spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: shown.MinCount, MaxSize: shown.MaxCount}
	}
	if price := shown.SpotMaxPrice; price != nil && spec.ScaleSetPriority != nil {
		quantity := resource.MustParse(strconv.FormatFloat(*price, 'f', -1, 64))
		spec.SpotMaxPrice = &quantity
	}
	if shown.NodePublicIPPrefixID != "" {
		spec.NodePublicIPPrefixID = &shown.NodePublicIPPrefixID
	}
	if len(shown.Tags) > 0 {
		spec.AdditionalTags = shown.Tags
	}
	for key, value := range shown.NodeLabels {
		if strings.HasPrefix(key, reservedPrefix) {
			continue
		}
		if spec.NodeLabels == nil {
			spec.NodeLabels = map[string]string{}
		}
		spec.NodeLabels[key] = value
	}
	for _, text := range shown.NodeTaints {
		if !strings.HasPrefix(text, reservedPrefix) {
			spec.Taints = append(spec.Taints, parseTaint(text))
		}
	}
	return out, setPoolSubnet(controlPlane, shown, r, spec)
}

// parseTaint parses a taint in the format of AKS: key=value:effect.
func parseTaint(text string) infrav1.Taint {
	before, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(before, "=")
	return infrav1.Taint{Key: key, Value: value, Effect: infrav1.TaintEffect(effect)}
}

// setPoolSubnet sets the subnet of the pool if it differs from that of the cluster. It must be in the cluster's network.
func setPoolSubnet(controlPlane *infrav1.AzureManagedControlPlaneSpec, shown poolProperties, r Resource,
	spec *infrav1.AzureManagedMachinePoolSpec) error {
	network := controlPlane.VirtualNetwork
	subnet, err := arm.ParseID(shown.VnetSubnetID)
	switch {
	case shown.VnetSubnetID == "" && network.Name == "":
		return nil
	case err != nil, !strings.EqualFold(subnet.Parent().Name(), network.Name),
		!strings.EqualFold(subnet.ResourceGroup(), network.ResourceGroup):
		return fmt.Errorf("%s is in another network than the first pool, which AzureManaged kinds do not support. Use --as azureasomanaged", r.ID)
	case !strings.EqualFold(subnet.Name(), network.Subnet.Name):
		spec.SubnetName = new(subnet.Name())
	}
	return nil
}
