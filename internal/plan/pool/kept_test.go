package pool_test

import (
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/fieldtest"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// TestKept makes fields of a pool invalid whose scale set exists. The plan still changes the number of VMs, and leaves out what is invalid.
func TestKept(t *testing.T) {
	for name, test := range map[string]struct {
		reason              string
		change              func(*pool.Input)
		template, tags      string
		keepsVMs, keepsTags bool
	}{
		"valid": {reason: "all is sent", change: func(*pool.Input) {}},
		"image": {reason: "no image is known", change: func(in *pool.Input) { in.MachinePool.Spec.Template.Spec.Version = "" },
			template: "spec.template.image: Invalid value: \"\": ", keepsVMs: true},
		"key": {reason: "it is not encoded", change: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.SSHPublicKey = "no" },
			template: "spec.template.sshPublicKey: ", keepsVMs: true},
		"subnet": {reason: "no subnet has a role of nodes", change: func(in *pool.Input) {
			in.AzureMachinePool.Spec.Template.NetworkInterfaces[0].SubnetName = ""
			for i := range in.AzureCluster.Spec.NetworkSpec.Subnets {
				in.AzureCluster.Spec.NetworkSpec.Subnets[i].Role = infrav1.SubnetControlPlane
			}
		}, template: "spec.template.networkInterfaces[0].subnetName: ", keepsVMs: true},
		"tags": {reason: "Azure takes 50", change: func(in *pool.Input) { in.AzureMachinePool.Spec.AdditionalTags = fieldtest.NewTags(47) },
			tags: "spec.additionalTags: ", keepsTags: true},
	} {
		for _, mode := range []infrav1.OrchestrationMode{infrav1.UniformOrchestration, infrav1.FlexibleOrchestration} {
			t.Run(name+" "+string(mode), func(t *testing.T) {
				in := newStoredPool(t, func(in *pool.Input) { in.AzureMachinePool.Spec.OrchestrationMode = mode })
				before, _ := readSentBody(t, in)
				in.Capacity = new(7)
				test.change(&in)
				if errs := pool.CheckSpec(in); len(errs) > 0 {
					t.Errorf("%s: refused: %v", test.reason, errs)
				}
				template, tags := pool.CheckKept(in)
				for _, each := range []struct {
					got  error
					want string
				}{{template.ToAggregate(), test.template}, {tags.ToAggregate(), test.tags}} {
					switch {
					case each.want == "" && each.got == nil:
					case each.want == "" || each.got == nil || !strings.HasPrefix(each.got.Error(), each.want) || !strings.Contains(each.got.Error(), ". The scale set keeps "):
						t.Errorf("%s: got %v, want %q", test.reason, each.got, each.want)
					}
				}
				body, _ := readSentBody(t, in)
				profile := body["properties"].(map[string]any)["virtualMachineProfile"].(map[string]any)
				if _, has := profile["storageProfile"]; has == test.keepsVMs {
					t.Errorf("%s: the body has a template: %t", test.reason, has)
				}
				if os, _ := profile["osProfile"].(map[string]any); os["customData"] == nil {
					t.Errorf("%s: VMs that are added get no bootstrap data", test.reason)
				}
				if sku := body["sku"].(map[string]any); sku["capacity"] == nil || sku["name"] != before["sku"].(map[string]any)["name"] {
					t.Errorf("%s: the size is %v", test.reason, sku)
				}
				if has := len(body["tags"].(map[string]any)); test.keepsTags && has != len(before["tags"].(map[string]any)) {
					t.Errorf("%s: the body has %d tags, and the scale set %d", test.reason, has, len(before["tags"].(map[string]any)))
				}
			})
		}
	}
}
