package maxima

import "regexp"

// quantityFields are the names of the fields that are quantities in any kind.
const quantityFields = "maxPrice|spotMaxPrice|cloudProviderRateLimitQPS|cloudProviderRateLimitQPSWrite|cloudProviderBackoffExponent|cloudProviderBackoffJitter"

var (
	quantityPattern = regexp.MustCompile(`"(` + quantityFields + `)"\s*:\s*"((?:[^"\\]|\\.)*)"`)
	// reasonableQuantity is a quantity whose exponent has two digits at most, which is more than any use of it has.
	reasonableQuantity = regexp.MustCompile(`^[-+]?[0-9.]{1,32}([KMGTPE]i|[numkMGTPE]|[eE][-+]?[0-9]{1,2})?$`)
)

// FindHugeQuantity names a field of an object in JSON whose quantity is too large to be read, "" when there is none. Kubernetes' own
// parser writes the zeros of an exponent out: a text of twenty characters takes gigabytes and hours, when it is read, compared
// or written. So this is for those who have not read the object yet, as webhooks, which the API server asks before it holds an
// object against its schema. Texts that are no quantities at all are for the schema to refuse, and named here, too.
func FindHugeQuantity(object []byte) (name string) {
	for _, found := range quantityPattern.FindAllSubmatch(object, -1) {
		if !reasonableQuantity.Match(found[2]) {
			return string(found[1])
		}
	}
	return ""
}
