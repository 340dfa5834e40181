package pool_test

import (
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/pool"
)

// TestFixedProperties changes the template of a scale set that exists. Azure cannot change some properties in place: the pool names the
// field.
func TestFixedProperties(t *testing.T) {
	marketplace := func(publisher, offer, sku, version string) *infrav1.Image {
		return &infrav1.Image{Marketplace: &infrav1.AzureMarketplaceImage{
			ImagePlan: infrav1.ImagePlan{Publisher: publisher, Offer: offer, SKU: sku}, Version: version}}
	}
	thirdParty := func(sku string) *infrav1.Image {
		image := marketplace("kinvolk", "flatcar", sku, "1.2.3")
		image.Marketplace.ThirdPartyImage = true
		return image
	}
	gallery := func(version string) *infrav1.Image {
		return &infrav1.Image{ComputeGallery: &infrav1.AzureComputeGalleryImage{Gallery: "g", Name: "n", Version: version}}
	}
	byID := &infrav1.Image{ID: new("/subscriptions/s/resourceGroups/g/providers/Microsoft.Compute/images/i")}
	image := func(image *infrav1.Image) func(*pool.Input) {
		return func(in *pool.Input) { in.AzureMachinePool.Spec.Template.Image = image }
	}
	version := func(version string) func(*pool.Input) {
		return func(in *pool.Input) {
			in.AzureMachinePool.Spec.Template.Image, in.MachinePool.Spec.Template.Spec.Version = nil, version
		}
	}
	disk := func(kind string) func(*pool.Input) {
		return func(in *pool.Input) {
			in.AzureMachinePool.Spec.Template.OSDisk.ManagedDisk = &infrav1.ManagedDiskParameters{StorageAccountType: kind}
		}
	}
	zones := func(zones ...string) func(*pool.Input) {
		return func(in *pool.Input) { in.MachinePool.Spec.FailureDomains = zones }
	}
	ephemeral := func(in *pool.Input) {
		in.AzureMachinePool.Spec.Template.OSDisk.DiffDiskSettings = &infrav1.DiffDiskSettings{Option: infrav1.DiffDiskOptionLocal}
	}
	for name, test := range map[string]struct {
		reason       string
		before       func(*pool.Input)
		after        func(*pool.Input)
		field, fault string
	}{
		"same":             {reason: "nothing changes", before: version("v1.30.3"), after: version("v1.30.3")},
		"version of image": {reason: "Azure changes it", before: version("v1.30.2"), after: version("v1.30.3")},
		"gallery version":  {reason: "Azure changes it", before: version("v1.31.0"), after: version("v1.32.0")},
		"gallery to ID":    {reason: "no source proves that Azure refuses it", before: image(gallery("1.0.0")), after: image(byID)},
		"letters of the publisher": {reason: "Azure compares without case", before: image(marketplace("Cncf", "capi", "a", "1.2.3")),
			after: image(marketplace("cncf", "CAPI", "a", "1.2.3"))},
		"SKU": {reason: "Azure changes it for images without a plan", before: image(marketplace("p", "o", "a", "1.2.3")),
			after: image(marketplace("p", "o", "b", "1.2.3"))},
		"SKU with a plan": {reason: "it is fixed", before: image(thirdParty("a")), after: image(thirdParty("b")),
			field: "spec.template.image", fault: "the SKU of a scale set's image from Marketplace image kinvolk:flatcar:a:1.2.3"},
		"publisher": {reason: "it is fixed", before: image(marketplace("p", "o", "a", "1.2.3")), after: image(marketplace("q", "o", "a", "1.2.3")),
			field: "spec.template.image", fault: "the publisher of a scale set's image"},
		"offer": {reason: "it is fixed", before: image(marketplace("p", "o", "a", "1.2.3")), after: image(marketplace("p", "q", "a", "1.2.3")),
			field: "spec.template.image", fault: "the offer of a scale set's image"},
		"Kubernetes 1.30 to 1.31": {reason: "default images moved to the gallery", before: version("v1.30.3"), after: version("v1.31.0"),
			field: "MachinePool.spec.template.spec.version", fault: "the kind of a scale set's image from Marketplace image cncf-upstream:capi:"},
		"gallery to Marketplace": {reason: "the kind is fixed", before: image(gallery("1.0.0")), after: image(marketplace("p", "o", "a", "1.2.3")),
			field: "spec.template.image", fault: "to Marketplace image p:o:a:1.2.3"},
		"Marketplace to ID": {reason: "the kind is fixed", before: image(marketplace("p", "o", "a", "1.2.3")), after: image(byID),
			field: "spec.template.image", fault: "to image /subscriptions/s/"},
		"storage account type": {reason: "it is fixed", before: disk("Premium_LRS"), after: disk("StandardSSD_LRS"),
			field: "spec.template.osDisk.managedDisk.storageAccountType", fault: "which is Premium_LRS"},
		"storage account type left to Azure": {reason: "the scale set keeps it", before: disk("Premium_LRS"),
			after: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.OSDisk.ManagedDisk = nil }},
		"operating system": {reason: "it is fixed", after: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.OSDisk.OSType = infrav1.WindowsOS },
			before: image(byID), field: "spec.template.osDisk.osType", fault: "which is Linux"},
		"no ephemeral disk": {reason: "Azure keeps the settings that make it ephemeral", before: ephemeral,
			after: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.OSDisk.DiffDiskSettings = nil },
			field: "spec.template.osDisk.diffDiskSettings", fault: "which is ephemeral"},
		"spot": {reason: "the priority is fixed", before: func(*pool.Input) {},
			after: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.SpotVMOptions = &infrav1.SpotVMOptions{} },
			field: "spec.template.spotVMOptions", fault: "which is Regular"},
		"no spot": {reason: "the priority is fixed", after: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.SpotVMOptions = nil },
			before: func(in *pool.Input) { in.AzureMachinePool.Spec.Template.SpotVMOptions = &infrav1.SpotVMOptions{} },
			field:  "spec.template.spotVMOptions", fault: "which is Spot"},
		"more zones": {reason: "Azure adds them", before: zones("1"), after: zones("1", "2")},
		"fewer zones": {reason: "VMs may be in it", before: zones("1", "2", "3"), after: zones("2", "1"),
			field: "MachinePool.spec.failureDomains", fault: "this one is in 1, 2, 3, of which 3 is missing"},
		"no zones": {reason: "VMs are in them", before: zones("1", "2"), after: zones(),
			field: "MachinePool.spec.failureDomains", fault: "of which 1, 2 is missing"},
		"first zones": {reason: "VMs are in none", before: zones(), after: zones("1"),
			field: "MachinePool.spec.failureDomains", fault: "without zones"},
	} {
		t.Run(name, func(t *testing.T) {
			in := newStoredPool(t, test.before)
			test.after(&in)
			errs, err := pool.CheckFixedProperties(in)
			if err != nil {
				t.Fatal(err)
			}
			if test.field == "" {
				if len(errs) > 0 {
					t.Errorf("%s: %v", test.reason, errs)
				}
				return
			}
			if len(errs) != 1 || errs[0].Field != test.field || !strings.Contains(errs[0].Error(), test.fault) ||
				!strings.Contains(errs[0].Error(), "create another machine pool") {
				t.Errorf("%s: want %s: %s, got %v", test.reason, test.field, test.fault, errs)
			}
		})
	}
	in := readInput(t, "default")
	if errs, err := pool.CheckFixedProperties(in); len(errs) > 0 || err != nil {
		t.Errorf("a new scale set can have everything: %v %v", errs, err)
	}
}
