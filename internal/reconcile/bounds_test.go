package reconcile

import (
	"slices"
	"strings"
	"testing"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// TestExceededBy checks that the error of a machine names the object that exceeds a limit, and not a field that the machine does not
// have.
func TestExceededBy(t *testing.T) {
	cluster := &infrav1.AzureCluster{}
	cluster.Name = "c1"
	if errs := checkOwnerBounds("AzureCluster", cluster); len(errs) > 0 {
		t.Errorf("nothing is too much: %v", errs)
	}
	cluster.Spec.NetworkSpec.Subnets = slices.Repeat([]infrav1.SubnetSpec{{}}, 5000)
	errs := checkOwnerBounds("AzureCluster", cluster)
	if len(errs) != 1 || !strings.HasPrefix(errs[0].Error(), "AzureCluster c1: spec.networkSpec.subnets: Too many: 5000") {
		t.Errorf("got %v", errs)
	}
}
