package aks

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/types"
)

// The client speaks the api-version that the control plane asks for.
func TestClientUsesTheAPIVersionOfTheControlPlane(t *testing.T) {
	tests := map[string]struct {
		reason  string
		preview bool
		patches []string
		want    map[string]string
	}{
		"default": {reason: "clients without an override share their reads"},
		"preview features": {reason: "the newest preview has most of them", preview: true,
			want: map[string]string{types.ManagedCluster: "2026-05-02-preview"}},
		"named by a patch": {reason: "the patch is written for it",
			patches: []string{`{"apiVersion":"containerservice.azure.com/v1api20260501"}`},
			want:    map[string]string{types.ManagedCluster: "2026-05-01"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			controlPlane := &infrav1.AzureManagedControlPlane{}
			controlPlane.Spec.EnablePreviewFeatures, controlPlane.Spec.ASOManagedClusterPatches = &test.preview, test.patches
			if diff := cmp.Diff(test.want, AccessRequest(controlPlane).APIVersions); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.reason, diff)
			}
		})
	}
}
