package vm

import (
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestOSCaching makes sure that an ephemeral disk can be had without a word about caching, for machines and scale sets alike.
func TestOSCaching(t *testing.T) {
	ephemeral := &infrav1.DiffDiskSettings{Option: infrav1.DiffDiskOptionLocal}
	for name, test := range map[string]struct {
		reason string
		disk   infrav1.OSDisk
		want   string
	}{
		"managed":          {"the default is no obstacle", infrav1.OSDisk{CachingType: infrav1.CachingNone}, "None"},
		"managed, nothing": {"Azure decides", infrav1.OSDisk{}, ""},
		"ephemeral": {"Azure takes ReadOnly only, and None is the schema's default",
			infrav1.OSDisk{CachingType: infrav1.CachingNone, DiffDiskSettings: ephemeral}, "ReadOnly"},
		"ephemeral, nothing": {"so it was stored before there was a default", infrav1.OSDisk{DiffDiskSettings: ephemeral}, "ReadOnly"},
		"ephemeral, wrong": {"Azure's error explains the invalid setting",
			infrav1.OSDisk{CachingType: infrav1.CachingReadWrite, DiffDiskSettings: ephemeral}, "ReadWrite"},
	} {
		if got := osCaching(test.disk); got != test.want {
			t.Errorf("%s: %s: got %q, want %q", name, test.reason, got, test.want)
		}
	}
}
