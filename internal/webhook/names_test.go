package webhook

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/defaults"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan"
	"sigs.k8s.io/cluster-api-provider-azure/internal/plan/specfield"
)

// otherNames are the ends of fields with names that are no names of network resources, and why.
var otherNames = map[string]string{
	"addonProfiles[].name":                           "an add-on of AKS",
	"cloudProviderConfigOverrides.rateLimits[].name": "a rate limit of cloud-provider-azure",
	"computeGallery.name":                            "an image of a gallery",
	"dnsName":                                        "a name of DNS, which the plan checks",
	"extendedLocation.name":                          "an edge zone of Azure",
	"extensions[].name":                              "an extension of AKS",
	"fleetsMember.managerName":                       "a fleet",
	"fleetsMember.name":                              "a member of a fleet",
	"identityRef.name":                               "an AzureClusterIdentity",
	"nodeResourceGroupName":                          "has the rule of resource groups",
	"plan.name":                                      "a plan of the Marketplace",
	"privateDNSZoneName":                             "the schema has the rule of DNS names",
	"privateLinkServiceConnections[].name":           "no source has Azure's rule",
	"resourceGroupName":                              "has the rule of resource groups",
	"roleAssignmentName":                             "a UUID",
	"sharedGallery.name":                             "an image of a gallery",
	"spec.name":                                      "an agent pool",
	"subnetName":                                     "has to be a subnet of the cluster",
	"systemAssignedIdentityRole.name":                "a UUID",
	"vmExtensions[].name":                            "an extension of a VM",
}

// TestEveryNameHasARule checks a wrong value in each field with a name, of all kinds.
func TestEveryNameHasARule(t *testing.T) {
	used := map[string]bool{}
	for _, k := range servedKinds(nil, plan.Features{}, false) {
		if k.name() == identities.name() {
			continue // It has names of Kubernetes only.
		}
		schema := objectSchema(t, k.name()).Properties["spec"]
		visitNames(schema, "spec", func(path string) {
			checked := len(specfield.DecodeSpec(nest(path, "-wrong-")).CheckNames()) > 0
			excepted := false
			for other := range otherNames {
				if path == other || strings.HasSuffix(path, "."+other) {
					excepted, used[other] = true, true
				}
			}
			if checked == excepted {
				t.Errorf("%s: %s has to have a rule of specfield.CheckNames, or a reason in otherNames", k.name(), path)
			}
		})
	}
	for _, other := range slices.Sorted(maps.Keys(otherNames)) {
		if !used[other] {
			t.Errorf("no kind has a field %s", other)
		}
	}
}

// visitNames calls visit for each field of a schema that has a name.
func visitNames(schema apiextensionsv1.JSONSchemaProps, path string, visit func(path string)) {
	if items := schema.Items; items != nil && items.Schema != nil {
		visitNames(*items.Schema, path+"[]", visit)
	}
	for name, property := range schema.Properties {
		if property.Type == "string" && (name == "name" || strings.HasSuffix(name, "Name")) {
			visit(path + "." + name)
		}
		visitNames(property, path+"."+name, visit)
	}
}

// nest returns an object with a value at a path.
func nest(path string, value any) any {
	steps := strings.Split(path, ".")
	for _, step := range slices.Backward(steps) {
		name, isList := strings.CutSuffix(step, "[]")
		if isList {
			value = []any{value}
		}
		value = map[string]any{name: value}
	}
	return value
}

// TestNamesThatAzureRefuses checks names on objects of the kinds that have them, and their updates.
func TestNamesThatAzureRefuses(t *testing.T) {
	rules := infrav1.SecurityRules{{Name: "allow ssh", Source: new("*")}}
	const rule = ".securityGroup.securityRules[0].name: FieldValueInvalid"
	kind := azureClusterKind(plan.Features{})
	c := newDefaulted(func(c *infrav1.AzureCluster) {
		c.Spec.NetworkSpec.Subnets = newSubnets("10.1.0.0/16")
		c.Spec.NetworkSpec.Subnets[0].SecurityGroup.SecurityRules = rules
		c.Spec.NetworkSpec.AdditionalAPIServerLBPorts = []infrav1.LoadBalancerPort{{Name: "p-", Port: 1}}
		c.Spec.NetworkSpec.APIServerLB = &infrav1.LoadBalancerSpec{Name: strings.Repeat("n", 72)}
	})
	_, err := kind.ValidateCreate(t.Context(), c)
	want := []string{
		"spec.networkSpec.additionalAPIServerLBPorts[0].name: FieldValueInvalid",
		"spec.networkSpec.apiServerLB.backendPool.name: FieldValueInvalid",
		"spec.networkSpec.apiServerLB.frontendIPs[0].name: FieldValueInvalid",
		"spec.networkSpec.subnets[0]" + rule,
	}
	if diff := cmp.Diff(want, errorPaths(listRefusals(t, err))); diff != "" {
		t.Errorf("a new AzureCluster cannot have names that Azure refuses, also if defaults made them: -want +got\n%s", diff)
	}

	changed := c.DeepCopy()
	changed.Spec.AdditionalTags = infrav1.Tags{"a": "b"}
	if errs := validateUpdate(t, kind, c, changed); len(errs) > 0 {
		t.Errorf("a stored object keeps the names that it has: %v", errs)
	}
	changed.Spec.NetworkSpec.Subnets[0].SecurityGroup.SecurityRules = append(rules, infrav1.SecurityRule{Name: "_", Source: new("*")})
	want = []string{"spec.networkSpec.subnets[0].securityGroup.securityRules[1].name: FieldValueInvalid"}
	if diff := cmp.Diff(want, errorPaths(validateUpdate(t, kind, c, changed))); diff != "" {
		t.Errorf("a new name has to be valid: -want +got\n%s", diff)
	}

	template := &infrav1.AzureClusterTemplate{}
	template.Spec.Template.Spec.NetworkSpec.Subnets = infrav1.SubnetTemplatesSpec{{SubnetClassSpec: infrav1.SubnetClassSpec{Name: "s", Role: infrav1.SubnetNode},
		SecurityGroup: infrav1.SecurityGroupClass{SecurityRules: rules}}}
	defaults.FillAzureClusterTemplate(template)
	_, err = clusterTemplates(plan.Features{}).ValidateCreate(t.Context(), template)
	if diff := cmp.Diff([]string{"spec.template.spec.networkSpec.subnets[0]" + rule}, errorPaths(listRefusals(t, err))); diff != "" {
		t.Errorf("an AzureClusterTemplate has the same rules: -want +got\n%s", diff)
	}

	controlPlane := defaultedControlPlane(func(c *infrav1.AzureManagedControlPlane) {
		c.Labels, c.Spec.VirtualNetwork.Name = nil, "v"
	})
	_, err = controlPlanes(managedLookup{}, random{}).ValidateCreate(t.Context(), controlPlane)
	if diff := cmp.Diff([]string{"spec.virtualNetwork.name: FieldValueInvalid"}, errorPaths(listRefusals(t, err))); diff != "" {
		t.Errorf("networks of AKS clusters have the same rules: -want +got\n%s", diff)
	}
}
