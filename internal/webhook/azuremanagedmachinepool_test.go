package webhook

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
)

const publicIPPrefixID = "/subscriptions/00000000-0000-0000-0000-000000000001/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p"

func TestDefaultAzureManagedMachinePool(t *testing.T) {
	p := newPool(func(p *infrav1.AzureManagedMachinePool) { p.Labels = map[string]string{"a": "b"} })
	defaults.FillAzureManagedMachinePool(p)
	want := newPool().Spec
	want.Name, want.OSType, want.OsDiskType, want.ScaleDownMode = new("pool0"), new("Linux"), new("Managed"), new("Delete")
	if diff := cmp.Diff(want, p.Spec); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"a": "b", infrav1.LabelAgentPoolMode: "User"}, p.Labels); diff != "" {
		t.Errorf("the mode is a label, so that pools can be selected by it: -want +got\n%s", diff)
	}
	p.Spec.Mode = "System"
	defaults.FillAzureManagedMachinePool(p)
	if p.Labels[infrav1.LabelAgentPoolMode] != "System" {
		t.Error("the label follows the mode")
	}
	named := defaultedPool(func(p *infrav1.AzureManagedMachinePool) { p.Spec.Name = new("own") })
	if *named.Spec.Name != "own" {
		t.Errorf("a name that is given stays, got %s", *named.Spec.Name)
	}
}

func TestDefaultAzureManagedMachinePoolTemplate(t *testing.T) {
	for name, tc := range map[string]struct {
		reason, object string
		spec, want     *string
	}{
		"usable":   {reason: "pools are called as the template", object: "workers", want: new("workers")},
		"unusable": {reason: "a name that AKS does not take is no default", object: "my-workers"},
		"given":    {reason: "a name that is given stays", object: "workers", spec: new("own"), want: new("own")},
	} {
		t.Run(name, func(t *testing.T) {
			template := newPoolTemplate(func(t *infrav1.AzureManagedMachinePoolTemplate) {
				t.Name, t.Spec.Template.Spec.Name = tc.object, tc.spec
			})
			defaults.FillAzureManagedMachinePoolTemplate(template)
			if diff := cmp.Diff(tc.want, template.Spec.Template.Spec.Name); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			if template.Labels[infrav1.LabelAgentPoolMode] != "User" || *template.Spec.Template.Spec.OSType != "Linux" {
				t.Errorf("mode and operating system are missing: %s", mustJSON(t, template))
			}
			if errs := ValidateAzureManagedMachinePoolTemplate(template); len(errs) > 0 {
				t.Errorf("the defaults are refused: %v", errs)
			}
		})
	}
}

// poolRow is the creation of an AzureManagedMachinePool.
type poolRow struct {
	reason  string
	change  func(*infrav1.AzureManagedMachinePoolSpec)
	version string // the usual one by default
	any     bool   // no version is known
	want    []string
}

// errors returns the pool of the row with its defaults, and the errors for it.
func (r poolRow) errors() (*infrav1.AzureManagedMachinePool, field.ErrorList) {
	version := "2025-10-01"
	switch {
	case r.any:
		version = anyVersion
	case r.version != "":
		version = r.version
	}
	p := defaultedPool(func(p *infrav1.AzureManagedMachinePool) { r.change(&p.Spec) })
	return p, ValidateAzureManagedMachinePool(p, version)
}

func TestValidateAzureManagedMachinePool(t *testing.T) {
	for name, row := range poolRows() {
		t.Run(name, func(t *testing.T) {
			_, errs := row.errors()
			if diff := cmp.Diff(row.want, errorPaths(errs), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", row.reason, diff)
			}
		})
	}
}

func poolRows() map[string]poolRow {
	type spec = infrav1.AzureManagedMachinePoolSpec
	kubelet := func(k infrav1.KubeletConfig) func(*spec) { return func(s *spec) { s.KubeletConfig = &k } }
	ports := func(r string) func(*spec) {
		return func(s *spec) {
			s.LinuxOSConfig = &infrav1.LinuxOSConfig{Sysctls: &infrav1.SysctlConfig{NetIPv4IPLocalPortRange: &r}}
		}
	}
	swap := func(failSwapOn *bool) func(*spec) {
		return func(s *spec) {
			s.LinuxOSConfig = &infrav1.LinuxOSConfig{SwapFileSizeMB: new(1024)}
			if failSwapOn != nil {
				s.KubeletConfig = &infrav1.KubeletConfig{FailSwapOn: failSwapOn}
			}
		}
	}
	scaling := func(min, max *int) func(*spec) {
		return func(s *spec) { s.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: min, MaxSize: max} }
	}
	price := func(p string) func(*spec) {
		return func(s *spec) { s.ScaleSetPriority, s.SpotMaxPrice = new("Spot"), new(resource.MustParse(p)) }
	}
	prefix := func(id string) func(*spec) {
		return func(s *spec) { s.EnableNodePublicIP, s.NodePublicIPPrefixID = new(true), &id }
	}
	sysctls := func(names ...string) func(*spec) { return kubelet(infrav1.KubeletConfig{AllowedUnsafeSysctls: names}) }
	subnet := func(name string) func(*spec) { return func(s *spec) { s.SubnetName = &name } }
	long := "a123456789b123456789c123456789d123456789e123456789f123456789g123456789h123456789"
	return map[string]poolRow{
		"minimal": {reason: "the defaults are valid", change: func(*spec) {}},
		"few pods": {reason: "a node runs ten pods", change: func(s *spec) { s.MaxPods = new(9) },
			want: []string{"spec.maxPods: FieldValueInvalid"}},
		"many pods": {reason: "a node runs 250 pods", change: func(s *spec) { s.MaxPods = new(251) },
			want: []string{"spec.maxPods: FieldValueInvalid"}},
		"all pods": {reason: "a node runs 250 pods", change: func(s *spec) { s.MaxPods = new(250) }},
		"long name": {reason: "twelve characters are all", change: func(s *spec) { s.Name = new("abcdefghijklm") },
			want: []string{"spec.name: FieldValueInvalid"}},
		"longest name": {reason: "twelve characters fit", change: func(s *spec) { s.Name = new("abcdefghijkl") }},
		"digit first": {reason: "a letter comes first", change: func(s *spec) { s.Name = new("0pool") },
			want: []string{"spec.name: FieldValueInvalid"}},
		"dash": {reason: "there are letters and digits", change: func(s *spec) { s.Name = new("c1-pool0") },
			want: []string{"spec.name: FieldValueInvalid"}},
		"upper case": {reason: "letters are small", change: func(s *spec) { s.Name = new("Pool") },
			want: []string{"spec.name: FieldValueInvalid"}},
		"Windows": {reason: "six characters fit", change: func(s *spec) { s.OSType, s.Name = new("Windows"), new("win123") }},
		"long Windows": {reason: "six characters are all", change: func(s *spec) { s.OSType, s.Name = new("Windows"), new("win1234") },
			want: []string{"spec.name: FieldValueInvalid"}},
		"system Windows": {reason: "AKS's own pods run on Linux",
			change: func(s *spec) { s.Mode, s.OSType, s.Name = "System", new("Windows"), new("win") },
			want:   []string{"spec.osType: FieldValueInvalid"}},
		"system spot": {reason: "AKS's own pods are not evicted", change: func(s *spec) { s.Mode, s.ScaleSetPriority = "System", new("Spot") },
			want: []string{"spec.scaleSetPriority: FieldValueInvalid"}},
		"labels": {reason: "AKS reserves these labels",
			change: func(s *spec) { s.NodeLabels = map[string]string{"kubernetes.azure.com/mode": "x", "b": "c"} },
			want:   []string{"spec.nodeLabels[kubernetes.azure.com/mode]: FieldValueInvalid"}},

		"scaling": {reason: "a user pool scales to nothing", change: scaling(new(0), new(1))},
		"system scaling": {reason: "a system pool has a node", change: func(s *spec) { s.Mode = "System"; scaling(new(0), new(3))(s) },
			want: []string{"spec.scaling.minSize: FieldValueInvalid"}},
		"scaling reversed": {reason: "the least is not above the greatest", change: scaling(new(4), new(3)),
			want: []string{"spec.scaling.minSize: FieldValueInvalid"}},
		"scaling far": {reason: "a pool has 1000 nodes", change: scaling(new(-1), new(1001)),
			want: []string{"spec.scaling.minSize: FieldValueInvalid", "spec.scaling.maxSize: FieldValueInvalid"}},

		"price":        {reason: "a price is paid", change: price("0.05")},
		"any price":    {reason: "-1 is any price", change: price("-1")},
		"no price":     {reason: "nothing is for free", change: price("0"), want: []string{"spec.spotMaxPrice: FieldValueInvalid"}},
		"gift":         {reason: "a negative price is invalid", change: price("-2"), want: []string{"spec.spotMaxPrice: FieldValueInvalid"}},
		"prefix":       {reason: "addresses are taken from a prefix", change: prefix(publicIPPrefixID)},
		"prefix slash": {reason: "the first slash may be missing", change: prefix(publicIPPrefixID[1:])},
		"prefix ID": {reason: "a prefix is named by ID",
			change: prefix("/subscriptions/s/resourceGroups/g/providers/Microsoft.Network/publicIPPrefixes/p"),
			want:   []string{"spec.nodePublicIPPrefixID: FieldValueInvalid"}},
		"prefix type": {reason: "a prefix is a prefix", change: prefix(publicIPPrefixID + "/x"),
			want: []string{"spec.nodePublicIPPrefixID: FieldValueInvalid"}},
		"prefix only": {reason: "a prefix needs addresses",
			change: func(s *spec) { s.NodePublicIPPrefixID = new(publicIPPrefixID) },
			want:   []string{"spec.nodePublicIPPrefixID: FieldValueForbidden"}},

		"period": {reason: "periods are milliseconds", change: kubelet(infrav1.KubeletConfig{CPUCfsQuotaPeriod: new("100ms")})},
		"period seconds": {reason: "periods are milliseconds", change: kubelet(infrav1.KubeletConfig{CPUCfsQuotaPeriod: new("100s")}),
			want: []string{"spec.kubeletConfig.cpuCfsQuotaPeriod: FieldValueInvalid"}},
		"garbage": {reason: "collecting ends below where it begins",
			change: kubelet(infrav1.KubeletConfig{ImageGcLowThreshold: new(90), ImageGcHighThreshold: new(80)}),
			want:   []string{"spec.kubeletConfig.imageGcLowThreshold: FieldValueInvalid"}},
		"even garbage": {reason: "both may be the same",
			change: kubelet(infrav1.KubeletConfig{ImageGcLowThreshold: new(80), ImageGcHighThreshold: new(80)})},
		"sysctls": {reason: "the kubelet knows some sysctls",
			change: sysctls("kernel.shmmax", "kernel.msg*", "kernel.sem", "fs.mqueue.x", "net.core.somaxconn")},
		"other sysctls": {reason: "the kubelet knows no others", change: sysctls("net.core.somaxconn", "kernel.semaphore", "vm.swappiness"),
			want: []string{"spec.kubeletConfig.allowedUnsafeSysctls[1]: FieldValueInvalid",
				"spec.kubeletConfig.allowedUnsafeSysctls[2]: FieldValueInvalid"}},
		"swap": {reason: "a kubelet that tolerates swap starts", change: swap(new(false))},
		"swap, unsaid": {reason: "a kubelet does not tolerate swap by itself", change: swap(nil),
			want: []string{"spec.linuxOSConfig.swapFileSizeMB: FieldValueForbidden"}},
		"swap, fails": {reason: "a kubelet that fails does not start", change: swap(new(true)),
			want: []string{"spec.linuxOSConfig.swapFileSizeMB: FieldValueForbidden"}},
		"ports":      {reason: "a range is first and last", change: ports("32768 60999")},
		"ports edge": {reason: "the limits are AKS's", change: ports("1024 32768")},
		"one port": {reason: "a range is first and last", change: ports("32768"),
			want: []string{"spec.linuxOSConfig.sysctls.netIpv4IPLocalPortRange: FieldValueInvalid"}},
		"low port": {reason: "the limits are AKS's", change: ports("1023 60999"),
			want: []string{"spec.linuxOSConfig.sysctls.netIpv4IPLocalPortRange: FieldValueInvalid"}},
		"high port": {reason: "the limits are AKS's", change: ports("1024 65001"),
			want: []string{"spec.linuxOSConfig.sysctls.netIpv4IPLocalPortRange: FieldValueInvalid"}},
		"low last": {reason: "the limits are AKS's", change: ports("1024 32767"),
			want: []string{"spec.linuxOSConfig.sysctls.netIpv4IPLocalPortRange: FieldValueInvalid"}},
		"ports reversed": {reason: "first is before last", change: ports("50000 40000"),
			want: []string{"spec.linuxOSConfig.sysctls.netIpv4IPLocalPortRange: FieldValueInvalid"}},
		"port names": {reason: "ports are numbers", change: ports("a b"),
			want: []string{"spec.linuxOSConfig.sysctls.netIpv4IPLocalPortRange: FieldValueInvalid"}},

		"subnet":      {reason: "names have dots and dashes", change: subnet("my-sub_net.1")},
		"longest":     {reason: "80 characters fit", change: subnet(long)},
		"long subnet": {reason: "80 characters are all", change: subnet(long + "x"), want: []string{"spec.subnetName: FieldValueInvalid"}},
		"dash subnet": {reason: "a letter or digit comes first", change: subnet("-a"), want: []string{"spec.subnetName: FieldValueInvalid"}},
		"subnet dash": {reason: "a letter or digit comes last", change: subnet("a_"), want: []string{"spec.subnetName: FieldValueInvalid"}},
		"patch": {reason: "a patch must not be empty",
			change: func(s *spec) { s.ASOManagedClustersAgentPoolPatches = []string{`{"spec":{"osSKU":"AzureLinux"}}`} }},
		"lost patch": {reason: "a key that means nothing would vanish",
			change: func(s *spec) { s.ASOManagedClustersAgentPoolPatches = []string{`{"spec":{"osSku":"AzureLinux"}}`} },
			want:   []string{"spec.asoManagedClustersAgentPoolPatches[0]: FieldValueInvalid"}},
		"preview patch": {reason: "a key of the preview needs the preview", change: func(s *spec) {
			s.ASOManagedClustersAgentPoolPatches = []string{`{"spec":{"nodeInitializationTaints":["a=b:NoSchedule"]}}`}
		}, want: []string{"spec.asoManagedClustersAgentPoolPatches[0]: FieldValueInvalid"}},
		"preview": {reason: "a key of the preview needs the preview", change: func(s *spec) {
			s.ASOManagedClustersAgentPoolPatches = []string{`{"spec":{"nodeInitializationTaints":["a=b:NoSchedule"]}}`}
		}, version: "2025-10-02-preview"},
		"unknown version": {reason: "a key that some version has may be right", change: func(s *spec) {
			s.ASOManagedClustersAgentPoolPatches = []string{`{"spec":{"nodeCustomizationProfile":{"nodeCustomizationReference":{"armId":"/subscriptions/s/resourceGroups/g/providers/Microsoft.X/y/z"}}}}`}
		}, any: true},
		"no version": {reason: "no version has it", change: func(s *spec) {
			s.ASOManagedClustersAgentPoolPatches = []string{`{"spec":{"banana":1}}`}
		}, any: true, want: []string{"spec.asoManagedClustersAgentPoolPatches[0]: FieldValueInvalid"}},
		"another version": {reason: "the cluster's version counts", change: func(s *spec) {
			s.ASOManagedClustersAgentPoolPatches = []string{`{"apiVersion":"containerservice.azure.com/v1api20260501"}`}
		}, want: []string{"spec.asoManagedClustersAgentPoolPatches[0]: FieldValueInvalid"}},
	}
}

func TestValidateAzureManagedMachinePoolUpdate(t *testing.T) {
	type class = infrav1.AzureManagedMachinePoolClassSpec
	for name, tc := range map[string]struct {
		reason string
		// old and change are of a pool and of a template as well.
		old, change    func(*class)
		want, template []string
	}{
		"labels": {reason: "labels follow", change: func(s *class) { s.NodeLabels = map[string]string{"a": "b"} }},
		"AKS's labels": {reason: "AKS reserves these labels",
			change: func(s *class) { s.NodeLabels = map[string]string{"kubernetes.azure.com": "b"} },
			want:   []string{"nodeLabels[kubernetes.azure.com]: FieldValueInvalid"}},
		"taints": {reason: "taints follow",
			change: func(s *class) { s.Taints = infrav1.Taints{{Key: "a", Value: "b", Effect: "NoSchedule"}} }},
		"scaling": {reason: "limits follow",
			change: func(s *class) { s.Scaling = &infrav1.ManagedMachinePoolScaling{MinSize: new(1), MaxSize: new(3)} }},
		"mode":       {reason: "a pool becomes a system pool", change: func(s *class) { s.Mode = "System" }},
		"scale down": {reason: "the next machines are deallocated", change: func(s *class) { s.ScaleDownMode = new("Deallocate") }},
		"name": {reason: "a pool keeps its name", change: func(s *class) { s.Name = new("other") },
			want: []string{"name: FieldValueInvalid"}},
		"zones": {reason: "machines stay where they are", old: func(s *class) { s.AvailabilityZones = []string{"1", "2"} },
			change: func(s *class) { s.AvailabilityZones = []string{"1"} }, want: []string{"availabilityZones: FieldValueForbidden"}},
		"zones added": {reason: "machines stay where they are", change: func(s *class) { s.AvailabilityZones = []string{"1"} },
			want: []string{"availabilityZones: FieldValueForbidden"}},
		"zones, other order": {reason: "zones have no order", old: func(s *class) { s.AvailabilityZones = []string{"1", "2"} },
			change: func(s *class) { s.AvailabilityZones = []string{"2", "1"} }},
		"kubelet": {reason: "kubelets are configured once",
			change: func(s *class) { s.KubeletConfig = &infrav1.KubeletConfig{PodMaxPids: new(1)} },
			want:   []string{"kubeletConfig: FieldValueForbidden"}},
		"Linux": {reason: "machines are configured once", change: func(s *class) { s.LinuxOSConfig = &infrav1.LinuxOSConfig{} },
			want: []string{"linuxOSConfig: FieldValueForbidden"}},
		"subnet": {reason: "the default is written down", change: func(s *class) { s.SubnetName = new("s1") }},
		"other subnet": {reason: "machines stay where they are", old: func(s *class) { s.SubnetName = new("s1") },
			change: func(s *class) { s.SubnetName = new("s2") }, want: []string{"subnetName: FieldValueInvalid"}},
		"FIPS": {reason: "AKS changes the image at any time", old: func(s *class) { s.EnableFIPS = new(false) },
			change: func(s *class) { s.EnableFIPS = new(true) }},
		"stored error": {reason: "a stored mistake does not prevent other changes",
			old:    func(s *class) { s.SpotMaxPrice = new(resource.MustParse("0")) },
			change: func(s *class) { s.NodeLabels = map[string]string{"a": "b"} }},
		"encryption": {reason: "the CRD of pools has the same rule", old: func(s *class) { s.EnableEncryptionAtHost = new(false) },
			change:   func(s *class) { s.EnableEncryptionAtHost = new(true) },
			template: []string{"enableEncryptionAtHost: FieldValueForbidden"}},
		"encryption off": {reason: "the CRD of pools has the same rule", change: func(s *class) { s.EnableEncryptionAtHost = new(false) }},
		"size": {reason: "the CRD of pools has the same rule", change: func(s *class) { s.SKU = "Standard_D4s_v5" },
			template: []string{"sku: FieldValueForbidden"}},
		"machine": {reason: "the CRD of pools has the same rule", change: func(s *class) {
			s.OSType, s.OsDiskType, s.OSDiskSizeGB, s.MaxPods, s.ScaleSetPriority = new("Windows"), new("Ephemeral"), new(64), new(50), new("Spot")
			s.EnableUltraSSD, s.EnableNodePublicIP, s.NodePublicIPPrefixID, s.KubeletDiskType = new(true), new(true), new(publicIPPrefixID),
				new(infrav1.KubeletDiskTypeOS)
		}, template: []string{"osType: FieldValueForbidden", "osDiskType: FieldValueForbidden", "osDiskSizeGB: FieldValueForbidden",
			"maxPods: FieldValueForbidden", "scaleSetPriority: FieldValueForbidden",
			"enableUltraSSD: FieldValueForbidden", "enableNodePublicIP: FieldValueForbidden", "nodePublicIPPrefixID: FieldValueForbidden",
			"kubeletDiskType: FieldValueForbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			if tc.old == nil {
				tc.old = func(*class) {}
			}
			old := defaultedPool(func(p *infrav1.AzureManagedMachinePool) {
				p.Spec.Name = new("win")
				p.Spec.ProviderIDList = []string{"azure:///subscriptions/s"}
				tc.old(&p.Spec.AzureManagedMachinePoolClassSpec)
			})
			p := old.DeepCopy()
			tc.change(&p.Spec.AzureManagedMachinePoolClassSpec)
			if diff := cmp.Diff(errorsAt("spec.", tc.want), errorPaths(validateUpdate(t, managedMachinePoolKind(managedLookup{}), old, p)),
				cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
			p.DeletionTimestamp = &deletionTime
			var kept []string
			if *old.Spec.Name != *p.Spec.Name {
				kept = []string{"spec.name: FieldValueInvalid"}
			}
			if diff := cmp.Diff(kept, errorPaths(validateUpdate(t, managedMachinePoolKind(managedLookup{}), old, p)), cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("a pool that is being deleted is refused for its name alone: -want +got\n%s", diff)
			}

			oldTemplate := newPoolTemplate(func(t *infrav1.AzureManagedMachinePoolTemplate) {
				t.Spec.Template.Spec.Name = new("win")
				tc.old(&t.Spec.Template.Spec.AzureManagedMachinePoolClassSpec)
			})
			defaults.FillAzureManagedMachinePoolTemplate(oldTemplate)
			template := oldTemplate.DeepCopy()
			tc.change(&template.Spec.Template.Spec.AzureManagedMachinePoolClassSpec)
			want := tc.template
			if want == nil {
				want = tc.want
			}
			if diff := cmp.Diff(errorsAt("spec.template.spec.", want), errorPaths(validateUpdate(t, poolTemplates, oldTemplate, template)),
				cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("template: %s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}

// errorsAt are errors in fields below a path.
func errorsAt(path string, errs []string) (out []string) {
	for _, err := range errs {
		out = append(out, path+err)
	}
	return out
}

func TestValidateLastSystemPool(t *testing.T) {
	path := field.NewPath("spec", "mode")
	if errs := ValidateLastSystemPool(1, path); len(errs) > 0 {
		t.Errorf("another pool takes over: %v", errs)
	}
	if diff := cmp.Diff([]string{"spec.mode: FieldValueForbidden"}, errorPaths(ValidateLastSystemPool(0, path))); diff != "" {
		t.Errorf("AKS needs a system pool: -want +got\n%s", diff)
	}
}

// TestRefusedPoolCanBeCorrected corrects pools that Azure has refused, and leaves those alone that it has.
func TestRefusedPoolCanBeCorrected(t *testing.T) {
	for name, tc := range map[string]struct {
		reason string
		old    func(*infrav1.AzureManagedMachinePool)
		change func(*infrav1.AzureManagedMachinePoolSpec)
		want   []string
	}{
		"refused": {reason: "nothing of it is in Azure", old: func(p *infrav1.AzureManagedMachinePool) {
			p.Status.Resources = []infrav1.ResourceStatus{{ID: "/subscriptions/s", State: "Failed"}}
		}},
		"name": {reason: "resources under the old name would be left behind",
			change: func(s *infrav1.AzureManagedMachinePoolSpec) { s.Name = new("other") }, want: []string{"spec.name: FieldValueInvalid"}},
		"moved": {reason: "provider IDs survive a move",
			old:  func(p *infrav1.AzureManagedMachinePool) { p.Spec.ProviderIDList = []string{"azure:///s"} },
			want: []string{"spec.availabilityZones: FieldValueForbidden"}},
		"at zero": {reason: "a pool without machines once had some",
			old:  func(p *infrav1.AzureManagedMachinePool) { p.Status.Initialization.Provisioned = new(true) },
			want: []string{"spec.availabilityZones: FieldValueForbidden"}},
		"migrated": {reason: "contract v1beta1 had ready alone", old: func(p *infrav1.AzureManagedMachinePool) { p.Status.Ready = true },
			want: []string{"spec.availabilityZones: FieldValueForbidden"}},
	} {
		t.Run(name, func(t *testing.T) {
			old := defaultedPool(func(p *infrav1.AzureManagedMachinePool) {
				if tc.old != nil {
					tc.old(p)
				}
			})
			p := old.DeepCopy()
			if tc.change == nil {
				tc.change = func(s *infrav1.AzureManagedMachinePoolSpec) { s.AvailabilityZones = []string{"1"} }
			}
			tc.change(&p.Spec)
			if diff := cmp.Diff(tc.want, errorPaths(validateUpdate(t, managedMachinePoolKind(managedLookup{}), old, p)),
				cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s: -want +got\n%s", tc.reason, diff)
			}
		})
	}
}
