// Tests of the command lines that follow from a lab's settings.

package settings

import "testing"

func TestGates(t *testing.T) {
	bootstrap := Managers[1]
	for name, tc := range map[string]struct {
		reason  string
		manager Manager
		more    string
		want    string
	}{
		"ours": {
			reason: "feature gates that flavors need are on in every lab", manager: Azure, want: "EdgeZone=true",
		},
		"ours with more": {
			reason: "users can turn on further gates, and turn off others, because the last flag counts", manager: Azure,
			more: "APIServerILB=true,EdgeZone=false", want: "EdgeZone=true,APIServerILB=true,EdgeZone=false",
		},
		"Cluster API's": {
			reason: "it does not know our gates and would not start", manager: bootstrap,
			more: "APIServerILB=true", want: "KubeadmBootstrapFormatIgnition=true",
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := &Settings{FeatureGates: tc.more}
			if got := s.GatesFor(tc.manager); got != tc.want {
				t.Errorf("%s: gates %q, want %q", tc.reason, got, tc.want)
			}
		})
	}
}
