package plan_test

import (
	"testing"

	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

func TestDescribeUnknownSize(t *testing.T) {
	tests := map[string]struct {
		reason  string
		region  string
		similar []string
		want    string
	}{
		"similar": {"a typing error", "eastus", []string{"Standard_D2s_v3", "Standard_D2s_v4"},
			"region eastus does not have this VM size. Similar sizes are Standard_D2s_v3, Standard_D2s_v4. " +
				"To list all sizes, run: az vm list-skus --location eastus"},
		"none": {"Azure lists no sizes for the region", "mars", nil,
			"region mars does not have this VM size. To list all sizes, run: az vm list-skus --location mars"},
		"spaces": {"users may write a region with its display name", "East US", nil,
			"region East US does not have this VM size. To list all sizes, run: az vm list-skus --location 'East US'"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := plan.DescribeUnknownSize(test.region, test.similar); got != test.want {
				t.Errorf("%s: got %q, want %q", test.reason, got, test.want)
			}
		})
	}
}
