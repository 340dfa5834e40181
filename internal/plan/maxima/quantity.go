package maxima

import "regexp"

// quantityFields are the names of the fields that are quantities in any kind.
const quantityFields = "maxPrice|spotMaxPrice|cloudProviderRateLimitQPS|cloudProviderRateLimitQPSWrite|cloudProviderBackoffExponent|cloudProviderBackoffJitter"

var (
	quantityPattern = regexp.MustCompile(`"(` + quantityFields + `)"\s*:\s*"((?:[^"\\]|\\.)*)"`)
	// reasonableQuantity matches quantities with an exponent of at most two digits. No field needs more.
	reasonableQuantity = regexp.MustCompile(`^[-+]?[0-9.]{1,32}([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]{1,2})?$`)
)

// FindHugeQuantity returns the name of a field in a JSON object whose quantity is too large to parse; "" if there is none.
// Kubernetes' parser writes out the zeros of an exponent, so that a text of twenty characters takes gigabytes and hours to
// parse, compare or write. Webhooks call it before they decode an object, because the API server asks them before it
// validates the schema. It also returns fields whose text is no quantity at all, which the schema refuses anyway.
func FindHugeQuantity(object []byte) (name string) {
	for _, found := range quantityPattern.FindAllSubmatch(object, -1) {
		if !reasonableQuantity.Match(found[2]) {
			return string(found[1])
		}
	}
	return ""
}
