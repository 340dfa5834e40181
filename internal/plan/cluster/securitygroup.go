package cluster

import (
	"slices"
	"strconv"
	"strings"

	"github.com/Azure/azure-sdk-for-go/sdk/resourcemanager/network/armnetwork/v9"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// securityGroup is a network security group with its rules in the spec.
type securityGroup struct {
	name  string
	tags  map[string]string
	rules []infrav1.SecurityRule
}

// addSecurityGroups adds the security groups of the subnets that are created. The rules are part of the body, so that one
// operation completes a group for its subnets. Rules of other controllers are carried over.
func addSecurityGroups(in plan.ClusterInput, g *arm.Graph) {
	for _, group := range collectSecurityGroups(in) {
		rules := []*armnetwork.SecurityRule{}
		for _, rule := range group.rules {
			rules = append(rules, &armnetwork.SecurityRule{Name: new(rule.Name), Properties: buildRuleProperties(rule)})
		}
		g.Add(arm.Node{
			ID: plan.SecurityGroupID(in, group.name),
			Body: armnetwork.SecurityGroup{
				Location:   new(plan.Location(in)),
				Tags:       plan.BuildTags(in, "", group.name, group.tags),
				Properties: &armnetwork.SecurityGroupPropertiesFormat{SecurityRules: rules},
			},
			Policy: arm.Repair,
			Group:  infrav1.SecurityGroupsReadyCondition,
		})
	}
}

// collectSecurityGroups returns the groups of the subnets, each once, with the rules of all subnets that share it.
func collectSecurityGroups(in plan.ClusterInput) []securityGroup {
	var out []securityGroup
	for _, subnet := range listManagedSubnets(in) {
		if subnet.SecurityGroup.Name == "" {
			continue
		}
		i := slices.IndexFunc(out, func(g securityGroup) bool { return strings.EqualFold(g.name, subnet.SecurityGroup.Name) })
		if i < 0 {
			out = append(out, securityGroup{name: subnet.SecurityGroup.Name, tags: in.AzureCluster.Spec.AdditionalTags})
			i = len(out) - 1
		}
		out[i].tags = plan.MergeTags(out[i].tags, subnet.SecurityGroup.Tags)
		for _, rule := range buildSubnetRules(in, subnet) {
			if !slices.ContainsFunc(out[i].rules, func(r infrav1.SecurityRule) bool { return strings.EqualFold(r.Name, rule.Name) }) {
				out[i].rules = append(out[i].rules, rule)
			}
		}
	}
	return out
}

// buildSubnetRules returns the rules of a subnet's group: the spec's, and in the subnet of the control plane rules that
// allow SSH and the API server. A rule of the spec for exactly that port replaces them, and may also deny it.
func buildSubnetRules(in plan.ClusterInput, subnet infrav1.SubnetSpec) []infrav1.SecurityRule {
	rules := slices.Clone(subnet.SecurityGroup.SecurityRules)
	controlPlane, ok := plan.ControlPlaneSubnet(in)
	if !in.AzureCluster.Spec.ControlPlaneEnabled || !ok || subnet.Role != controlPlane.Role {
		return rules
	}
	port := strconv.Itoa(int(plan.APIServerPort(in)))
	for _, rule := range []infrav1.SecurityRule{
		newInboundRule("allow_ssh", "Allow SSH", 2200, "22"),
		newInboundRule("allow_apiserver", "Allow K8s API Server", 2201, port),
	} {
		if !slices.ContainsFunc(rules, func(r infrav1.SecurityRule) bool {
			return r.DestinationPorts != nil && *r.DestinationPorts == *rule.DestinationPorts
		}) {
			rules = append(rules, rule)
		}
	}
	return rules
}

func newInboundRule(name, description string, priority int32, port string) infrav1.SecurityRule {
	return infrav1.SecurityRule{
		Name: name, Description: description, Priority: priority,
		Protocol: infrav1.SecurityGroupProtocolTCP, Direction: infrav1.SecurityRuleDirectionInbound, Action: infrav1.SecurityRuleActionAllow,
		Source: new("*"), SourcePorts: new("*"), Destination: new("*"), DestinationPorts: new(port),
	}
}

func buildRuleProperties(rule infrav1.SecurityRule) *armnetwork.SecurityRulePropertiesFormat {
	access := rule.Action
	if access == "" {
		access = infrav1.SecurityRuleActionAllow
	}
	properties := &armnetwork.SecurityRulePropertiesFormat{
		Description:           new(rule.Description),
		Protocol:              new(armnetwork.SecurityRuleProtocol(rule.Protocol)),
		Access:                new(armnetwork.SecurityRuleAccess(access)),
		Direction:             new(armnetwork.SecurityRuleDirection(rule.Direction)),
		Priority:              new(rule.Priority),
		SourcePortRange:       rule.SourcePorts,
		DestinationPortRange:  rule.DestinationPorts,
		SourceAddressPrefixes: []*string{},
		// A service tag or a single prefix. The plural property takes lists of prefixes only.
		DestinationAddressPrefix: rule.Destination,
	}
	if len(rule.Sources) > 0 {
		properties.SourceAddressPrefixes = rule.Sources
	} else {
		properties.SourceAddressPrefix = rule.Source
	}
	return properties
}
