package importing

import (
	"fmt"
	"regexp"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// serviceEntry is the name of a rule that cloud-provider-azure writes for a Service: in today's form, or in the former one, which begins
// with the name of the load balancer, "a" and the UID of the Service.
// https://github.com/kubernetes-sigs/cloud-provider-azure/blob/master/docs/content/en/topics/loadbalancer.md
var serviceEntry = regexp.MustCompile(`^(k8s-azure-lb_|a[0-9a-f]{31}([-_]|$))`)

const fromService = "cloud-provider-azure writes it for a Service. It stays as it is, and must not be in the manifests"

// securityRules returns the rules of a security group that a spec can express.
func (w *writer) securityRules(r Resource) (infrav1.SecurityRules, error) {
	body, err := decodeBody[securityGroupBody](r)
	if err != nil {
		return nil, err
	}
	var out infrav1.SecurityRules
	for _, rule := range body.Properties.SecurityRules {
		path, of := fmt.Sprintf("properties.securityRules[%s]", rule.Name), rule.Properties
		switch {
		case serviceEntry.MatchString(rule.Name):
			w.explain(r.ID, path, fromService)
			continue
		case len(of.SourcePortRanges)+len(of.DestinationPortRanges)+len(of.DestinationAddressPrefixes)+
			len(of.SourceApplicationSecurityGroups)+len(of.DestinationApplicationSecurityGroups) > 0:
			w.explain(r.ID, path, "a rule of the spec has one range of ports, one destination and no application security group. The rule stays as it is")
			continue
		}
		spec := infrav1.SecurityRule{
			Name: rule.Name, Description: of.Description, Protocol: infrav1.SecurityGroupProtocol(of.Protocol),
			Direction: infrav1.SecurityRuleDirection(of.Direction), Action: infrav1.SecurityRuleAccess(of.Access), Priority: of.Priority,
			SourcePorts: of.SourcePortRange, DestinationPorts: of.DestinationPortRange, Source: of.SourceAddressPrefix,
			Destination: of.DestinationAddressPrefix,
		}
		for _, source := range of.SourceAddressPrefixes {
			spec.Sources = append(spec.Sources, new(source))
		}
		if len(spec.Sources) > 0 {
			spec.Source = nil
		}
		out = append(out, spec)
	}
	return out, nil
}
