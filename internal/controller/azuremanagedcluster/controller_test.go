package azuremanagedcluster

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

func TestProvisionedOnceEndpointIsKnown(t *testing.T) {
	endpoint := infrav1.APIEndpoint{Host: "c1.hcp.eastus.azmk8s.io", Port: 443}
	tests := map[string]struct {
		reason       string
		kind         string
		controlPlane *infrav1.AzureManagedControlPlane
		provisioned  bool
		message      string
	}{
		"endpoint known": {"that is all there is to an AKS cluster's infrastructure", "AzureManagedControlPlane",
			&infrav1.AzureManagedControlPlane{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{infrav1.EndpointAnnotation: "c1.hcp.eastus.azmk8s.io:443"}},
				Spec:       infrav1.AzureManagedControlPlaneSpec{ControlPlaneEndpoint: endpoint},
			}, true, ""},
		"endpoint of a user over that of AKS": {"a tool applied its manifest again, without webhooks", "AzureManagedControlPlane",
			&infrav1.AzureManagedControlPlane{
				ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{infrav1.EndpointAnnotation: "c1.hcp.eastus.azmk8s.io:443"}},
				Spec:       infrav1.AzureManagedControlPlaneSpec{ControlPlaneEndpoint: infrav1.APIEndpoint{Host: "placeholder", Port: 6443}},
				Status:     infrav1.AzureManagedControlPlaneStatus{Ready: true},
			}, true, ""},
		"forged annotation": {"it has no port", "AzureManagedControlPlane", &infrav1.AzureManagedControlPlane{
			ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{infrav1.EndpointAnnotation: "c1.hcp.eastus.azmk8s.io"}},
		}, false, "waits for the endpoint"},
		"endpoint of a user": {"AKS was not asked yet", "AzureManagedControlPlane",
			&infrav1.AzureManagedControlPlane{Spec: infrav1.AzureManagedControlPlaneSpec{ControlPlaneEndpoint: endpoint}}, false,
			"waits for the endpoint"},
		"no endpoint yet": {"it must not look provisioned before Cluster API can reach it", "AzureManagedControlPlane",
			&infrav1.AzureManagedControlPlane{}, false, "waits for the endpoint"},
		"no endpoint because of a fault": {"users look here first", "AzureManagedControlPlane",
			&infrav1.AzureManagedControlPlane{ObjectMeta: metav1.ObjectMeta{Name: "c1"}, Status: infrav1.AzureManagedControlPlaneStatus{
				Conditions: []metav1.Condition{{Type: infrav1.ReadyCondition, Status: metav1.ConditionFalse, Reason: infrav1.QuotaExceededReason,
					Message: "no cores"}}}}, false, "AzureManagedControlPlane c1: no cores"},
		"no control plane": {"objects may arrive in any order", "AzureManagedControlPlane", nil, false, "does not exist yet"},
		"other control plane": {"it would never get an endpoint, and no condition would give the reason", "KubeadmControlPlane", nil, false,
			"KubeadmControlPlane"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			azureCluster := &infrav1.AzureManagedCluster{}
			cluster := &clusterv1.Cluster{Spec: clusterv1.ClusterSpec{ControlPlaneRef: clusterv1.ContractVersionedObjectReference{Kind: test.kind,
				Name: "c1"}}}
			condition := copyEndpoint(azureCluster, cluster, test.controlPlane)
			provisioned := azureCluster.Status.Initialization.Provisioned != nil
			if provisioned != test.provisioned || azureCluster.Status.Ready != test.provisioned ||
				(condition.Status == metav1.ConditionTrue) != test.provisioned {
				t.Errorf("%s: provisioned %t, condition %s", test.reason, provisioned, condition.Status)
			}
			if test.provisioned && azureCluster.Spec.ControlPlaneEndpoint != endpoint {
				t.Errorf("%s: endpoint %v", test.reason, azureCluster.Spec.ControlPlaneEndpoint)
			}
			if !strings.Contains(condition.Message, test.message) {
				t.Errorf("%s: message %q", test.reason, condition.Message)
			}
		})
	}
}
