package pool_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/applied"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// An instance of a uniform scale set and a VM of a flexible one, as the REST API documents them, made of the template of the
// case default.
const (
	uniform = `{"id":"/subscriptions/s/resourceGroups/G/providers/Microsoft.Compute/virtualMachineScaleSets/p/virtualMachines/7","instanceId":"7","name":"p_7","zones":["2"],
"sku":{"name":"Standard_D2s_v3","tier":"Standard"},"properties":{"latestModelApplied":false,"provisioningState":"Succeeded","timeCreated":"2026-11-22T10:00:00.5+00:00",
"instanceView":{"statuses":[{"code":"ProvisioningState/succeeded"},{"code":"PowerState/running"}]},"hardwareProfile":{},"osProfile":{"computerName":"p000007"},
"storageProfile":{"imageReference":{"communityGalleryImageId":"/communitygalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/images/capi-ubun2-2404/versions/1.33.2","exactVersion":"1.33.2"},
"osDisk":{"name":"p_p_7_OsDisk_1_abc","caching":"None","createOption":"FromImage","diskSizeGB":128,"osType":"Linux","managedDisk":{"id":"/x","storageAccountType":"Premium_LRS"}},"dataDisks":[]}},
"resources":[{"id":"/subscriptions/s/resourceGroups/G/providers/Microsoft.Compute/virtualMachineScaleSets/p/virtualMachines/7/extensions/CAPZ.Linux.Bootstrapping","properties":{"provisioningState":"Creating"}}]}`
	flexible = `{"id":"/subscriptions/s/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/p_1a2b3c4d","name":"p_1a2b3c4d",
"properties":{"provisioningState":"Creating","timeCreated":"2026-11-22T10:00:00+00:00","hardwareProfile":{"vmSize":"Standard_D2s_v3"},
"storageProfile":{"imageReference":{"communityGalleryImageId":"/CommunityGalleries/ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019/Images/capi-ubun2-2404/Versions/1.33.2"},
"osDisk":{"caching":"None","createOption":"FromImage","diskSizeGB":128,"osType":"Linux","managedDisk":{"storageAccountType":"Premium_LRS"}}}}}`
)

func TestInstances(t *testing.T) {
	of := func(change func(*pool.Instance)) pool.Instance {
		i := pool.Instance{
			ID: "/subscriptions/s/resourceGroups/G/providers/Microsoft.Compute/virtualMachineScaleSets/p/virtualMachines/7", InstanceID: "7",
			Name:              "p_7",
			ProviderID:        "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachineScaleSets/p/virtualMachines/7",
			ProvisioningState: "Succeeded", PowerState: "running", Zone: "2", ComputerName: "p000007",
			Extensions: []pool.Extension{{Name: "CAPZ.Linux.Bootstrapping", State: "Creating"}},
			Created:    time.Date(2026, 11, 22, 10, 0, 0, 5e8, time.UTC),
		}
		if change != nil {
			change(&i)
		}
		return i
	}
	tests := map[string]struct {
		reason string
		shown  string
		change func(*pool.Input)
		want   pool.Instance
		broken string
	}{
		"as wanted": {reason: "Azure's own mark counts new bootstrap data as well, so it does not count", shown: uniform,
			want: of(nil)},
		"another size": {reason: "size is part of the model", shown: uniform,
			change: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.VMSize = "Standard_D4s_v3" },
			want:   of(func(i *pool.Instance) { i.Outdated = true })},
		"another version": {reason: "so is the image, which is compared by version", shown: uniform,
			change: func(in *pool.Input) { in.MachinePool.Spec.Template.Spec.Version = "v1.33.3" },
			want:   of(func(i *pool.Instance) { i.Outdated = true })},
		"larger disk": {reason: "so are disks", shown: uniform,
			change: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.OSDisk.DiskSizeGB = new(int32(256)) },
			want:   of(func(i *pool.Instance) { i.Outdated = true })},
		"other bootstrap data": {reason: "tokens are renewed every few minutes", shown: uniform,
			change: func(in *pool.Input) { in.BootstrapData = []byte("other") }, want: of(nil)},
		"other tags": {reason: "tags are changed in place", shown: uniform,
			change: func(in *pool.Input) { in.AzureMachinePool.Spec.AdditionalTags = map[string]string{"a": "b"} }, want: of(nil)},
		"volume": {reason: "the disk driver attaches a disk for each volume, also beside disks of the spec",
			shown: strings.Replace(uniform, `"dataDisks":[]`,
				`"dataDisks":[{"name":"p_p_7_disk2_abc","lun":3,"createOption":"Empty","diskSizeGB":64,"managedDisk":{"id":"/y","storageAccountType":"Premium_LRS"}},
{"name":"pvc-1","lun":0,"createOption":"Attach","diskSizeGB":8,"managedDisk":{"id":"/z","storageAccountType":"Premium_LRS"}}]`, 1),
			change: func(in *pool.Input) {
				in.AzureMachinePool.Spec.Template.DataDisks = []infrav1.DataDisk{{NameSuffix: "data", DiskSizeGB: 64, Lun: new(int32(3))}}
			}, want: of(nil)},
		"data disk of an older model": {reason: "the spec has it no longer",
			shown: strings.Replace(uniform, `"dataDisks":[]`,
				`"dataDisks":[{"name":"p_p_7_disk2_abc","lun":3,"createOption":"Empty","diskSizeGB":64,"managedDisk":{"id":"/y","storageAccountType":"Premium_LRS"}}]`, 1),
			want: of(func(i *pool.Instance) { i.Outdated = true })},
		"switched off": {reason: "the scale set makes VMs without it",
			shown: strings.Replace(uniform, `"osProfile":`, `"securityProfile":{"encryptionAtHost":true},"osProfile":`, 1),
			change: func(in *pool.Input) {
				in.PoolFacts.ScaleSet = json.RawMessage(`{"properties":{"virtualMachineProfile":{"securityProfile":{"encryptionAtHost":false}}}}`)
			}, want: of(func(i *pool.Instance) { i.Outdated = true })},
		"on by Azure's default": {reason: "new VMs would have it, too",
			shown: strings.Replace(uniform, `"osProfile":`, `"securityProfile":{"securityType":"TrustedLaunch","uefiSettings":{"vTpmEnabled":true}},"osProfile":`, 1),
			change: func(in *pool.Input) {
				in.PoolFacts.ScaleSet = json.RawMessage(`{"properties":{"virtualMachineProfile":{}}}`)
			}, want: of(nil)},
		"failed": {reason: "Azure does not mend it",
			shown: strings.Replace(uniform, `"provisioningState":"Succeeded"`, `"provisioningState":"Failed"`, 1),
			want:  of(func(i *pool.Instance) { i.ProvisioningState = "Failed" }), broken: "Azure has it in state Failed"},
		"stopped": {reason: "it does not start by itself",
			shown: strings.Replace(uniform, "PowerState/running", "PowerState/deallocated", 1),
			want:  of(func(i *pool.Instance) { i.PowerState = "deallocated" }), broken: "it is deallocated"},
		"evicted": {reason: "a VM that Azure took back is deallocated",
			shown:  strings.Replace(uniform, "PowerState/running", "PowerState/deallocated", 1),
			change: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.SpotVMOptions = &infrav1.SpotVMOptions{} },
			want:   of(func(i *pool.Instance) { i.PowerState, i.Spot = "deallocated", true }),
			broken: "the spot VM is deallocated: Azure evicted it, or it was stopped"},
		"flexible, being made": {reason: "VMs are resources of their own", shown: flexible, want: pool.Instance{
			ID: "/subscriptions/s/resourceGroups/G/providers/Microsoft.Compute/virtualMachines/p_1a2b3c4d", InstanceID: "p_1a2b3c4d",
			Name:              "p_1a2b3c4d",
			ProviderID:        "azure:///subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/virtualMachines/p_1a2b3c4d",
			ProvisioningState: "Creating", Created: time.Date(2026, 11, 22, 10, 0, 0, 0, time.UTC),
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			in := readInput(t, "default")
			in.AzureMachinePool.Annotations = map[string]string{infrav1.AppliedAnnotation: `{"migration":{}}`}
			if test.change != nil {
				test.change(&in)
			}
			got, err := pool.ReadInstances(in, applied.ReadDifferences(in.AzureMachinePool.Annotations),
				[]json.RawMessage{json.RawMessage(test.shown)})
			if err != nil {
				t.Fatal(err)
			}
			got[0].Model, got[0].Upgradable = "", false // TestInstanceModels
			if diff := cmp.Diff([]pool.Instance{test.want}, got, cmp.Comparer(func(a, b time.Time) bool { return a.Equal(b) })); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
			if got := got[0].BrokenReason(); got != test.broken {
				t.Errorf("%s: broken: %q, want %q", test.reason, got, test.broken)
			}
		})
	}
	for _, shown := range []string{`[]`, `{"name":"x"}`} {
		if _, err := pool.ReadInstances(readInput(t, "default"), applied.ReadDifferences(nil),
			[]json.RawMessage{json.RawMessage(shown)}); err == nil {
			t.Errorf("%s is no VM", shown)
		}
	}
}

// TestMigratedVMsAreNotReplaced plans a pool of the established provider, whose VM is smaller than its template and has a smaller disk.
// There, VMs of another model need not be outdated, so the test expects that these stay, and that later changes count.
func TestMigratedVMsAreNotReplaced(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		// before is the pool when it is taken over, after what changes then.
		before, after func(*pool.Input)
		first, then   bool
	}{
		"the same": {reason: "nothing changes", after: func(*pool.Input) {}},
		"image": {reason: "a rollout that the established provider began continues",
			before: func(in *pool.Input) { in.MachinePool.Spec.Template.Spec.Version = "v1.33.3" }, after: func(*pool.Input) {}, first: true,
			then: true},
		"version": {reason: "another version is another image",
			after: func(in *pool.Input) { in.MachinePool.Spec.Template.Spec.Version = "v1.33.3" }, then: true},
		"size": {reason: "another size than at the migration",
			after: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.VMSize = "Standard_D8s_v3" }, then: true},
		"size of the VM": {reason: "the instance has that size",
			after: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.VMSize = "Standard_D2s_v3" }},
		"disk": {reason: "another disk",
			after: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.OSDisk.DiskSizeGB = new(int32(512)) }, then: true},
		"tags": {reason: "tags do not make a VM outdated",
			after: func(in *pool.Input) { in.AzureMachinePool.Spec.AdditionalTags = map[string]string{"a": "b"} }},
	} {
		t.Run(name, func(t *testing.T) {
			in := readInput(t, "default")
			in.AzureMachinePool.Spec.Template.VMSize, in.AzureMachinePool.Spec.Template.OSDisk.DiskSizeGB = "Standard_D4s_v3", new(int32(256))
			if test.before != nil {
				test.before(&in)
			}
			old := func(found *applied.Differences) bool {
				t.Helper()
				vms, err := pool.ReadInstances(in, found, []json.RawMessage{json.RawMessage(uniform)})
				if err != nil {
					t.Fatal(err)
				}
				return vms[0].Outdated
			}
			first := applied.ReadDifferences(nil)
			if got := old(first); got != test.first {
				t.Errorf("%s: outdated at the migration: %t", test.reason, got)
			}
			test.after(&in)
			stored := &metav1.ObjectMeta{}
			applied.Content{Migration: first.Migration(arm.Outcome{})}.Store(stored)
			if got := old(applied.ReadDifferences(stored.Annotations)); got != test.then {
				t.Errorf("%s: old after that: %t", test.reason, got)
			}
		})
	}
}

// TestCapacity checks that an existing scale set keeps its size and its bootstrap data, until VMs are added.
func TestCapacity(t *testing.T) {
	for name, test := range map[string]struct {
		reason string
		change func(*pool.Input)
		want   string
	}{
		"new": {"it begins with the replicas", func(*pool.Input) {}, `{"capacity":3,"data":true}`},
		"there": {"an autoscaler may own the size, and a token is no reason for a write",
			func(in *pool.Input) { in.PoolFacts.ScaleSetExists, in.PoolFacts.BootstrapDataHash = true, "h" }, `{"hash":"h"}`},
		"growing": {"new VMs need a token that works", func(in *pool.Input) {
			in.PoolFacts.ScaleSetExists, in.PoolFacts.BootstrapDataHash, in.Capacity = true, "h", new(5)
		}, `{"capacity":5,"data":true}`},
	} {
		t.Run(name, func(t *testing.T) {
			in := readInput(t, "default")
			test.change(&in)
			graph, err := pool.BuildPlan(in)
			if err != nil {
				t.Fatal(err)
			}
			raw, err := json.Marshal(graph.Node(pool.ScaleSetID(in)).Body)
			if err != nil {
				t.Fatal(err)
			}
			var body struct {
				SKU        struct{ Capacity int }
				Tags       map[string]string
				Properties struct {
					VirtualMachineProfile struct {
						OSProfile struct{ CustomData string }
					}
				}
			}
			if err := json.Unmarshal(raw, &body); err != nil {
				t.Fatal(err)
			}
			got := struct {
				Capacity int    `json:"capacity,omitzero"`
				Data     bool   `json:"data,omitzero"`
				Hash     string `json:"hash,omitzero"`
			}{body.SKU.Capacity, body.Properties.VirtualMachineProfile.OSProfile.CustomData != "", ""}
			if hash := body.Tags["capz-custom-data-hash"]; !got.Data {
				got.Hash = hash
			}
			shown, _ := json.Marshal(got)
			if string(shown) != test.want {
				t.Errorf("%s: got %s, want %s", test.reason, shown, test.want)
			}
		})
	}
}
