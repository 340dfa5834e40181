package importing

import (
	"fmt"
	"regexp"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

var notInName = regexp.MustCompile(`[^a-z0-9.-]+`)

// objectName returns the name of an object for a resource: Kubernetes allows only some characters of Azure's names. taken has the names
// of other objects of the kind, and gets the name.
func objectName(resource string, taken map[string]bool) (string, error) {
	name := strings.Trim(notInName.ReplaceAllString(strings.ToLower(resource), "-"), "-.")
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return "", fmt.Errorf("its name %q cannot become the name of an object: %s", resource, strings.Join(problems, "; "))
	}
	if taken[name] {
		return "", fmt.Errorf("another resource already has the object name %s", name)
	}
	taken[name] = true
	return name, nil
}
