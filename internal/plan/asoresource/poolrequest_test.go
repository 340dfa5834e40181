package asoresource

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/aks"
)

// poolForms are the ways to request an agent pool, with the errors in a request, and the field of one in a property that is called typed in
// the typed kind.
var poolForms = map[string]struct {
	check func(t *testing.T, c aksCase) field.ErrorList
	field func(property, typed string) string
}{
	"typed": {func(_ *testing.T, c aksCase) field.ErrorList {
		in := typedInput(c)
		return aks.CheckPool(in, in.Pools[0])
	}, func(_, typed string) string { return "spec." + typed }},
	"patch": {func(_ *testing.T, c aksCase) field.ErrorList {
		c.typed = func(spec *infrav1.AzureManagedMachinePoolSpec) {
			if c.manifest != "" {
				spec.ASOManagedClustersAgentPoolPatches = []string{"{spec: {" + strings.TrimPrefix(c.manifest, ", ") + "}}"}
			}
			if c.name != "" {
				spec.Name = &c.name
			}
		}
		in := typedInput(c)
		return aks.CheckPool(in, in.Pools[0])
	}, func(property, _ string) string { return "spec.asoManagedClustersAgentPoolPatches." + property }},
	"manifest": {func(t *testing.T, c aksCase) field.ErrorList {
		if c.name != "" {
			c.manifest += ", azureName: " + c.name
		}
		return CheckManifests(manifestInput(t, c))
	}, func(property, _ string) string { return ".spec." + property }},
	"profile": {func(t *testing.T, c aksCase) field.ErrorList {
		name, count := "p", ""
		if c.name != "" {
			name = c.name
		}
		if !strings.Contains(c.manifest, "count:") {
			count = fmt.Sprintf(", count: %d", *c.replicas)
		}
		// AKS needs a System pool, and the second cluster of an object keeps its profiles.
		profiles := "agentPoolProfiles: [{name: " + name + ", mode: " + c.poolMode() + count + c.manifest + "}, {name: other, mode: System, count: 1}]"
		in := newInput(t, groupManifest, aksManifest,
			strings.NewReplacer("{name: mc}", "{name: mc2}", "dnsPrefix: x", "dnsPrefix: x, "+profiles).Replace(aksManifest))
		if c.pool != "" {
			var pool struct{ Properties map[string]any }
			if err := json.Unmarshal([]byte(c.pool), &pool); err != nil {
				t.Fatal(err)
			}
			pool.Properties["name"] = name
			in.Facts[arm.ID(strings.Replace(string(aksID), "/mc", "/mc2", 1)).Key()], _ = json.Marshal(map[string]any{
				"properties": map[string]any{"agentPoolProfiles": []any{pool.Properties}}})
		}
		return CheckManifests(in)
	}, func(property, _ string) string { return ".agentPoolProfiles[0]." + property }},
}

// TestPoolRequest checks requests that AKS would refuse, in every form that a pool can have.
func TestPoolRequest(t *testing.T) {
	type spec = infrav1.AzureManagedMachinePoolSpec
	withTaint := func(spec *spec) { spec.Taints = infrav1.Taints{{Key: "a", Value: "b", Effect: "NoSchedule"}} }
	scaled := func(least, most int) (func(*spec), string) {
		return func(spec *infrav1.AzureManagedMachinePoolSpec) {
			spec.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: &least, MaxSize: &most}
		}, fmt.Sprintf(", enableAutoScaling: true, minCount: %d, maxCount: %d", least, most)
	}
	downToNothing, downToNothingManifest := scaled(0, 3)
	inverted, invertedManifest := scaled(4, 3)
	beyond, beyondManifest := scaled(1, 1001)
	const oldTaint = `, nodeTaints: ["a=b:NoSchedule"]`
	for name, test := range map[string]struct {
		reason   string
		replicas int32
		name     string
		mode     string
		typed    func(spec *spec)
		manifest string
		pool     string // in Azure
		// property and inTyped are the wrong property and its name in the typed kind, message follows it. Without a property AKS accepts all.
		property, inTyped, message string
		// unpatched means that patches cannot have the request.
		unpatched bool
	}{
		"plain": {reason: "nothing is wrong", replicas: 1},
		"Windows": {reason: "pods of the system need Linux", replicas: 1, typed: func(spec *spec) { spec.OSType = new("Windows") },
			manifest: ", osType: Windows", property: "osType", message: ": Invalid value"},
		"Windows with a long name": {reason: "host names of Windows are short", replicas: 1, mode: "User", name: "windows",
			typed: func(spec *spec) { spec.OSType = new("Windows") }, manifest: ", osType: Windows", property: "name",
			message: `: Invalid value: "windows": is too long: a pool with Windows has at most 6 characters`},
		"Spot": {reason: "pods of the system need nodes that stay", replicas: 1, typed: func(spec *spec) { spec.ScaleSetPriority = new("Spot") },
			manifest: ", scaleSetPriority: Spot", property: "scaleSetPriority", message: ": Invalid value"},
		"taints": {reason: "AKS refuses one that keeps pods of the system away", replicas: 1,
			typed: func(spec *spec) {
				spec.Taints = infrav1.Taints{{Key: "CriticalAddonsOnly", Value: "true", Effect: "NoSchedule"},
					{Key: "a", Value: "b", Effect: "PreferNoSchedule"}, {Key: "a", Value: "b", Effect: "NoExecute"}}
			},
			manifest: `, nodeTaints: ["CriticalAddonsOnly=true:NoSchedule", "a=b:PreferNoSchedule", "a=b:NoExecute"]`,
			property: "nodeTaints", inTyped: "taints", message: `[2]: Invalid value: "a=b:NoExecute"`},
		"taints, User": {reason: "other pools may have any", mode: "User", typed: withTaint, manifest: oldTaint},
		"taint that the pool has": {reason: "AKS accepted it earlier", replicas: 1, typed: withTaint, manifest: oldTaint,
			pool: `{"properties":{"mode":"System","count":1,"nodeTaints":["a=b:NoSchedule"]}}`},
		"taint of a pool that becomes System": {reason: "AKS refuses it", replicas: 1, typed: withTaint, manifest: oldTaint,
			pool:     `{"properties":{"mode":"User","count":1,"nodeTaints":["a=b:NoSchedule"]}}`,
			property: "nodeTaints", inTyped: "taints", message: "[0]: Invalid value"},
		"no nodes":       {reason: "pods of the system need a node", property: "count", message: ": Invalid value: 0"},
		"no nodes, User": {reason: "other pools may have none", mode: "User"},
		"too many nodes": {reason: "AKS has at most 1000 in a pool", replicas: 1001, property: "count", message: ": Invalid value: 1001"},
		"down to nothing": {reason: "pods of the system need a node", replicas: 1, typed: downToNothing, manifest: downToNothingManifest,
			property: "minCount", inTyped: "scaling.minSize", message: ": Invalid value: 0", unpatched: true},
		"bounds": {reason: "no number is between them", replicas: 1, typed: inverted, manifest: invertedManifest,
			property: "minCount", inTyped: "scaling.minSize", message: ": Invalid value: 4: is above max", unpatched: true},
		"bound beyond": {reason: "AKS has at most 1000 in a pool", replicas: 1, typed: beyond, manifest: beyondManifest,
			property: "maxCount", inTyped: "scaling.maxSize", message: ": Invalid value: 1001", unpatched: true},
		"few pods": {reason: "AKS has at least 10 on a node", replicas: 1, typed: func(spec *spec) { spec.MaxPods = new(9) }, manifest: ", maxPods: 9",
			property: "maxPods", message: ": Invalid value: 9: must be between 10 and 250"},
		"few pods for System": {reason: "pods of the system need room", replicas: 1, typed: func(spec *spec) { spec.MaxPods = new(20) }, manifest: ", maxPods: 20",
			property: "maxPods", message: ": Invalid value: 20: must be at least 30"},
		"few pods, User": {reason: "other pools need less", replicas: 1, mode: "User", typed: func(spec *spec) { spec.MaxPods = new(20) },
			manifest: ", maxPods: 20"},
		"few pods of a pool that becomes System": {reason: "the number cannot change", replicas: 1, typed: func(spec *spec) { spec.MaxPods = new(20) },
			manifest: ", maxPods: 20", pool: `{"properties":{"mode":"User","count":1,"maxPods":20}}`,
			property: "maxPods", message: ": Invalid value: 20: must be at least 30"},
		"few pods that the pool has": {reason: "AKS accepted it earlier", replicas: 1, typed: func(spec *spec) { spec.MaxPods = new(20) },
			manifest: ", maxPods: 20", pool: `{"properties":{"mode":"System","count":1,"maxPods":20}}`},
		"label of AKS": {reason: "the prefix is reserved", replicas: 1,
			typed:    func(spec *spec) { spec.NodeLabels = map[string]string{"kubernetes.azure.com/x": "z"} },
			manifest: ", nodeLabels: {kubernetes.azure.com/x: z}", property: "nodeLabels", message: "[kubernetes.azure.com/x]: Invalid value"},
		"label of AKS that the pool has": {reason: "exported manifests have it", replicas: 1,
			typed:    func(spec *spec) { spec.NodeLabels = map[string]string{"kubernetes.azure.com/x": "z"} },
			manifest: ", nodeLabels: {kubernetes.azure.com/x: z}",
			pool:     `{"properties":{"mode":"System","count":1,"nodeLabels":{"kubernetes.azure.com/x":"z"}}}`},
		"price": {reason: "no machine is free", mode: "User", replicas: 1,
			typed: func(spec *spec) {
				spec.ScaleSetPriority, spec.SpotMaxPrice = new("Spot"), new(resource.MustParse("-2"))
			},
			manifest: ", scaleSetPriority: Spot, spotMaxPrice: -2", property: "spotMaxPrice", message: ": Invalid value: -2"},
		"prefix without addresses": {reason: "nodes without a public address cannot use it", replicas: 1,
			typed:    func(spec *spec) { spec.NodePublicIPPrefixID = new(prefixID) },
			manifest: ", nodePublicIPPrefixReference: {armId: " + prefixID + "}", property: "nodePublicIPPrefix", message: ": Forbidden: needs enableNodePublicIP: true"},
		"swap": {reason: "the kubelet does not start", replicas: 1,
			typed:    func(spec *spec) { spec.LinuxOSConfig = &infrav1.LinuxOSConfig{SwapFileSizeMB: new(1500)} },
			manifest: ", linuxOSConfig: {swapFileSizeMB: 1500}", property: "linuxOSConfig.swapFileSizeMB", message: ": Forbidden: needs kubeletConfig.failSwapOn"},
		"image thresholds": {reason: "the kubelet does not start", replicas: 1,
			typed: func(spec *spec) {
				spec.KubeletConfig = &infrav1.KubeletConfig{ImageGcLowThreshold: new(80), ImageGcHighThreshold: new(70)}
			},
			manifest: ", kubeletConfig: {imageGcLowThreshold: 80, imageGcHighThreshold: 70}", property: "kubeletConfig.imageGcLowThreshold",
			message: ": Invalid value: 80: must not be above imageGcHighThreshold, 70"},
	} {
		for form, how := range poolForms {
			if form == "patch" && (test.unpatched || test.typed == nil) {
				continue
			}
			t.Run(name+"/"+form, func(t *testing.T) {
				c := aksCase{version: version1332, poolVersion: version1332, replicas: &test.replicas, mode: test.mode, name: test.name,
					cluster: cleanCluster, pool: test.pool, manifest: test.manifest,
					typed: func(spec *spec) {
						if test.typed != nil {
							test.typed(spec)
						}
						if test.name != "" {
							spec.Name = &test.name
						}
					}}
				errs := how.check(t, c)
				inTyped := test.inTyped
				if inTyped == "" {
					inTyped = test.property
				}
				want := how.field(test.property, inTyped)
				switch {
				case test.property == "count" && form != "profile":
					want = "MachinePool.spec.replicas"
				case test.property == "name" && form == "patch":
					want = "spec.name"
				case test.property == "name" && form == "manifest":
					want = ".spec.azureName"
				case test.property == "nodePublicIPPrefix" && (form == "typed" || form == "patch"):
					want += "ID"
				case test.property == "nodePublicIPPrefix":
					want += "Reference"
				}
				want += test.message
				if test.property == "" && len(errs) > 0 || test.property != "" && (len(errs) != 1 || !strings.Contains(errs[0].Error(), want)) {
					t.Errorf("%s: want %q, got %v", test.reason, want, errs)
				}
			})
		}
	}
}

const prefixID = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/a"

// TestProfilesOfManifest plans a second managed cluster in an object, whose manifest has its pools.
func TestProfilesOfManifest(t *testing.T) {
	second := func(mode string) Input {
		return newInput(t, groupManifest, aksManifest, strings.NewReplacer("{name: mc}", "{name: mc2}", "dnsPrefix: x",
			"dnsPrefix: x, agentPoolProfiles: [{name: own, count: 1, vmSize: Standard_D2s_v3, mode: "+mode+"}]").Replace(aksManifest), poolManifest)
	}
	id := arm.ID(strings.Replace(string(aksID), "/mc", "/mc2", 1))
	body, node := mustPlanNode(t, second("System"), id)
	if node.Blocked != "" || node.Refused != "" || !strings.Contains(body, `"name":"own"`) || strings.Contains(body, `"name":"p"`) {
		t.Errorf("the cluster waits for %q, is refused for %q, and is created with %s", node.Blocked, node.Refused, body)
	}
	if errs := CheckManifests(second("User")); len(errs) != 1 || !strings.Contains(errs[0].Error(), ".agentPoolProfiles: Invalid value: 1: has no pool with mode System") {
		t.Errorf("without a System pool: %v", errs)
	}
}

// TestProfilesOfAnyShape checks profiles that are no list of objects. Null counts as absent, as in every manifest.
func TestProfilesOfAnyShape(t *testing.T) {
	const pool = "{name: p, mode: System, count: 1}"
	for profiles, accepted := range map[string]bool{
		`["x", ` + pool + `]`: false, "[[], " + pool + "]": false, `"x"`: false, pool: false, "[null, " + pool + "]": true, "[" + pool + "]": true,
	} {
		t.Run(profiles, func(t *testing.T) {
			second := strings.NewReplacer("{name: mc}", "{name: mc2}", "dnsPrefix: x", "dnsPrefix: x, agentPoolProfiles: "+profiles).Replace(aksManifest)
			if errs := CheckManifests(newInput(t, groupManifest, aksManifest, second)); (len(errs) == 0) != accepted {
				t.Errorf("the errors are %v, accepted should be %t", errs, accepted)
			}
		})
	}
}
