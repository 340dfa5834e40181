package specfield

import (
	"fmt"
	"regexp"
	"unicode/utf8"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/jsonpath"
)

// nameRule is the part of Azure's rule for a name that the schema of the field does not have. max is 0 if the schema has the length.
type nameRule struct {
	min, max int
	form     *regexp.Regexp
	remedy   string
}

const (
	endsRemedy = "begin it with a letter or digit, and end it with a letter, digit or '_'"
	fullRemedy = "use letters, digits, '_', '.' and '-' only, " + endsRemedy
)

// Azure's rules for names of Microsoft.Network. They hold for parts of resources as well: for frontends (kubernetes/kubernetes#95663) and
// rules (hashicorp/terraform#9468) of load balancers, and for backend pools (Azure/application-gateway-kubernetes-ingress#128).
// https://learn.microsoft.com/en-us/azure/azure-resource-manager/management/resource-name-rules#microsoftnetwork
var (
	fullForm = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$`)
	// endsForm is for names whose characters the schema checks.
	endsForm = regexp.MustCompile(`(?s)^[^_.-](.*[^.-])?$`)

	fullRule    = nameRule{1, 80, fullForm, fullRemedy}
	networkRule = nameRule{2, 64, fullForm, fullRemedy}
	formRule    = nameRule{1, 0, fullForm, fullRemedy}
	lengthRule  = nameRule{1, 80, endsForm, endsRemedy}
	endsRule    = nameRule{1, 0, endsForm, endsRemedy}
)

// namedObjects are the fields with objects, or lists of them, whose field name is a name of Microsoft.Network.
var namedObjects = map[string]nameRule{
	"additionalAPIServerLBPorts": fullRule,
	"apiServerLB":                endsRule,
	"azureBastion":               fullRule,
	"backendPool":                fullRule,
	"controlPlaneOutboundLB":     endsRule,
	"frontendIPs":                fullRule,
	"ip":                         fullRule,
	"natGateway":                 formRule,
	"nodeOutboundLB":             endsRule,
	"privateEndpoints":           lengthRule,
	"publicIP":                   fullRule,
	"routeTable":                 formRule,
	"securityGroup":              formRule,
	"securityRules":              fullRule,
	"subnet":                     fullRule,
	"subnets":                    endsRule,
	"virtualNetwork":             networkRule,
	"vnet":                       networkRule,
}

// nameFields are the other fields with a name of Microsoft.Network.
var nameFields = map[string]nameRule{
	"customNetworkInterfaceName": fullRule,
	"remoteVnetName":             networkRule,
}

// CheckNames returns an error for each name of a network resource, or of a part of one, that Azure refuses. Webhooks check every kind. Empty
// names are not checked: they have a default, or the schema requires them. Neither are names in resource manifests.
func (s Spec) CheckNames() (errs field.ErrorList) {
	jsonpath.Walk(s.decoded, func(path jsonpath.Path, value any) bool {
		if isFreeText(path, value) {
			return false
		}
		if name, ok := value.(string); ok && name != "" {
			if rule, known := findNameRule(path); known {
				if wrong := rule.wrong(name); wrong != "" {
					errs = append(errs, field.Invalid(ToFieldPath(path), name, wrong))
				}
			}
		}
		return true
	})
	return errs
}

// findNameRule returns the rule of the name at a path; known is false for another value.
func findNameRule(path jsonpath.Path) (rule nameRule, known bool) {
	last := len(path) - 1
	if last < 0 || path[last].Element {
		return nameRule{}, false
	}
	if path[last].Name == "name" {
		rule, known = namedObjects[nearestField(path[:last])]
		return rule, known
	}
	rule, known = nameFields[path[last].Name]
	return rule, known
}

// wrong returns the reason why Azure refuses a name, or "".
func (r nameRule) wrong(name string) string {
	switch characters := utf8.RuneCountInString(name); {
	case r.max > 0 && characters > r.max:
		return fmt.Sprintf("has %d characters, and Azure accepts at most %d here: set the field to a shorter name, also if you left it out, because its "+
			"default contains other names", characters, r.max)
	case characters < r.min:
		return fmt.Sprintf("is too short for Azure: use at least %d characters", r.min)
	case !r.form.MatchString(name):
		return "is not a name that Azure accepts here: " + r.remedy
	}
	return ""
}
