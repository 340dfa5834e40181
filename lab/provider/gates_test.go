package provider

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestGateVariables(t *testing.T) {
	const components = "- --feature-gates=MachinePool=${EXP_MACHINE_POOL:=true},EdgeZone=${EXP_EDGEZONE:=false}"
	for name, tc := range map[string]struct {
		reason, gates string
		want          map[string]string
		fails         string
	}{
		"none": {reason: "the release's defaults stay", want: map[string]string{}},
		"two": {
			reason: "the last one counts, as on a command line", gates: "EdgeZone=true,MachinePool=false,EdgeZone=false",
			want: map[string]string{"EXP_EDGEZONE": "false", "EXP_MACHINE_POOL": "false"},
		},
		"unknown": {
			reason: "the release has no variable to set it", gates: "Zone=true",
			fails: "feature gate Zone=true: the release has no variable for a gate Zone; it has EdgeZone, MachinePool",
		},
		"without a value": {
			reason: "the variable would be empty, which changes nothing", gates: "EdgeZone",
			fails: "feature gate EdgeZone: want NAME=true or NAME=false, as in EdgeZone=true",
		},
		"another value": {
			reason: "the manager would refuse it after minutes", gates: "MachinePool=true,EdgeZone=yes",
			fails: "feature gate EdgeZone=yes: want NAME=true or NAME=false, as in EdgeZone=true",
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := gateVariables([]byte(components), tc.gates)
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
			if message := ""; err != nil || tc.fails != "" {
				if err != nil {
					message = err.Error()
				}
				if message != tc.fails {
					t.Errorf("%s: error %q, want %q", tc.reason, message, tc.fails)
				}
			}
		})
	}
}
