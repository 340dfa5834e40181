package maxima_test

import (
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/maxima"
)

func TestExceeded(t *testing.T) {
	machine := func(change func(*infrav1.AzureMachineSpec)) *infrav1.AzureMachine {
		m := &infrav1.AzureMachine{}
		m.Spec.NetworkInterfaces = []infrav1.NetworkInterface{{PrivateIPConfigs: 1}, {PrivateIPConfigs: 256}}
		change(&m.Spec)
		return m
	}
	tags := infrav1.Tags{}
	for i := range 101 {
		tags[strings.Repeat("t", i+1)] = ""
	}
	tests := map[string]struct {
		reason string
		kind   string
		object any
		want   string
	}{
		"as most": {"the maximum is allowed", "AzureMachine", machine(func(*infrav1.AzureMachineSpec) {}), ""},
		"number": {"it is how many addresses are planned", "AzureMachine",
			machine(func(s *infrav1.AzureMachineSpec) { s.NetworkInterfaces[1].PrivateIPConfigs = 2e9 }), "spec.networkInterfaces[1].privateIPConfigs: Invalid value: 2000000000: must be at most 256"},
		"list": {"each interface is a resource", "AzureMachine",
			machine(func(s *infrav1.AzureMachineSpec) { s.NetworkInterfaces = make([]infrav1.NetworkInterface, 33) }), "spec.networkInterfaces: Too many: 33: must have at most 32 items"},
		"map":          {"so are keys bounded", "AzureMachine", machine(func(s *infrav1.AzureMachineSpec) { s.AdditionalTags = tags }), "spec.additionalTags: Too many: 101"},
		"another kind": {"it has maxima of its own", "AzureManagedCluster", &infrav1.AzureManagedCluster{Spec: infrav1.AzureManagedClusterSpec{ControlPlaneEndpoint: infrav1.APIEndpoint{Port: 65536}}}, "spec.controlPlaneEndpoint.port"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			errs := maxima.Exceeded(test.kind, test.object)
			if test.want == "" && len(errs) > 0 || test.want != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), test.want)) {
				t.Errorf("%s: %v", test.reason, errs)
			}
		})
	}
}
