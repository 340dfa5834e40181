package kubeapi

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Node ports of a kube-apiserver, by its flag --service-node-port-range.
const (
	firstNodePort = 30000
	lastNodePort  = 32767
)

// defaultServiceSubnet is kubeadm's.
const defaultServiceSubnet = "10.96.0.0/12"

// admitObject completes an object before it is stored, as admission in a kube-apiserver does. The object has to be stored before unlock is called.
func (c *call) admitObject(before, obj client.Object) (unlock func(), err error) {
	service, ok := obj.(*corev1.Service)
	if !ok {
		return func() {}, nil
	}
	c.api.allocating.Lock()
	old, _ := before.(*corev1.Service)
	if err := c.completeService(old, service); err != nil {
		c.api.allocating.Unlock()
		return nil, err
	}
	return c.api.allocating.Unlock, nil
}

// completeService sets the defaults, addresses and ports that a kube-apiserver gives to Services; old is the stored
// object. Cloud providers make rules and probes of them.
// https://kubernetes.io/docs/reference/kubernetes-api/service-resources/service-v1/
func (c *call) completeService(old, s *corev1.Service) error {
	s.Spec.Type = cmp.Or(s.Spec.Type, corev1.ServiceTypeClusterIP)
	s.Spec.SessionAffinity = cmp.Or(s.Spec.SessionAffinity, corev1.ServiceAffinityNone)
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		p.Protocol = cmp.Or(p.Protocol, corev1.ProtocolTCP)
		if p.TargetPort == (intstr.IntOrString{}) {
			p.TargetPort = intstr.FromInt32(p.Port)
		}
	}
	if s.Spec.Type == corev1.ServiceTypeExternalName {
		s.Spec.ClusterIP, s.Spec.ClusterIPs = "", nil
		return nil
	}
	if s.Spec.InternalTrafficPolicy == nil {
		s.Spec.InternalTrafficPolicy = new(corev1.ServiceInternalTrafficPolicyCluster)
	}
	used, err := c.usedByServices(s)
	if err != nil {
		return err
	}
	if err := c.completeAddresses(old, s, used); err != nil {
		return err
	}
	return completePorts(old, s, used)
}

// allocated has the addresses and ports of the other Services of a cluster.
type allocated struct {
	addresses map[string]bool
	ports     map[int32]bool
}

func (c *call) usedByServices(except *corev1.Service) (allocated, error) {
	used := allocated{addresses: map[string]bool{}, ports: map[int32]bool{}}
	services, _, err := c.api.listObjects(c.request.Context(), c.client, c.resource, "")
	for _, o := range services {
		s := o.(*corev1.Service)
		if s.Namespace == except.Namespace && s.Name == except.Name {
			continue
		}
		for _, ip := range s.Spec.ClusterIPs {
			used.addresses[ip] = true
		}
		used.ports[s.Spec.HealthCheckNodePort] = true
		for _, p := range s.Spec.Ports {
			used.ports[p.NodePort] = true
		}
	}
	return used, err
}

// completeAddresses sets the IP families and the cluster IPs.
func (c *call) completeAddresses(old, s *corev1.Service, used allocated) error {
	var subnets []netip.Prefix
	for _, text := range c.cluster.ServiceSubnets {
		subnet, err := netip.ParsePrefix(text)
		if err != nil {
			return fmt.Errorf("networking.serviceSubnet of the cluster: %w", err)
		}
		subnets = append(subnets, subnet.Masked())
	}
	if len(subnets) == 0 {
		subnets = []netip.Prefix{netip.MustParsePrefix(defaultServiceSubnet)}
	}
	if old != nil && len(s.Spec.IPFamilies) == 0 {
		s.Spec.IPFamilies, s.Spec.IPFamilyPolicy = old.Spec.IPFamilies, cmp.Or(s.Spec.IPFamilyPolicy, old.Spec.IPFamilyPolicy)
	}
	if s.Spec.IPFamilyPolicy == nil {
		s.Spec.IPFamilyPolicy = new(corev1.IPFamilyPolicySingleStack)
	}
	if len(s.Spec.IPFamilies) == 0 {
		s.Spec.IPFamilies = []corev1.IPFamily{familyOf(subnets[0].Addr())}
	}
	if *s.Spec.IPFamilyPolicy != corev1.IPFamilyPolicySingleStack && len(s.Spec.IPFamilies) == 1 {
		for _, subnet := range subnets {
			if f := familyOf(subnet.Addr()); f != s.Spec.IPFamilies[0] {
				s.Spec.IPFamilies = append(s.Spec.IPFamilies, f)
			}
		}
	}
	switch {
	case s.Spec.ClusterIP == corev1.ClusterIPNone:
		s.Spec.ClusterIPs = []string{corev1.ClusterIPNone}
		return nil
	case len(s.Spec.ClusterIPs) == 0 && s.Spec.ClusterIP != "":
		s.Spec.ClusterIPs = []string{s.Spec.ClusterIP}
	case len(s.Spec.ClusterIPs) == 0 && old != nil:
		s.Spec.ClusterIPs = old.Spec.ClusterIPs
	}
	for i, ip := range s.Spec.ClusterIPs {
		if used.addresses[ip] {
			return invalidService("spec.clusterIPs[%d]: %s is the address of another Service", i, ip)
		}
	}
	for _, family := range s.Spec.IPFamilies[min(len(s.Spec.ClusterIPs), len(s.Spec.IPFamilies)):] {
		i := slices.IndexFunc(subnets, func(p netip.Prefix) bool { return familyOf(p.Addr()) == family })
		if i < 0 {
			return invalidService("spec.ipFamilies: the cluster has no Services of family %s", family)
		}
		// A subnet's first address is its name, and its second that of the API server.
		ip := subnets[i].Addr().Next().Next()
		for used.addresses[ip.String()] {
			ip = ip.Next()
		}
		if !subnets[i].Contains(ip) {
			return invalidService("spec.clusterIPs: all addresses of %s are in use", subnets[i])
		}
		s.Spec.ClusterIPs = append(s.Spec.ClusterIPs, ip.String())
	}
	s.Spec.ClusterIP = s.Spec.ClusterIPs[0]
	return nil
}

func familyOf(ip netip.Addr) corev1.IPFamily {
	if ip.Is4() {
		return corev1.IPv4Protocol
	}
	return corev1.IPv6Protocol
}

// completePorts sets what Services have that are reached from outside: traffic policy, node ports and the port of health checks.
func completePorts(old, s *corev1.Service, used allocated) error {
	if s.Spec.Type == corev1.ServiceTypeClusterIP {
		for i := range s.Spec.Ports {
			s.Spec.Ports[i].NodePort = 0
		}
		s.Spec.ExternalTrafficPolicy, s.Spec.HealthCheckNodePort, s.Spec.AllocateLoadBalancerNodePorts = "", 0, nil
		return nil
	}
	s.Spec.ExternalTrafficPolicy = cmp.Or(s.Spec.ExternalTrafficPolicy, corev1.ServiceExternalTrafficPolicyCluster)
	if s.Spec.Type == corev1.ServiceTypeLoadBalancer && s.Spec.AllocateLoadBalancerNodePorts == nil {
		s.Spec.AllocateLoadBalancerNodePorts = new(true)
	}
	for i := range s.Spec.Ports {
		p := &s.Spec.Ports[i]
		if p.NodePort == 0 && old != nil {
			p.NodePort = nodePortOf(old, *p)
		}
		if p.NodePort != 0 && used.ports[p.NodePort] {
			return invalidService("spec.ports[%d].nodePort: %d is the port of another Service", i, p.NodePort)
		}
		if p.NodePort == 0 && (s.Spec.AllocateLoadBalancerNodePorts == nil || *s.Spec.AllocateLoadBalancerNodePorts) {
			var err error
			if p.NodePort, err = used.nextPort(); err != nil {
				return err
			}
		}
		used.ports[p.NodePort] = true
	}
	if s.Spec.Type != corev1.ServiceTypeLoadBalancer || s.Spec.ExternalTrafficPolicy != corev1.ServiceExternalTrafficPolicyLocal {
		s.Spec.HealthCheckNodePort = 0
		return nil
	}
	if s.Spec.HealthCheckNodePort == 0 && old != nil {
		s.Spec.HealthCheckNodePort = old.Spec.HealthCheckNodePort
	}
	if s.Spec.HealthCheckNodePort == 0 {
		var err error
		if s.Spec.HealthCheckNodePort, err = used.nextPort(); err != nil {
			return err
		}
	}
	return nil
}

// nodePortOf returns the node port that a Service has for a port, 0 if it has none.
func nodePortOf(s *corev1.Service, wanted corev1.ServicePort) int32 {
	for _, p := range s.Spec.Ports {
		if p.Port == wanted.Port && p.Protocol == wanted.Protocol {
			return p.NodePort
		}
	}
	return 0
}

func (a allocated) nextPort() (int32, error) {
	for port := int32(firstNodePort); port <= lastNodePort; port++ {
		if !a.ports[port] {
			a.ports[port] = true
			return port, nil
		}
	}
	return 0, invalidService("spec.ports: all node ports from %d to %d are in use", firstNodePort, lastNodePort)
}

func invalidService(format string, args ...any) error {
	return apierrors.NewBadRequest("the Service is invalid: " + fmt.Sprintf(format, args...))
}
