package provider

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
)

// Limits of tags: https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources#limitations
const (
	maxTags      = 50
	maxTagName   = 512
	maxTagValue  = 256
	reservedTags = `<>%&\?/`
)

// maxZoneTags is the limit of the resources of DNS: Azure/azure-rest-api-specs#13600, hashicorp/terraform-provider-azurerm#21749.
const maxZoneTags = 15

// checkTags checks the tags of a resource of a type or of a resource group.
func checkTags(t *Type, b body.Object) error {
	if b["tags"] == nil {
		delete(b, "tags")
		return nil
	}
	return CheckTags(t, b["tags"])
}

// CheckTags applies Azure's limits to the tags of a request or, after a merge, of a resource. A tag without a value gets an empty one. t is
// nil for a subscription.
func CheckTags(t *Type, value any) error {
	tags, ok := value.(body.Object)
	if !ok {
		return gatewayError(Errorf(400, "InvalidRequestContent",
			"The request content was invalid and could not be deserialized: 'tags must be a JSON object'."))
	}
	if len(tags) > maxTags {
		return gatewayError(Errorf(400, "InvalidTags", "The number of tags is %d, the maximum is %d.", len(tags), maxTags))
	}
	seen := map[string]bool{}
	for name, value := range body.Sorted(tags) {
		if value == nil {
			value = ""
			tags[name] = value
		}
		text, isString := value.(string)
		if !isString {
			return gatewayError(Errorf(400, "InvalidRequestContent",
				"The request content was invalid and could not be deserialized: 'the value of tag %s must be a string'.", name))
		}
		if err := checkTag(name, text); err != nil {
			return err
		}
		low := strings.ToLower(name)
		if seen[low] {
			return gatewayError(Errorf(400, "DuplicateTagName", "The tag name '%s' is used more than once; tag names are case-insensitive.", name))
		}
		seen[low] = true
	}
	if t != nil && t.Style == PrivateDNS {
		return checkZoneTags(tags)
	}
	return nil
}

// checkZoneTags applies the limits of DNS. Source of the answer: Azure/bicep-registry-modules#1541. Names must not begin with a digit or
// contain spaces, parentheses and other special characters: https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources#limitations,
// MicrosoftDocs/azure-docs#124115. That the answer is the same, and which characters are special, is assumed.
func checkZoneTags(tags body.Object) error {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r))
	}
	bad := len(tags) > maxZoneTags
	for name := range tags {
		bad = bad || name[0] >= '0' && name[0] <= '9' || strings.ContainsFunc(name, special)
	}
	if bad {
		return Errorf(400, "BadRequest",
			"The resource tags are invalid. A maximum of %d tags are allowed with keys no longer than %d and values no longer than %d characters.",
			maxZoneTags, maxTagName, maxTagValue)
	}
	return nil
}

// checkTag checks one tag. The codes and texts are those that public scripts and issues quote.
func checkTag(name, value string) error {
	switch {
	case name == "":
		return gatewayError(Errorf(400, "InvalidTagName", "The tag name must be between 1 and %d characters long.", maxTagName))
	case utf8.RuneCountInString(name) > maxTagName:
		return gatewayError(Errorf(400, "InvalidTagName",
			"Tag key too large.  Following tag key '%s' exceeded the maximum length. Maximum allowed length for tag key - '%d' characters.", name,
			maxTagName))
	case utf8.RuneCountInString(value) > maxTagValue:
		return gatewayError(Errorf(400, "InvalidTagValueLength",
			"Tag value too large.  Following tag value '%s' exceeded the maximum length. Maximum allowed length for tag value - '%d' characters.",
			value, maxTagValue))
	case hasReserved(name):
		return gatewayError(Errorf(400, "InvalidTagNameCharacters",
			`The tag names '%s' have reserved characters '<,>,%%,&,\,?,/' or control characters. These characters are only allowed for tags that start with the prefix 'hidden, link'.`,
			name))
	}
	return nil
}

// hasReserved reports whether a tag's name has a character that Azure reserves. Names such as hidden-link:/subscriptions/... may have them:
// recordings of the Azure Service Operator v2.18.0 have one, and Azure's message names the prefixes.
func hasReserved(name string) bool {
	low := strings.ToLower(name)
	if strings.HasPrefix(low, "hidden") || strings.HasPrefix(low, "link") {
		return false
	}
	return strings.ContainsAny(name, reservedTags) || strings.ContainsFunc(name, unicode.IsControl)
}
