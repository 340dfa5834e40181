package kubeapi

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// TestServices checks the addresses and ports that Services get. The cluster has both IP families.
func TestServices(t *testing.T) {
	type view struct {
		Type               corev1.ServiceType
		Policy             corev1.ServiceExternalTrafficPolicy
		IPs                []string
		Protocol           corev1.Protocol
		Target             string
		NodePort, Checked  int32
		AllocatesNodePorts bool
	}
	look := func(s *corev1.Service) view {
		p := s.Spec.Ports[0]
		return view{
			s.Spec.Type, s.Spec.ExternalTrafficPolicy, s.Spec.ClusterIPs, p.Protocol, p.TargetPort.String(), p.NodePort, s.Spec.HealthCheckNodePort,
			s.Spec.AllocateLoadBalancerNodePorts != nil && *s.Spec.AllocateLoadBalancerNodePorts,
		}
	}
	for name, tc := range map[string]struct {
		reason string
		spec   corev1.ServiceSpec
		want   view
	}{
		"cluster IP": {
			reason: "the default type has an address inside only",
			want:   view{Type: "ClusterIP", IPs: []string{"10.96.0.3"}, Protocol: "TCP", Target: "80"},
		},
		"headless": {
			reason: "no address is wanted", spec: corev1.ServiceSpec{ClusterIP: "None"},
			want: view{Type: "ClusterIP", IPs: []string{"None"}, Protocol: "TCP", Target: "80"},
		},
		"both families": {
			reason: "the second family of the cluster is added", spec: corev1.ServiceSpec{IPFamilyPolicy: new(corev1.IPFamilyPolicyPreferDualStack)},
			want: view{Type: "ClusterIP", IPs: []string{"10.96.0.3", "fd00:96::2"}, Protocol: "TCP", Target: "80"},
		},
		"load balancer": {
			reason: "its rules lead to a node port", spec: corev1.ServiceSpec{Type: "LoadBalancer"},
			want: view{Type: "LoadBalancer", Policy: "Cluster", IPs: []string{"10.96.0.3"}, Protocol: "TCP", Target: "80", NodePort: 30001,
				AllocatesNodePorts: true},
		},
		"local": {
			reason: "its probe asks a port of its own", spec: corev1.ServiceSpec{Type: "LoadBalancer", ExternalTrafficPolicy: "Local"},
			want: view{Type: "LoadBalancer", Policy: "Local", IPs: []string{"10.96.0.3"}, Protocol: "TCP", Target: "80", NodePort: 30001,
				Checked: 30002, AllocatesNodePorts: true},
		},
		"without node ports": {
			reason: "the user wants none", spec: corev1.ServiceSpec{Type: "LoadBalancer", AllocateLoadBalancerNodePorts: new(false)},
			want: view{Type: "LoadBalancer", Policy: "Cluster", IPs: []string{"10.96.0.3"}, Protocol: "TCP", Target: "80"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			services := newClient(t).CoreV1().Services("default")
			ports := []corev1.ServicePort{{Port: 80}}
			other := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "other"}, Spec: corev1.ServiceSpec{Type: "NodePort", Ports: ports}}
			if _, err := services.Create(t.Context(), other, metav1.CreateOptions{}); err != nil {
				t.Fatal(err)
			}
			tc.spec.Ports = ports
			s, err := services.Create(t.Context(), &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tc.spec},
				metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, look(s)); diff != "" {
				t.Errorf("%s: (-want +got)\n%s", tc.reason, diff)
			}
			// A manifest that is applied again has none of the fields that the server has set.
			again := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Spec: tc.spec}
			if s, err = services.Update(t.Context(), again, metav1.UpdateOptions{}); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, look(s)); diff != "" {
				t.Errorf("after an update (-want +got)\n%s", diff)
			}
			if _, err := services.Patch(t.Context(), "web", types.MergePatchType,
				[]byte(`{"spec":{"clusterIP":"10.96.0.2","clusterIPs":["10.96.0.2"]}}`), metav1.PatchOptions{}); !apierrors.IsBadRequest(err) {
				t.Errorf("the address of another Service: %v, want it refused", err)
			}
		})
	}
}
