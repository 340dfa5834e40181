package vm_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/vm"
)

func TestDefaultImage(t *testing.T) {
	const gallery = "ClusterAPI-f72ceb4f-5159-4c26-a0fe-2ea738f0d019"
	inGallery := func(name, version string) *infrav1.Image {
		return &infrav1.Image{ComputeGallery: &infrav1.AzureComputeGalleryImage{Gallery: gallery, Name: name, Version: version}}
	}
	inMarketplace := func(offer, sku, version string) *infrav1.Image {
		return &infrav1.Image{Marketplace: &infrav1.AzureMarketplaceImage{
			ImagePlan: infrav1.ImagePlan{Publisher: "cncf-upstream", Offer: offer, SKU: sku}, Version: version,
		}}
	}
	tests := map[string]struct {
		reason      string
		version     string
		osType      string
		annotations map[string]string
		want        *infrav1.Image
		err         string
	}{
		"current": {reason: "new versions are in the community gallery", version: "v1.33.2",
			want: inGallery("capi-ubun2-2404", "1.33.2")},
		"last in Marketplace": {reason: "1.28.12 is the last of 1.28 there", version: "v1.28.12",
			want: inMarketplace("capi", "ubuntu-2204-gen1", "128.12.20240717")},
		"first after it": {reason: "1.28.13 came after the move", version: "v1.28.13", want: inGallery("capi-ubun2-2404", "1.28.13")},
		"first of 1.30": {reason: "1.30.0 is in the table", version: "1.30.0",
			want: inMarketplace("capi", "ubuntu-2204-gen1", "130.0.20240506")},
		"1.29.0": {reason: "it was never in the Marketplace", version: "1.29.0", want: inGallery("capi-ubun2-2404", "1.29.0")},
		"old and missing": {reason: "images of versions before the table come from the gallery", version: "1.20.1",
			want: inGallery("capi-ubun2-2404", "1.20.1")},
		"space, missing patch": {reason: "versions are read tolerantly", version: " 1.31", want: inGallery("capi-ubun2-2404", "1.31.0")},
		"build metadata": {reason: "it is part of the image's version", version: "v1.33.2+vendor.1",
			want: inGallery("capi-ubun2-2404", "1.33.2+vendor.1")},
		"pre-release": {reason: "it is not the release in the table", version: "v1.30.0-rc.1",
			want: inGallery("capi-ubun2-2404", "1.30.0-rc.1")},
		"four parts": {reason: "no semantic version", version: "1.2.3.4", err: "not a semantic version"},
		"none":       {reason: "no latest is guessed", version: "", err: "set the version of the Machine"},
		"Windows": {reason: "2022 by default", version: "v1.33.2", osType: "Windows",
			want: inGallery("capi-win-2022-containerd", "1.33.2")},
		"Windows 2025": {reason: "the annotation names the year", version: "v1.33.2", osType: "Windows",
			annotations: map[string]string{"windowsServerVersion": "windows-2025", "runtime": "containerd"},
			want:        inGallery("capi-win-2025-containerd", "1.33.2")},
		"Windows in Marketplace": {reason: "only 2019 was ever there", version: "v1.29.1", osType: "Windows",
			annotations: map[string]string{"windowsServerVersion": "windows-2022"},
			want:        inMarketplace("capi-windows", "windows-2019-containerd-gen1", "129.1.20240201")},
		"Windows not in Marketplace": {reason: "the tables differ", version: "v1.27.16", osType: "Windows",
			want: inGallery("capi-win-2022-containerd", "1.27.16")},
		"Windows of no year": {reason: "the annotation has one form", version: "v1.33.2", osType: "Windows",
			annotations: map[string]string{"windowsServerVersion": "2022"}, err: `want the form "windows-2022"`},
		"Windows with docker": {reason: "images have containerd", version: "v1.33.2", osType: "Windows",
			annotations: map[string]string{"runtime": "docker"}, err: "containerd only"},
		"annotations under Linux": {reason: "they are about Windows", version: "v1.33.2", annotations: map[string]string{"runtime": "docker"},
			want: inGallery("capi-ubun2-2404", "1.33.2")},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := vm.DefaultImage(test.version, "Machine", test.osType, test.annotations)
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("%s: got %v, want an error with %q", test.reason, err, test.err)
				}
				return
			}
			if err != nil {
				t.Fatalf("%s: %v", test.reason, err)
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("%s: %s", test.reason, diff)
			}
		})
	}
}
