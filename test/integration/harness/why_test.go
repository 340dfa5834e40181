package harness

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestWhy(t *testing.T) {
	cluster := func(conditions ...metav1.Condition) *infrav1.AzureCluster {
		return &infrav1.AzureCluster{Status: infrav1.AzureClusterStatus{Conditions: conditions}}
	}
	const (
		get     = "GET resourceGroups/c1 404"
		refused = "PUT resourceGroups/c1/Microsoft.Network/virtualNetworks/c1-vnet 400"
		later   = "GET resourceGroups/c1/Microsoft.Network/loadBalancers/c1-public-lb 200"
	)
	for name, tc := range map[string]struct {
		reason   string
		object   *infrav1.AzureCluster
		read     error
		requests []string
		want     string
	}{
		"refused": {
			reason: "the condition has the cause, and later requests hide the one that it is about",
			object: cluster(
				metav1.Condition{Type: "Ready", Status: metav1.ConditionFalse, Reason: "Failed", Message: "VirtualNetworkReady"},
				metav1.Condition{Type: "ResourceGroupReady", Status: metav1.ConditionTrue, Reason: "Available"},
				metav1.Condition{Type: "VirtualNetworkReady", Status: metav1.ConditionFalse, Reason: "InvalidConfiguration",
					Message: "NetcfgInvalidSubnet: outside"},
			),
			requests: []string{get, refused, later},
			want: "Ready is False: Failed: VirtualNetworkReady\nVirtualNetworkReady is False: InvalidConfiguration: NetcfgInvalidSubnet: outside\n" +
				"last request to Azure: " + later + "\nlast refused request: " + refused,
		},
		"waiting": {
			reason:   "the last request is the one that was refused, or none was",
			object:   cluster(metav1.Condition{Type: "Ready", Status: metav1.ConditionUnknown, Reason: "Creating", Message: "m"}),
			requests: []string{get, later, get},
			want:     "Ready is Unknown: Creating: m\nlast request to Azure: " + get,
		},
		"never seen": {
			reason: "no controller has looked at it", object: cluster(),
			want: "it has no status\nnothing was asked of Azure",
		},
		"missing": {
			reason: "it was never made", object: cluster(), read: apierrors.NewNotFound(schema.GroupResource{Resource: "azureclusters"}, "c1"),
			requests: []string{refused},
			want:     "it does not exist\nlast request to Azure: " + refused,
		},
		"unreadable": {
			reason: "the API server does not answer", object: cluster(), read: errors.New("connection refused"),
			want: "it cannot be read: connection refused\nnothing was asked of Azure",
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, explainState(tc.object, tc.read, tc.requests)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tc.reason, diff)
			}
		})
	}
}
