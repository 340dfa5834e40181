package provider

import (
	"regexp"
	"strings"
)

// naming is a rule of names that types share.
type naming struct {
	form   *regexp.Regexp
	code   string
	words  string // after the name
	target string
}

// Azure's rules of names.
// Source: https://learn.microsoft.com/azure/azure-resource-manager/management/resource-name-rules
var (
	// common is the rule of most resources: letters, digits, underscores, periods and hyphens; a letter or digit
	// first; a letter, digit or underscore last. NAT gateways, private endpoints and their children are not on the
	// page; their definitions have the same rule.
	common = naming{
		form: regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,78}[A-Za-z0-9_])?$`), code: "InvalidResourceName",
		words: "The name can be up to 80 characters long. It must begin with a word character, and it must end with a word character or with '_'. The name may contain word characters or '.', '-', '_'.",
	}
	network64 = naming{
		form: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,62}[A-Za-z0-9_]$`), code: "InvalidResourceName",
		words: "The name must be 2 to 64 characters long. It must begin with a word character, and it must end with a word character or with '_'. The name may contain word characters or '.', '-', '_'.",
	}
	// machinery is common with the code of Compute. The page allows disks no hyphens and periods, which the names that Azure itself
	// makes for them have.
	machinery = naming{
		form: common.form, code: "InvalidParameter",
		words:  `The name has 1 to 80 letters, digits, '.', '-' and '_', begins with a letter or digit, and ends with one of them or '_'.`,
		target: "name",
	}
	gallery = naming{
		form: regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.]{0,78}[A-Za-z0-9])?$`), code: "InvalidParameter",
		words: "The name has 1 to 80 letters, digits, '.' and '_', and begins and ends with a letter or digit.", target: "galleryName",
	}
	galleryImage = naming{
		form: regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_.-]{0,78}[A-Za-z0-9])?$`), code: "InvalidParameter",
		words: "The name has 1 to 80 letters, digits, '.', '-' and '_', and begins and ends with a letter or digit.", target: "galleryImageName",
	}
	identity = naming{
		form: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{2,127}$`), code: "InvalidResourceName",
		words: "The name has 3 to 128 letters, digits, '-' and '_', and begins with a letter or digit.",
	}
	federated = naming{
		form: regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{2,119}$`), code: "InvalidResourceName",
		words: "The name has 3 to 120 letters, digits, '-' and '_', and begins with a letter or digit.",
	}
)

// namings are the rules by type in lower case, beside those of types whose NameRule has words of its own.
var namings = map[string]naming{
	"microsoft.network/virtualnetworks":                                             network64,
	"microsoft.network/virtualnetworks/subnets":                                     common,
	"microsoft.network/virtualnetworks/virtualnetworkpeerings":                      common,
	"microsoft.network/networksecuritygroups":                                       common,
	"microsoft.network/networksecuritygroups/securityrules":                         common,
	"microsoft.network/routetables":                                                 common,
	"microsoft.network/routetables/routes":                                          common,
	"microsoft.network/publicipaddresses":                                           common,
	"microsoft.network/publicipprefixes":                                            common,
	"microsoft.network/networkinterfaces":                                           common,
	"microsoft.network/loadbalancers":                                               common,
	"microsoft.network/loadbalancers/inboundnatrules":                               common,
	"microsoft.network/bastionhosts":                                                common,
	"microsoft.network/applicationsecuritygroups":                                   common,
	"microsoft.network/natgateways":                                                 common,
	"microsoft.network/privateendpoints":                                            common,
	"microsoft.network/privateendpoints/privatednszonegroups":                       common,
	"microsoft.network/privatelinkservices":                                         common,
	"microsoft.network/privatednszones/virtualnetworklinks":                         common,
	"microsoft.compute/availabilitysets":                                            machinery,
	"microsoft.compute/images":                                                      machinery,
	"microsoft.compute/snapshots":                                                   machinery,
	"microsoft.compute/disks":                                                       machinery,
	"microsoft.compute/diskencryptionsets":                                          machinery,
	"microsoft.compute/galleries":                                                   gallery,
	"microsoft.compute/galleries/images":                                            galleryImage,
	"microsoft.managedidentity/userassignedidentities":                              identity,
	"microsoft.managedidentity/userassignedidentities/federatedidentitycredentials": federated,
}

// checkName refuses a name that a new resource of the type cannot have.
func (t *Type) checkName(name string) error {
	if t.NameRule != nil {
		if err := t.NameRule(name); err != nil {
			return err
		}
		return nil
	}
	rule, any := namings[strings.ToLower(t.Name)]
	if !any || rule.form.MatchString(name) {
		return nil
	}
	e := Errorf(400, rule.code, "Resource name %s is invalid. %s", name, rule.words).WithTarget(rule.target)
	if t.Style == Network {
		return networkError(e)
	}
	return e
}
