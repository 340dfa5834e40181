package pool_test

import (
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// TestDeniedWrites plans a scale set that exists after the catalog has changed. The pool is not refused, so that leaving VMs are deleted.
// Only a write that needs the size is denied.
func TestDeniedWrites(t *testing.T) {
	restrict := func(in *pool.Input) {
		in.PoolFacts.VMSize.RestrictionReason, in.PoolFacts.VMSize.Zones = "NotAvailableForSubscription", nil
	}
	const restricted = "spec.template.vmSize ... the subscription cannot use this size in region westus2 (NotAvailableForSubscription)"
	for name, test := range map[string]struct {
		reason string
		change func(*pool.Input)
		denied string
	}{
		"available":                {reason: "nothing is wrong", change: func(in *pool.Input) { in.Capacity = new(9) }},
		"restricted in the region": {reason: "its VMs stay", change: restrict},
		"restricted in the region, pool grows": {reason: "Azure answers SkuNotAvailable",
			change: func(in *pool.Input) { restrict(in); in.Capacity = new(9) }, denied: restricted},
		"restricted in the region, pool shrinks": {reason: "no VM is made",
			change: func(in *pool.Input) { restrict(in); in.Capacity = new(0) }},
		"restricted in the region, other tags": {reason: "no VM is made",
			change: func(in *pool.Input) { restrict(in); in.AzureMachinePool.Spec.AdditionalTags = infrav1.Tags{"a": "b"} }},
		"restricted in the region, other template": {reason: "VMs are replaced for it", denied: restricted,
			change: func(in *pool.Input) {
				restrict(in)
				in.AzureMachinePool.Spec.Template.OSDisk.DiskSizeGB = new(int32(333))
			}},
		"restricted in a zone": {reason: "its VMs stay", change: func(in *pool.Input) { in.PoolFacts.VMSize.Zones = []string{"1", "3"} }},
		"restricted in a zone, pool grows": {reason: "Azure may choose the zone", denied: "spec.template.vmSize ... not available in zone 2",
			change: func(in *pool.Input) { in.PoolFacts.VMSize.Zones, in.Capacity = []string{"1", "3"}, new(9) }},
		"all sizes restricted in a zone": {reason: "its VMs stay",
			change: func(in *pool.Input) {
				in.Facts.Zones, in.PoolFacts.VMSize.Zones = []string{"1", "3"}, []string{"1", "3"}
			}},
		"misspelled zone": {reason: "the scale set would get it", denied: "MachinePool.spec.failureDomains ... choose from 1, 2, 3",
			change: func(in *pool.Input) { in.MachinePool.Spec.FailureDomains = []string{"1", "2", "4"} }},
		"no longer in the catalog": {reason: "its VMs stay", change: func(in *pool.Input) { in.PoolFacts.VMSize = nil }},
		"no longer in the catalog, pool grows": {reason: "Azure answers InvalidParameter", denied: "spec.template.vmSize ... region westus2",
			change: func(in *pool.Input) { in.PoolFacts.VMSize, in.Capacity = nil, new(9) }},
		"unknown size": {reason: "the scale set would get it", denied: "spec.template.vmSize ... Standard_D2s_v33",
			change: func(in *pool.Input) {
				in.PoolFacts.VMSize, in.AzureMachinePool.Spec.Template.VMSize = nil, "Standard_D2s_v33"
			}},
		"unknown size, template kept": {reason: "the scale set keeps its size", change: func(in *pool.Input) {
			in.PoolFacts.VMSize, in.AzureMachinePool.Spec.Template.VMSize, in.KeepTemplate = nil, "Standard_D2s_v33", true
		}},
		"bootstrap data that are too long": {reason: "they are for new VMs only",
			change: func(in *pool.Input) { in.BootstrapData = make([]byte, 65536) }},
		"bootstrap data that are too long, pool shrinks": {reason: "no VM is made",
			change: func(in *pool.Input) { in.BootstrapData, in.Capacity = make([]byte, 65536), new(0) }},
		"bootstrap data that are too long, others add VMs": {reason: "the scale set keeps its data",
			change: func(in *pool.Input) { in.BootstrapData, in.SendBootstrapData = make([]byte, 65536), true }},
		"bootstrap data that are too long, pool grows": {reason: "Azure answers InvalidParameter",
			change: func(in *pool.Input) { in.BootstrapData, in.Capacity = make([]byte, 65536), new(9) },
			denied: "MachinePool.spec.template.spec.bootstrap.dataSecretName ... the bootstrap data have 65536 bytes"},
		"setting that the size does not support": {reason: "the scale set would get it", change: func(in *pool.Input) {
			in.AzureMachinePool.Spec.Template.SecurityProfile = &infrav1.SecurityProfile{EncryptionAtHost: new(true)}
			delete(in.PoolFacts.VMSize.Capabilities, "EncryptionAtHostSupported")
		}, denied: "spec.template.securityProfile.encryptionAtHost"},
	} {
		t.Run(name, func(t *testing.T) {
			in := newStoredPool(t, nil)
			test.change(&in)
			if errs := pool.CheckSpec(in); len(errs) > 0 {
				t.Errorf("%s: the pool is refused: %v", test.reason, errs)
			}
			sent, node := readSentBody(t, in)
			for _, found := range jsonpath.Expand(sent, "properties.virtualMachineProfile.osProfile.customData") {
				if data := found.Value.(string); len(data) > 87380 {
					t.Errorf("%s: the body has %d characters of custom data, and Azure takes 87380", test.reason, len(data))
				}
			}
			message := node.DenialMessage(nil)
			if denied := message != ""; denied != (test.denied != "") {
				t.Fatalf("%s: denied %t: %q", test.reason, denied, message)
			}
			for _, fragment := range strings.Split(test.denied, " ... ") {
				if !strings.Contains(message, fragment) {
					t.Errorf("%s: %q lacks %q", test.reason, message, fragment)
				}
			}
		})
	}
}
