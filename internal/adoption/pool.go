package adoption

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
)

// scaledByAKS and documentScaledByAKS are what the annotation of a MachinePool says that AKS's autoscaler scales.
const (
	scaledByAKS         = "true"
	documentScaledByAKS = "aks"
)

// reserved is the prefix of labels and taints that AKS adds by itself.
const reserved = "kubernetes.azure.com"

// pool writes the objects of an agent pool.
func (n names) pool(controlPlane *infrav1.AzureManagedControlPlaneSpec, r Resource) (Pool, error) {
	shown, err := showPool(r)
	if err != nil {
		return Pool{}, fmt.Errorf("%s: %w", r.ID, err)
	}
	name := n.cluster + "-" + r.ID.Name()
	out := Pool{
		MachinePool: n.machinePool("AzureManagedMachinePool", name, shown, scaledByAKS),
		AzurePool:   &infrav1.AzureManagedMachinePool{TypeMeta: kind("AzureManagedMachinePool"), ObjectMeta: n.meta(name)},
	}
	spec := &out.AzurePool.Spec
	spec.Name, spec.Mode, spec.SKU = new(r.ID.Name()), shown.Mode, shown.VMSize
	spec.OSDiskSizeGB, spec.MaxPods, spec.AvailabilityZones = shown.OSDiskSizeGB, shown.MaxPods, shown.AvailabilityZones
	spec.OSType, spec.OsDiskType = either(shown.OSType, "Linux", "Windows"), either(shown.OSDiskType, "Managed", "Ephemeral")
	spec.KubeletDiskType = either(shown.KubeletDiskType, infrav1.KubeletDiskTypeOS, infrav1.KubeletDiskTypeTemporary)
	spec.ScaleDownMode, spec.ScaleSetPriority = either(shown.ScaleDownMode, "Delete", "Deallocate"), either(shown.ScaleSetPriority, "Spot")
	spec.EnableEncryptionAtHost, spec.EnableFIPS = on(shown.EnableEncryptionAtHost), on(shown.EnableFIPS)
	spec.EnableNodePublicIP, spec.EnableUltraSSD = on(shown.EnableNodePublicIP), on(shown.EnableUltraSSD)
	spec.KubeletConfig, spec.LinuxOSConfig = as[infrav1.KubeletConfig](shown.KubeletConfig), as[infrav1.LinuxOSConfig](shown.LinuxOSConfig)
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
		if strings.HasPrefix(key, reserved) {
			continue
		}
		if spec.NodeLabels == nil {
			spec.NodeLabels = map[string]string{}
		}
		spec.NodeLabels[key] = value
	}
	for _, text := range shown.NodeTaints {
		if !strings.HasPrefix(text, reserved) {
			spec.Taints = append(spec.Taints, taint(text))
		}
	}
	return out, within(controlPlane, shown, r, spec)
}

// taint is a taint as AKS writes it: key=value:effect.
func taint(text string) infrav1.Taint {
	before, effect, _ := strings.Cut(text, ":")
	key, value, _ := strings.Cut(before, "=")
	return infrav1.Taint{Key: key, Value: value, Effect: infrav1.TaintEffect(effect)}
}

// within says which subnet of the cluster's network the pool is in, where it is another one than the cluster's.
func within(controlPlane *infrav1.AzureManagedControlPlaneSpec, shown shownPool, r Resource, spec *infrav1.AzureManagedMachinePoolSpec) error {
	network := controlPlane.VirtualNetwork
	subnet, err := arm.ParseID(shown.VnetSubnetID)
	switch {
	case shown.VnetSubnetID == "" && network.Name == "":
		return nil
	case err != nil, !strings.EqualFold(subnet.Parent().Name(), network.Name), !strings.EqualFold(subnet.ResourceGroup(), network.ResourceGroup):
		return fmt.Errorf("%s is in another network than the first pool, which AzureManaged kinds cannot say: use --as documents", r.ID)
	case !strings.EqualFold(subnet.Name(), network.Subnet.Name):
		spec.SubnetName = new(subnet.Name())
	}
	return nil
}
