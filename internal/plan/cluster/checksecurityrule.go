package cluster

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
)

// checkSecurityRules refuses rules that Azure would refuse one by one after half of the network exists: incomplete rules,
// rules of one direction with the same priority, and different rules of the same name for one security group that two
// subnets share.
func checkSecurityRules(in plan.ClusterInput) field.ErrorList {
	type placed struct {
		rule infrav1.SecurityRule
		path *field.Path
	}
	var errs field.ErrorList
	groups := map[string][]placed{}
	visitSubnets(in, func(path *field.Path, subnet infrav1.SubnetSpec) {
		if _, exists := existingSubnetPrefixes(in, subnet.Name); exists {
			return
		}
		rules := path.Child("securityGroup", "securityRules")
		if subnet.SecurityGroup.Name == "" {
			if len(subnet.SecurityGroup.SecurityRules) > 0 {
				errs = append(errs, field.Required(path.Child("securityGroup", "name"), "rules need a security group with a name"))
			}
			return
		}
		key := strings.ToLower(subnet.SecurityGroup.Name)
		for i, rule := range buildSubnetRules(in, subnet) {
			here := rules.Index(i)
			if i < len(subnet.SecurityGroup.SecurityRules) {
				errs = append(errs, checkSecurityRule(here, rule)...)
			}
			known := slices.IndexFunc(groups[key], func(p placed) bool { return strings.EqualFold(p.rule.Name, rule.Name) })
			if known >= 0 {
				if !equality.Semantic.DeepEqual(groups[key][known].rule, rule) {
					errs = append(errs, field.Invalid(here.Child("name"), rule.Name,
						fmt.Sprintf("differs from the rule of the same name in %s, and both are for security group %q: give it another name",
							groups[key][known].path, subnet.SecurityGroup.Name)))
				}
				continue
			}
			for _, other := range groups[key] {
				if other.rule.Direction == rule.Direction && other.rule.Priority == rule.Priority {
					errs = append(errs, field.Invalid(here.Child("priority"), rule.Priority,
						fmt.Sprintf("rule %q has the priority of rule %q: in one security group and direction each priority is used once", rule.Name,
							other.rule.Name)))
				}
			}
			groups[key] = append(groups[key], placed{rule, here})
		}
	})
	return errs
}

func checkSecurityRule(path *field.Path, rule infrav1.SecurityRule) field.ErrorList {
	var errs field.ErrorList
	require := func(name string, missing bool) {
		if missing {
			errs = append(errs, field.Required(path.Child(name),
				fmt.Sprintf("rule %q must set it; use \"*\" for any", rule.Name)))
		}
	}
	require("source", (rule.Source == nil || *rule.Source == "") && len(rule.Sources) == 0)
	require("sourcePorts", rule.SourcePorts == nil || *rule.SourcePorts == "")
	require("destination", rule.Destination == nil || *rule.Destination == "")
	require("destinationPorts", rule.DestinationPorts == nil || *rule.DestinationPorts == "")
	return errs
}
