package machine

import (
	"fmt"
	"math"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// NodeCapacity returns the processors and the memory of a node of a size, for the cluster autoscaler, which needs them
// before the first node exists.
func NodeCapacity(size *plan.VMSize) corev1.ResourceList {
	memory := resource.MustParse(fmt.Sprintf("%dMi", int64(math.Round(size.MemoryGB*1024))))
	if size.MemoryGB == math.Trunc(size.MemoryGB) {
		memory = resource.MustParse(fmt.Sprintf("%dGi", int64(size.MemoryGB)))
	}
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewQuantity(int64(size.VCPUs), resource.DecimalSI),
		corev1.ResourceMemory: memory,
	}
}

// NodeInfo returns architecture and operating system of a node of a size. The error is an architecture in the catalog that
// Kubernetes does not know, or none.
func NodeInfo(size *plan.VMSize, osType string) (infrav1.NodeInfo, error) {
	info := infrav1.NodeInfo{OperatingSystem: infrav1.OperatingSystemLinux}
	if strings.EqualFold(osType, infrav1.WindowsOS) {
		info.OperatingSystem = infrav1.OperatingSystemWindows
	}
	switch architecture := size.Capabilities["CpuArchitectureType"]; strings.ToLower(architecture) {
	case "x64":
		info.Architecture = infrav1.ArchitectureAmd64
	case "arm64":
		info.Architecture = infrav1.ArchitectureArm64
	default:
		return infrav1.NodeInfo{},
			fmt.Errorf("VM size %s has the architecture %q in Azure's catalog (capability CpuArchitectureType), and nodes can only be x64 or Arm64",
				size.Name, architecture)
	}
	return info, nil
}
