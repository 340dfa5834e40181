package status

import (
	"regexp"
	"slices"
)

// request matches a request as the errors of Azure name it, for example "GET virtualMachines/m: ".
var request = regexp.MustCompile(`\b(?:GET|PUT|PATCH|POST|DELETE) [\w.-]+/[^\s:;,]+: `)

// namesRequest reports whether a message names a request that failed.
func namesRequest(message string) bool { return request.MatchString(message) }

// shareRequest reports whether two messages name the same failed request.
func shareRequest(a, b string) bool {
	named := request.FindAllString(a, -1)
	return slices.ContainsFunc(request.FindAllString(b, -1), func(each string) bool { return slices.Contains(named, each) })
}
