package status_test

import (
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/status"
)

func TestReportPoolProvisioned(t *testing.T) {
	for name, test := range map[string]struct {
		reason                 string
		provisioned            *bool
		ready, complete        bool
		wantProvisioned, wants bool
	}{
		"new":                 {reason: "its VMs are missing"},
		"complete":            {reason: "Cluster API may read it", complete: true, wantProvisioned: true, wants: true},
		"changing":            {reason: "its VMs are used meanwhile", provisioned: new(true), ready: true, wantProvisioned: true, wants: true},
		"of a release before": {reason: "that release reset ready during changes", provisioned: new(true), wantProvisioned: true, wants: true},
		"migrated":            {reason: "contract v1beta1 had ready alone, and it may be changing", ready: true, wants: true},
	} {
		t.Run(name, func(t *testing.T) {
			initialization, ready := infrav1.InitializationStatus{Provisioned: test.provisioned}, test.ready
			status.ReportPoolProvisioned(&initialization, &ready, test.complete)
			provisioned := initialization.Provisioned != nil && *initialization.Provisioned
			if provisioned != test.wantProvisioned || ready != test.wants {
				t.Errorf("provisioned %t, ready %t, want %t, %t: %s", provisioned, ready, test.wantProvisioned, test.wants, test.reason)
			}
		})
	}
}
