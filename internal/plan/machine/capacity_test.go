package machine_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/machine"
)

func TestCapacity(t *testing.T) {
	tests := map[string]struct {
		reason      string
		size        plan.VMSize
		osType      string
		cpu, memory string
		node        infrav1.NodeInfo
		problem     string
	}{
		"whole gibibytes": {
			reason: "as most sizes", size: plan.VMSize{VCPUs: 4, MemoryGB: 16, Capabilities: map[string]string{"CpuArchitectureType": "x64"}},
			osType: "Linux",
			cpu:    "4", memory: "16Gi", node: infrav1.NodeInfo{Architecture: "amd64", OperatingSystem: "linux"},
		},
		"half a gibibyte": {
			reason: "mebibytes, because Kubernetes has no 3.5Gi",
			size:   plan.VMSize{VCPUs: 1, MemoryGB: 3.5, Capabilities: map[string]string{"CpuArchitectureType": "Arm64"}}, osType: "Linux",
			cpu: "1", memory: "3584Mi", node: infrav1.NodeInfo{Architecture: "arm64", OperatingSystem: "linux"},
		},
		"Windows": {
			reason: "nodes name it in lower case",
			size:   plan.VMSize{VCPUs: 2, MemoryGB: 8, Capabilities: map[string]string{"CpuArchitectureType": "x64"}}, osType: "Windows",
			cpu: "2", memory: "8Gi", node: infrav1.NodeInfo{Architecture: "amd64", OperatingSystem: "windows"},
		},
		"no architecture": {
			reason: "a guess would put pods where they cannot run", size: plan.VMSize{Name: "Standard_X", VCPUs: 2, MemoryGB: 8}, osType: "Linux",
			cpu: "2", memory: "8Gi", problem: `Standard_X has the architecture ""`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			capacity := machine.NodeCapacity(&test.size)
			if cpu, memory := capacity.Cpu().String(), capacity.Memory().String(); cpu != test.cpu || memory != test.memory {
				t.Errorf("%s: got %s processors and %s, want %s and %s", test.reason, cpu, memory, test.cpu, test.memory)
			}
			node, err := machine.NodeInfo(&test.size, test.osType)
			if diff := cmp.Diff(test.node, node); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if (err != nil) != (test.problem != "") || err != nil && !strings.Contains(err.Error(), test.problem) {
				t.Errorf("%s: got error %v, want %q", test.reason, err, test.problem)
			}
		})
	}
}
